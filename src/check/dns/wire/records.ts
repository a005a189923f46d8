import type { DnsAnswer, DnsQuestion, DnsRecord, DnsRecordType } from "../dns-types.ts"
import { MalformedPacket, type PacketReader, type RecordPosition } from "./packet-reader.ts"

/** How many CNAMEs of one reply are followed. */
export const CNAME_LINKS_MAX = 8

/** How many records of one reply are kept; those behind them are dropped. */
export const RECORDS_MAX = 100

/** What the records of a reply tell. */
export type DnsReadResult = {
  readonly answer: DnsAnswer
  /** The name that CNAMEs lead to where the server left off; null: the answer is whole. */
  readonly pendingCname: string | null
}

/**
 * Reads the records of a reply to the question, which begin at `at`; `isNameError` is whether its code is NXDOMAIN. Null
 * when they tell nothing: CNAMEs in a circle, a referral, a contradiction, another error. Throws `Garbled`.
 */
export function readRecords(
  packet: PacketReader,
  at: number,
  isNameError: boolean,
  question: DnsQuestion,
): DnsReadResult | null {
  const answers = packet.records(at, packet.uint16(6))
  const authorities = packet.records(answers.end, packet.uint16(8))
  const additionals = packet.records(authorities.end, packet.uint16(10))
  if (additionals.places.some(hasExtendedRcode)) return null
  const chain = followCnames(packet, answers.places, question)
  if (chain === null) return null
  const found = matchingRecords(packet, answers.places, chain.end, question)
  if (found === null) return negativeResult(packet, authorities.places, isNameError, chain)
  // A name that does not exist has no records: such a reply contradicts itself.
  if (isNameError) return null
  const outcome = found.records.length > 0 ? "records" : "no_data"
  return completeResult({ outcome, records: found.records, ttlS: Math.min(chain.ttlS, found.ttlS) })
}

/** What a reply tells that has no records of the type at the end of the chain. */
function negativeResult(
  packet: PacketReader,
  authorities: readonly RecordPosition[],
  isNameError: boolean,
  chain: CnameChain,
): DnsReadResult | null {
  // A chain into a name that cannot be is a fault of whoever wrote it, not a word about the name that was asked for.
  if (chain.end === null) return null
  const ttlS = negativeTtl(packet, authorities, chain.end)
  if (ttlS === null && !isNameError) {
    if (chain.linkCount > 0) {
      return { answer: { outcome: "no_data", records: [], ttlS: chain.ttlS }, pendingCname: chain.end }
    }
    // A referral (RFC 2308 §2.2): the server did not ask further, and cannot tell.
    if (authorities.some(place => isOfType(place, TYPE_NUMBERS.NS))) return null
  }
  // RFC 6604 §3: the code concerns the last name of the chain. A name that leads on exists.
  const outcome = isNameError && chain.linkCount === 0 ? "no_name" : "no_data"
  return completeResult({ outcome, records: [], ttlS: Math.min(chain.ttlS, ttlS ?? 0) })
}

function completeResult(answer: DnsAnswer): DnsReadResult {
  return { answer, pendingCname: null }
}

type CnameChain = {
  /** The last name; null when text cannot hold it. */
  readonly end: string | null
  readonly linkCount: number
  /** The least of its TTLs; infinite without any link. */
  readonly ttlS: number
}

/** Follows CNAMEs from the name that was asked for; null when they go in a circle or on for too long. */
function followCnames(
  packet: PacketReader,
  answers: readonly RecordPosition[],
  question: DnsQuestion,
): CnameChain | null {
  const start: CnameChain = { end: question.name.toLowerCase(), linkCount: 0, ttlS: Number.POSITIVE_INFINITY }
  if (question.type === "CNAME") return start
  const aliases = answers.filter(place => isOfType(place, TYPE_NUMBERS.CNAME))
  const owners = aliases.map(place => packet.name(place.nameOffset))
  let chain = start
  while (chain.end !== null) {
    const alias = aliases[owners.indexOf(chain.end)]
    if (alias === undefined) break
    if (chain.linkCount === CNAME_LINKS_MAX) return null
    const ttlS = Math.min(chain.ttlS, normalizeTtl(alias.ttl))
    chain = { end: parseCnameTarget(packet, alias), linkCount: chain.linkCount + 1, ttlS }
  }
  return chain
}

/** The records of the type at the name and the least of their TTLs; null when there are none. */
function matchingRecords(
  packet: PacketReader,
  answers: readonly RecordPosition[],
  name: string | null,
  { type }: DnsQuestion,
): { readonly records: readonly DnsRecord[]; readonly ttlS: number } | null {
  const records: DnsRecord[] = []
  let ttlS = Number.POSITIVE_INFINITY
  if (name === null) return null
  for (const place of answers) {
    if (records.length === RECORDS_MAX) break
    if (!isOfType(place, TYPE_NUMBERS[type]) || packet.name(place.nameOffset) !== name) continue
    const record = parseRecord(packet, place, type)
    if (record !== null) records.push(record)
    ttlS = Math.min(ttlS, normalizeTtl(place.ttl))
  }
  return ttlS === Number.POSITIVE_INFINITY ? null : { records, ttlS }
}

