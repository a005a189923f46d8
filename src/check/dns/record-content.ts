import { Garbled, type PacketReader, type RecordPlace } from "./packet-reader.ts"
import type { DnsRecord, RecordType } from "./question.ts"

/** The numbers of the record types that are asked for or read (IANA, "DNS Parameters"). */
export const TYPE_NUMBERS = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, OPT: 41 } as const

/** The class of the Internet. */
export const CLASS_IN = 1

/** A byte order mark is a character of the text, as any other. */
const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true })

const CONTENTS: { readonly [T in RecordType]: (packet: PacketReader, place: RecordPlace) => DnsRecord | null } = {
  A: (packet, place) => ({ type: "A", address: packet.octets(addressAt(place, 4), place.contentEnd).join(".") }),
  AAAA: (packet, place) => ({ type: "AAAA", address: ipv6Text(packet, addressAt(place, 16)) }),
  CNAME: (packet, place) => {
    const target = lastName(packet, place, 0)
    return target === null ? null : { type: "CNAME", target }
  },
  NS: (packet, place) => {
    const target = lastName(packet, place, 0)
    return target === null ? null : { type: "NS", target }
  },
  MX: (packet, place) => {
    const exchange = lastName(packet, place, 2)
    return exchange === null ? null : { type: "MX", preference: packet.short(place.contentAt), exchange }
  },
  SRV: (packet, place) => {
    const target = lastName(packet, place, 6)
    if (target === null) return null
    return { type: "SRV", priority: packet.short(place.contentAt), port: packet.short(place.contentAt + 4), target }
  },
  TXT: (packet, place) => ({ type: "TXT", text: joinedText(packet, place) }),
}

/**
 * What the record at `place`, which is of the type, says; null when it names something that text cannot hold. Throws
 * `Garbled` when its content does not fit its length.
 */
export function recordContent(packet: PacketReader, place: RecordPlace, type: RecordType): DnsRecord | null {
  return CONTENTS[type](packet, place)
}

/** The name that a CNAME record at `place` leads to; null when text cannot hold it. Throws `Garbled` as above. */
export function aliasTarget(packet: PacketReader, place: RecordPlace): string | null {
  return lastName(packet, place, 0)
}

/** The MINIMUM field of the SOA record at `place` (RFC 1035 §3.3.13). Throws `Garbled` as above. */
export function soaMinimum(packet: PacketReader, place: RecordPlace): number {
  const numbersAt = packet.nameEnd(packet.nameEnd(place.contentAt))
  if (numbersAt + 20 !== place.contentEnd) throw new Garbled("A SOA record has another length.")
  return packet.long(numbersAt + 16)
}

/** The name that stands after `skipped` octets and ends the record. */
function lastName(packet: PacketReader, place: RecordPlace, skipped: number): string | null {
  const at = place.contentAt + skipped
  if (packet.nameEnd(at) !== place.contentEnd) throw new Garbled("A name does not end with its record.")
  return packet.name(at)
}

function addressAt({ contentAt, contentEnd }: RecordPlace, octetCount: number): number {
  if (contentEnd - contentAt !== octetCount) throw new Garbled("An address has another length.")
  return contentAt
}

/** The address in its eight groups (RFC 4291 §2.2); RFC 5952's shortest form takes three times as long, and nobody sees it. */
function ipv6Text(packet: PacketReader, at: number): string {
  let text = packet.short(at).toString(16)
  for (let next = at + 2; next < at + 16; next += 2) text += `:${packet.short(next).toString(16)}`
  return text
}

/** The strings are joined before they are decoded: a character may be cut in two by them. */
function joinedText(packet: PacketReader, place: RecordPlace): string {
  const joined = new Uint8Array(place.contentEnd - place.contentAt)
  let length = 0
  for (let at = place.contentAt; at < place.contentEnd; ) {
    const end = at + 1 + packet.octet(at)
    if (end > place.contentEnd) throw new Garbled("A string is longer than its record.")
    joined.set(packet.octets(at + 1, end), length)
    length += end - at - 1
    at = end
  }
  return UTF_8.decode(joined.subarray(0, length))
}
