import { assert } from "../../../base/errors.ts"
import type { DnsQuestion } from "../dns-types.ts"
import { DOMAIN_NAME_CHARS_MAX } from "../domain-name.ts"
import { CLASS_IN, MalformedPacket, PacketReader, TYPE_NUMBERS } from "./packet-reader.ts"
import { type DnsReadResult, readRecords } from "./records.ts"

/** A packet, read as the reply to one query. */
export type ParsedPacket =
  /** It is no reply to the query; the reply may still come. */
  | { readonly kind: "foreign" }
  /** The reply did not fit into the packet. The query has to be repeated over TCP. */
  | { readonly kind: "truncated" }
  /** The server replied with an error, or its reply is malformed, or a defect of ours ended the reading. */
  | { readonly kind: "failed"; readonly why?: string; readonly defect?: unknown }
  | DnsReadResult

/** The longest reply that we accept over UDP. It passes every network without fragmentation (DNS flag day 2020). */
export const UDP_PAYLOAD_BYTES_MAX = 1232

const HEADER_BYTES = 12
const NOERROR = 0
const NXDOMAIN = 3
const DOT = 0x2e
const ENCODABLE_NAME = /^(?:[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*)?$/
const FOREIGN: ParsedPacket = { kind: "foreign" }
const TRUNCATED: ParsedPacket = { kind: "truncated" }
const FAILED: ParsedPacket = { kind: "failed" }

/** Whether a packet can hold the name: labels of 1 to 63 bytes of printable ASCII, 253 in all, or the root. */
export function isEncodableName(name: string): boolean {
  return name.length <= DOMAIN_NAME_CHARS_MAX && ENCODABLE_NAME.test(name)
}

/** The reply for a name that no packet can hold, without a query: the name does not exist. */
export const UNENCODABLE_NAME_REPLY = {
  kind: "answered",
  answer: { outcome: "no_name", records: [], ttlS: 0 },
  pendingCname: null,
} as const satisfies ParsedPacket

/** How many queries are encoded at once, to be sent together. */
export const ENCODED_MAX = 4

/**
 * A query with recursion desired and EDNS (RFC 6891). The name must be encodable. The bytes are valid until the next call with the same
 * place, from 0 to `ENCODED_MAX` less one, so the caller sends or copies them at once.
 */
export function encodeQuery(id: number, { name, type }: DnsQuestion, place = 0): Uint8Array {
  const buffer = BUFFERS[place]
  assert(buffer !== undefined && name.length <= DOMAIN_NAME_CHARS_MAX, ENCODABLE)
  const { bytes, views } = buffer
  bytes[0] = id >> 8
  bytes[1] = id & 0xff
  const offset = writeName(bytes, name)
  for (let index = 0; index < QUERY_END.length; index++) bytes[offset + index] = QUERY_END[index] ?? 0
  bytes[offset + 1] = TYPE_NUMBERS[type]
  // To make a view takes longer than to write the query.
  views[offset] ??= bytes.subarray(0, offset + QUERY_END.length)
  return views[offset]
}

const ENCODABLE = "the name of a query fits into a packet"

/** What follows the name: type and class, and an OPT record: the root, OPT, the length of replies, no flags, and no options. */
const QUERY_END = Uint8Array.of(
  ...[0, 0, 0, CLASS_IN],
  ...[0, 0, TYPE_NUMBERS.OPT, UDP_PAYLOAD_BYTES_MAX >> 8, UDP_PAYLOAD_BYTES_MAX & 0xff, 0, 0, 0, 0, 0, 0],
)

/** A header with recursion desired, one question and one additional record, and room for the rest; and views of it by where the name ends. */
const BUFFERS = Array.from({ length: ENCODED_MAX }, () => {
  const bytes = new Uint8Array(HEADER_BYTES + DOMAIN_NAME_CHARS_MAX + 2 + QUERY_END.length)
  bytes.set([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1])
  const views: Uint8Array[] = []
  return { bytes, views }
})

/** Writes the name after the header, and returns the offset after it. */
function writeName(bytes: Uint8Array, name: string): number {
  let lengthOffset = HEADER_BYTES
  const end = name === "" ? HEADER_BYTES : HEADER_BYTES + 1 + name.length
  for (let offset = HEADER_BYTES + 1; offset <= end; offset++) {
    const byte = offset === end ? DOT : name.charCodeAt(offset - HEADER_BYTES - 1)
    assert(byte > 0x20 && byte < 0x7f, ENCODABLE)
    bytes[offset] = byte
    if (byte !== DOT) continue
    // The length of a label stands before it, where the dot before it was written.
    const length = offset - lengthOffset - 1
    assert(length > 0 && length < 64, ENCODABLE)
    bytes[lengthOffset] = length
    lengthOffset = offset
  }
  bytes[lengthOffset] = 0
  return lengthOffset + 1
}

/** Parses a packet as the reply to the question that was sent with the id. It never throws, and its work is bounded. */
export function parseReply(bytes: Uint8Array, id: number, question: DnsQuestion): ParsedPacket {
  try {
    const packet = new PacketReader(bytes)
    if (isBareRefusal(packet, bytes.length, id)) return failureOf(packet.byte(3) & 0x0f)
    const recordsOffset = questionEndOffset(packet, bytes.length, id, question)
    if (recordsOffset === null) return FOREIGN
    const rcode = packet.byte(3) & 0x0f
    if (rcode !== NOERROR && rcode !== NXDOMAIN) return failureOf(rcode)
    if ((packet.byte(2) & 0x02) !== 0) return TRUNCATED
    return readRecords(packet, recordsOffset, rcode === NXDOMAIN, question) ?? FAILED
  } catch (error) {
    return error instanceof MalformedPacket ? FAILED : { kind: "failed", defect: error }
  }
}

/** The names of the response codes by which a server fails (RFC 1035 §4.1.1). */
const RCODE_NAMES: Readonly<Record<number, string>> = { 1: "FORMERR", 2: "SERVFAIL", 4: "NOTIMP", 5: "REFUSED" }

const failureOf = (rcode: number): ParsedPacket => ({ kind: "failed", why: RCODE_NAMES[rcode] ?? `RCODE ${rcode}` })

/** Whether it is an error reply of a header alone, as some servers send: without the question, but with the id of the query. */
function isBareRefusal(packet: PacketReader, length: number, id: number): boolean {
  if (length !== HEADER_BYTES || packet.uint16(0) !== id || packet.uint16(4) !== 0) return false
  const rcode = packet.byte(3) & 0x0f
  return (packet.byte(2) & 0xf8) === 0x80 && rcode !== NOERROR && rcode !== NXDOMAIN
}

/** The offset of the records; null: the packet is no reply to the question (RFC 5452 §9.1). */
function questionEndOffset(
  packet: PacketReader,
  length: number,
  id: number,
  { name, type }: DnsQuestion,
): number | null {
  // In the packet a length byte replaces each dot of the name; one more precedes the first label, and a zero ends the last.
  const typeOffset = HEADER_BYTES + (name === "" ? 1 : name.length + 2)
  if (length < typeOffset + 4 || packet.uint16(0) !== id) return null
  const isReply = (packet.byte(2) & 0x80) !== 0
  const opcode = packet.byte(2) & 0x78
  if (!isReply || opcode !== 0 || packet.uint16(4) !== 1) return null
  if (packet.uint16(typeOffset) !== TYPE_NUMBERS[type] || packet.uint16(typeOffset + 2) !== CLASS_IN) return null
  return isNameAt(packet, HEADER_BYTES, name) ? typeOffset + 4 : null
}

/** Whether the packet holds the name at `start` without pointers, in any case (RFC 4343). */
function isNameAt(packet: PacketReader, start: number, name: string): boolean {
  if (name === "") return packet.byte(start) === 0
  let labelOffset = start
  for (let index = 0; index <= name.length; index++) {
    const offset = start + 1 + index
    const isLabelEnd = index === name.length || name.charCodeAt(index) === DOT
    if (!isLabelEnd) {
      if (lowerCaseByte(packet.byte(offset)) !== lowerCaseByte(name.charCodeAt(index))) return false
    } else if (packet.byte(labelOffset) !== offset - labelOffset - 1) return false
    else labelOffset = offset
  }
  return packet.byte(labelOffset) === 0
}

const lowerCaseByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)