/** How long it holds that there is nothing at the name (RFC 2308 §5); null without the SOA of a zone that holds the name. */
function negativeTtl(packet: PacketReader, authorities: readonly RecordPosition[], name: string | null): number | null {
  const soa = authorities.find(place => isOfType(place, TYPE_NUMBERS.SOA))
  if (soa === undefined || name === null) return null
  const zone = packet.name(soa.nameOffset)
  if (zone === null || !(zone === "" || zone === name || name.endsWith(`.${zone}`))) return null
  return Math.min(normalizeTtl(soa.ttl), normalizeTtl(parseSoaMinimum(packet, soa)))
}

function isOfType(place: RecordPosition, type: number): boolean {
  return place.type === type && place.class === CLASS_IN
}

/** The upper eight bits of a response code stand in the OPT record (RFC 6891 §6.1.3): BADVERS and the like. */
function hasExtendedRcode(place: RecordPosition): boolean {
  return place.type === TYPE_NUMBERS.OPT && place.ttl >= 0x100_0000
}

/** A TTL whose top bit is set counts as zero (RFC 2181 §8). */
function normalizeTtl(seconds: number): number {
  return seconds > 0x7fff_ffff ? 0 : seconds
}

/** The numbers of the record types that are asked for or read (IANA, "DNS Parameters"). */
export const TYPE_NUMBERS = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, OPT: 41 } as const

/** The class of the Internet. */
export const CLASS_IN = 1

/** A byte order mark is a character of the text, as any other. */
const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true })

const RECORD_PARSERS: {
  readonly [T in DnsRecordType]: (packet: PacketReader, place: RecordPosition) => DnsRecord | null
} = {
  A: (packet, place) => ({
    type: "A",
    address: packet.slice(addressOffset(place, 4), place.contentEndOffset).join("."),
  }),
  AAAA: (packet, place) => ({ type: "AAAA", address: ipv6Text(packet, addressOffset(place, 16)) }),
  CNAME: (packet, place) => {
    const target = trailingName(packet, place, 0)
    return target === null ? null : { type: "CNAME", target }
  },
  NS: (packet, place) => {
    const target = trailingName(packet, place, 0)
    return target === null ? null : { type: "NS", target }
  },
  MX: (packet, place) => {
    const exchange = trailingName(packet, place, 2)
    return exchange === null ? null : { type: "MX", preference: packet.uint16(place.contentOffset), exchange }
  },
  SRV: (packet, place) => {
    const target = trailingName(packet, place, 6)
    if (target === null) return null
    return {
      type: "SRV",
      priority: packet.uint16(place.contentOffset),
      port: packet.uint16(place.contentOffset + 4),
      target,
    }
  },
  TXT: (packet, place) => ({ type: "TXT", text: parseTxt(packet, place) }),
}

/**
 * What the record at `place`, which is of the type, says; null when it names something that text cannot hold. Throws
 * `Garbled` when its content does not fit its length.
 */
function parseRecord(packet: PacketReader, place: RecordPosition, type: DnsRecordType): DnsRecord | null {
  return RECORD_PARSERS[type](packet, place)
}

/** The name that a CNAME record at `place` leads to; null when text cannot hold it. Throws `Garbled` as above. */
function parseCnameTarget(packet: PacketReader, place: RecordPosition): string | null {
  return trailingName(packet, place, 0)
}

/** The MINIMUM field of the SOA record at `place` (RFC 1035 §3.3.13). Throws `Garbled` as above. */
function parseSoaMinimum(packet: PacketReader, place: RecordPosition): number {
  const numbersAt = packet.nameEndOffset(packet.nameEndOffset(place.contentOffset))
  if (numbersAt + 20 !== place.contentEndOffset) throw new MalformedPacket("A SOA record has another length.")
  return packet.uint32(numbersAt + 16)
}

/** The name that stands after `skipped` octets and ends the record. */
function trailingName(packet: PacketReader, place: RecordPosition, skipped: number): string | null {
  const at = place.contentOffset + skipped
  if (packet.nameEndOffset(at) !== place.contentEndOffset)
    throw new MalformedPacket("A name does not end with its record.")
  return packet.name(at)
}

function addressOffset({ contentOffset, contentEndOffset }: RecordPosition, octetCount: number): number {
  if (contentEndOffset - contentOffset !== octetCount) throw new MalformedPacket("An address has another length.")
  return contentOffset
}

/** The address in its eight groups (RFC 4291 §2.2); RFC 5952's shortest form takes three times as long, and nobody sees it. */
function ipv6Text(packet: PacketReader, at: number): string {
  let text = packet.uint16(at).toString(16)
  for (let next = at + 2; next < at + 16; next += 2) text += `:${packet.uint16(next).toString(16)}`
  return text
}

/** The strings are joined before they are decoded: a character may be cut in two by them. */
function parseTxt(packet: PacketReader, place: RecordPosition): string {
  const joined = new Uint8Array(place.contentEndOffset - place.contentOffset)
  let length = 0
  for (let at = place.contentOffset; at < place.contentEndOffset; ) {
    const end = at + 1 + packet.byte(at)
    if (end > place.contentEndOffset) throw new MalformedPacket("A string is longer than its record.")
    joined.set(packet.slice(at + 1, end), length)
    length += end - at - 1
    at = end
  }
  return UTF_8.decode(joined.subarray(0, length))
}
