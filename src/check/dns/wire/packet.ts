import { encode, RECURSION_DESIRED } from "dns-packet"
import { assert } from "../../../base/errors.ts"
import type { DnsQuestion } from "../dns-types.ts"
import { MalformedPacket, PacketReader, WIRE_NAME_CHARS_MAX } from "./packet-reader.ts"
import { CLASS_IN, type DnsReadResult, readRecords, TYPE_NUMBERS } from "./records.ts"

/*
 * Questions are written by dns-packet, replies are read here. The library's reader (5.6.1) does not bound its work: a
 * string that runs past the packet makes its offset NaN, each record after it is read from octet 0 again, and 300 records
 * of one packet took 4.2 s of up to 196 605 that a packet can claim; 3 500 names on one chain of pointers took 0.2 s.
 */

/** What a packet is to the question that was sent with an id. */
export type ParsedPacket =
  /** Not a reply to it: something else may still come. */
  | { readonly kind: "foreign" }
  /** The reply did not fit: the question is to be asked again over TCP. */
  | { readonly kind: "truncated" }
  /** The server cannot or will not tell, or its reply cannot be read. */
  | { readonly kind: "failed" }
  | ({ readonly kind: "answered" } & DnsReadResult)

/** The longest reply that is asked for over UDP, in octets: it crosses every network in one piece (DNS flag day 2020). */
export const UDP_PAYLOAD_BYTES_MAX = 1232

const HEADER_BYTES = 12
const NOERROR = 0
const NXDOMAIN = 3
const ENCODABLE_NAME = /^(?:[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*)?$/
const FOREIGN: ParsedPacket = { kind: "foreign" }
const TRUNCATED: ParsedPacket = { kind: "truncated" }
const FAILED: ParsedPacket = { kind: "failed" }

/** Whether a packet can hold the name: labels of 1 to 63 octets of printable ASCII, 253 in all, or the root. */
export function isEncodableName(name: string): boolean {
  return name.length <= WIRE_NAME_CHARS_MAX && ENCODABLE_NAME.test(name)
}

/** What is known without asking of a name that no packet can hold: it does not exist. */
export const UNENCODABLE_NAME_REPLY = {
  kind: "answered",
  answer: { outcome: "no_name", records: [], ttlS: 0 },
  pendingCname: null,
} as const satisfies ParsedPacket

/** The packet that asks the question, whose name a packet can hold: recursion is desired, EDNS is spoken (RFC 6891). */
export function encodeQuery(id: number, { name, type }: DnsQuestion): Uint8Array {
  assert(isEncodableName(name), "A name that is asked for fits into a packet.")
  return encode({
    type: "query",
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type, class: "IN" }],
    additionals: [
      {
        name: ".",
        type: "OPT",
        udpPayloadSize: UDP_PAYLOAD_BYTES_MAX,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
}

/** Reads a packet as the reply to the question that was sent with the id. It never throws, and its work is bounded. */
export function parseReply(bytes: Uint8Array, id: number, question: DnsQuestion): ParsedPacket {
  try {
    const packet = new PacketReader(bytes)
    if (isBareRefusal(packet, bytes.length, id)) return FAILED
    const recordsAt = questionEndOffset(packet, bytes.length, id, question)
    if (recordsAt === null) return FOREIGN
    const rcode = packet.byte(3) & 0x0f
    if (rcode !== NOERROR && rcode !== NXDOMAIN) return FAILED
    if ((packet.byte(2) & 0x02) !== 0) return TRUNCATED
    const told = readRecords(packet, recordsAt, rcode === NXDOMAIN, question)
    return told === null ? FAILED : { kind: "answered", ...told }
  } catch (garbled) {
    if (!(garbled instanceof MalformedPacket)) throw garbled
    return FAILED
  }
}

/** A header alone that refuses, as some servers send it: it does not say which question, but its id and port do. */
function isBareRefusal(packet: PacketReader, length: number, id: number): boolean {
  if (length !== HEADER_BYTES || packet.uint16(0) !== id || packet.uint16(4) !== 0) return false
  const rcode = packet.byte(3) & 0x0f
  return (packet.byte(2) & 0xf8) === 0x80 && rcode !== NOERROR && rcode !== NXDOMAIN
}

/** Where the records begin in a reply to the question; null when it is none (RFC 5452 §9.1). */
function questionEndOffset(
  packet: PacketReader,
  length: number,
  id: number,
  { name, type }: DnsQuestion,
): number | null {
  // Every dot of the name is the length of a label in the packet; one more stands before it and one ends it.
  const typeAt = HEADER_BYTES + (name === "" ? 1 : name.length + 2)
  if (length < typeAt + 4 || packet.uint16(0) !== id) return null
  const isReply = (packet.byte(2) & 0x80) !== 0
  const opcode = packet.byte(2) & 0x78
  if (!isReply || opcode !== 0 || packet.uint16(4) !== 1) return null
  if (packet.uint16(typeAt) !== TYPE_NUMBERS[type] || packet.uint16(typeAt + 2) !== CLASS_IN) return null
  return isNameAt(packet, HEADER_BYTES, name) ? typeAt + 4 : null
}

/** Whether the name stands at `start` in plain labels, whatever its case. */
function isNameAt(packet: PacketReader, start: number, name: string): boolean {
  if (name === "") return packet.byte(start) === 0
  let labelAt = start
  for (let index = 0; index <= name.length; index++) {
    const at = start + 1 + index
    const isLabelEnd = index === name.length || name.charCodeAt(index) === DOT
    if (!isLabelEnd) {
      if (lowerCaseByte(packet.byte(at)) !== lowerCaseByte(name.charCodeAt(index))) return false
    } else if (packet.byte(labelAt) !== at - labelAt - 1) return false
    else labelAt = at
  }
  return packet.byte(labelAt) === 0
}

const DOT = 0x2e

const lowerCaseByte = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet)
