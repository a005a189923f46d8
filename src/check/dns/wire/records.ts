import type { DnsAnswer, DnsQuestion, DnsRecord, DnsRecordType, ServerReply } from "../dns-types.ts"
import { MalformedPacket, normalizeTtl, type PacketReader, TYPE_NUMBERS } from "./packet-reader.ts"

/** How many CNAMEs of one reply are followed. */
export const CNAME_LINKS_MAX = 8

/**
 * How many records a reply may promise: no more fit into one. The length of a message is 16 bits (RFC 7766 §8), and a record takes
 * 11 bytes at least (RFC 1035 §3.2.1).
 */
export const RECORDS_MAX = Math.floor(0xffff / 11)

/** The answer that a reply gives. */
export type DnsReadResult = Extract<ServerReply, { readonly kind: "answered" }>

/**
 * Reads the records of a reply, which begin at the offset. `isNameError`: the response code is NXDOMAIN. Null: the reply gives
 * no answer, because of a CNAME loop, a referral, a contradiction or an extended error. Throws `MalformedPacket`.
 */
export function readRecords(
  packet: PacketReader,
  offset: number,
  isNameError: boolean,
  question: DnsQuestion,
): DnsReadResult | null {
  const [answerCount, authorityCount, additionalCount] = [packet.uint16(6), packet.uint16(8), packet.uint16(10)]
  if (answerCount + authorityCount + additionalCount > RECORDS_MAX)
    throw new MalformedPacket("The reply promises more records than fit into it.")
  let end = offset
  let hasCname = false
  for (let index = 0; index < answerCount; index++, end = packet.endOffset) {
    packet.moveTo(end)
    hasCname ||= packet.isOfType(TYPE_NUMBERS.CNAME)
  }
  const authorities: Section = { offset: end, count: authorityCount }
  for (let index = 0; index < authorityCount; index++, end = packet.endOffset) packet.moveTo(end)
  for (let index = 0; index < additionalCount; index++, end = packet.endOffset) {
    packet.moveTo(end)
    if (packet.hasExtendedRcode()) return null
  }
  const answers: Section = { offset, count: answerCount }
  const start: CnameChain = { end: question.name.toLowerCase(), linkCount: 0, ttlS: Number.POSITIVE_INFINITY }
  const chain = hasCname && question.type !== "CNAME" ? followCnames(packet, answers, start, question) : start
  if (chain === null) return null
  const matching = matchingResult(packet, answers, chain, question)
  if (matching === null) return negativeResult(packet, authorities, isNameError, chain)
  // NXDOMAIN with records of the type contradicts itself.
  return isNameError ? null : matching
}

/** Where the records of a section begin, and how many there are. */
type Section = { readonly offset: number; readonly count: number }

const completeResult = (
  outcome: DnsAnswer["outcome"],
  ttlS: number,
  records: readonly DnsRecord[] = [],
): DnsReadResult => ({ kind: "answered", answer: { outcome, records, ttlS }, pendingCname: null })

type CnameChain = {
  /** The last name; null: it is no readable name. */
  readonly end: string | null
  readonly linkCount: number
  /** The least TTL of the links; infinite without links. */
  readonly ttlS: number
}

/** Follows the CNAMEs from the name of the question; null: they form a loop or are more than `CNAME_LINKS_MAX`. */
function followCnames(
  packet: PacketReader,
  { offset, count }: Section,
  start: CnameChain,
  question: DnsQuestion,
): CnameChain | null {
  const aliases: number[] = []
  const owners: (string | null)[] = []
  for (let index = 0, next = offset; index < count; index++, next = packet.endOffset) {
    packet.moveTo(next)
    if (!packet.isOfType(TYPE_NUMBERS.CNAME)) continue
    aliases.push(next)
    owners.push(ownerName(packet, question))
  }
  let chain = start
  while (chain.end !== null) {
    const alias = aliases[owners.indexOf(chain.end)]
    if (alias === undefined) break
    if (chain.linkCount === CNAME_LINKS_MAX) return null
    packet.moveTo(alias)
    const ttlS = Math.min(chain.ttlS, packet.ttlS())
    chain = { end: trailingName(packet, 0), linkCount: chain.linkCount + 1, ttlS }
  }
  return chain
}

/**
 * The result of a reply with records of the type at the end of the chain; null: there are none. All are
 * read, because the one that is looked for may stand behind hundreds, as SPF among TXT records. Only where names of full length use
 * up what is read of names, the rest is dropped.
 */
function matchingResult(
  packet: PacketReader,
  { offset, count }: Section,
  chain: CnameChain,
  question: DnsQuestion,
): DnsReadResult | null {
  if (chain.end === null) return null
  const { type } = question
  const records: DnsRecord[] = []
  let ttlS = Number.POSITIVE_INFINITY
  for (let index = 0, next = offset; index < count; index++, next = packet.endOffset) {
    if (records.length > 0 && !packet.hasRoomForNames) break
    packet.moveTo(next)
    if (!packet.isOfType(TYPE_NUMBERS[type]) || ownerName(packet, question) !== chain.end) continue
    const record = RECORD_PARSERS[type](packet)
    if (record !== null) records.push(record)
    ttlS = Math.min(ttlS, packet.ttlS())
  }
  if (ttlS === Number.POSITIVE_INFINITY) return null
  return completeResult(records.length > 0 ? "records" : "no_data", Math.min(chain.ttlS, ttlS), records)
}

/** The result of a reply without records of the type at the end of the chain. */
function negativeResult(
  packet: PacketReader,
  authorities: Section,
  isNameError: boolean,
  chain: CnameChain,
): DnsReadResult | null {
  // The CNAME target is no readable name. That is a fault of the zone, and says nothing about the name of the question.
  if (chain.end === null) return null
  const ttlS = find(packet, authorities, TYPE_NUMBERS.SOA) ? negativeTtl(packet, chain.end) : null
  if (ttlS === null && !isNameError) {
    if (chain.linkCount > 0) return { ...completeResult("no_data", chain.ttlS), pendingCname: chain.end }
    // A referral (RFC 2308 §2.2): the server did not resolve the name.
    if (find(packet, authorities, TYPE_NUMBERS.NS)) return null
  }
  // RFC 6604 §3: the response code is about the last name of the chain. A name with a CNAME exists.
  const outcome = isNameError && chain.linkCount === 0 ? "no_name" : "no_data"
  return completeResult(outcome, Math.min(chain.ttlS, ttlS ?? 0))
}

/** Goes to the first record of the type; false: there is none. */
function find(packet: PacketReader, { offset, count }: Section, type: number): boolean {
  for (let index = 0, next = offset; index < count; index++, next = packet.endOffset) {
    packet.moveTo(next)
    if (packet.isOfType(type)) return true
  }
  return false
}

/** The TTL of a negative answer (RFC 2308 §5), at its SOA; null: that is not the SOA of a zone that holds the name. */
function negativeTtl(packet: PacketReader, name: string): number | null {
  const zone = packet.name(packet.nameOffset)
  if (zone === null || !(zone === "" || zone === name || name.endsWith(`.${zone}`))) return null
  // The MINIMUM field is the last of five numbers (RFC 1035 §3.3.13).
  const numbersOffset = packet.nameEndOffset(packet.nameEndOffset(packet.contentOffset))
  if (numbersOffset + 20 !== packet.endOffset) throw new MalformedPacket("A SOA record has the wrong length.")
  return Math.min(packet.ttlS(), normalizeTtl(packet.uint32(numbersOffset + 16)))
}

/** The name at which the record stands. Most point to the name of the question, which is known and need not be read for each of them. */
function ownerName(packet: PacketReader, question: DnsQuestion): string | null {
  const { nameOffset } = packet
  return packet.uint16(nameOffset) === POINTER_TO_QUESTION ? question.name.toLowerCase() : packet.name(nameOffset)
}

/** A pointer (RFC 1035 §4.1.4) to the byte after the header, where the name of the question stands. */
const POINTER_TO_QUESTION = 0xc00c

/** A byte order mark is kept as part of the text. */
const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** Read the record at which the packet is; null: it holds a name that is not readable. Throw `MalformedPacket` if its content does not fit its length. */
const RECORD_PARSERS: { readonly [T in DnsRecordType]: (packet: PacketReader) => DnsRecord | null } = {
  A: packet => ({ type: "A", address: ipv4Text(packet, addressOffset(packet, 4)) }),
  AAAA: packet => ({ type: "AAAA", address: ipv6Text(packet, addressOffset(packet, 16)) }),
  CNAME: packet => withTarget(packet, "CNAME"),
  NS: packet => withTarget(packet, "NS"),
  MX: packet => ({ type: "MX", preference: packet.uint16(packet.contentOffset), exchange: trailingName(packet, 2) }),
  SRV: packet => {
    const target = trailingName(packet, 6)
    if (target === null) return null
    const { contentOffset } = packet
    return { type: "SRV", priority: packet.uint16(contentOffset), port: packet.uint16(contentOffset + 4), target }
  },
  TXT: packet => ({ type: "TXT", text: parseTxt(packet) }),
}

function withTarget(packet: PacketReader, type: "CNAME" | "NS"): DnsRecord | null {
  const target = trailingName(packet, 0)
  return target === null ? null : { type, target }
}

/** The name that follows `skippedBytes` of other content and ends the record. */
function trailingName(packet: PacketReader, skippedBytes: number): string | null {
  const nameOffset = packet.contentOffset + skippedBytes
  if (packet.nameEndOffset(nameOffset) !== packet.endOffset)
    throw new MalformedPacket("A name does not end with its record.")
  return packet.name(nameOffset)
}

function addressOffset({ contentOffset, endOffset }: PacketReader, byteCount: number): number {
  if (endOffset - contentOffset !== byteCount) throw new MalformedPacket("An address has the wrong length.")
  return contentOffset
}

const ipv4Text = (packet: PacketReader, offset: number): string =>
  `${packet.byte(offset)}.${packet.byte(offset + 1)}.${packet.byte(offset + 2)}.${packet.byte(offset + 3)}`

/** The address in eight groups (RFC 4291 §2.2). The shortest form of RFC 5952 takes three times as long, and is not displayed. */
function ipv6Text(packet: PacketReader, offset: number): string {
  let text = packet.uint16(offset).toString(16)
  for (let next = offset + 2; next < offset + 16; next += 2) text += `:${packet.uint16(next).toString(16)}`
  return text
}

/** Holds the text that is being read. A record is no longer than this (RFC 1035 §3.2.1). */
const TEXT = Buffer.alloc(0xffff)

/**
 * The strings are joined before they are decoded, because one character may be split between two strings. Nearly all are ASCII,
 * which is read in a quarter of the time.
 */
function parseTxt(packet: PacketReader): string {
  let length = 0
  let allBits = 0
  for (let offset = packet.contentOffset; offset < packet.endOffset; ) {
    const end = offset + 1 + packet.byte(offset)
    if (end > packet.endOffset) throw new MalformedPacket("A string is longer than its record.")
    for (let next = offset + 1; next < end; next++) {
      const byte = packet.byte(next)
      TEXT[length++] = byte
      allBits |= byte
    }
    offset = end
  }
  return allBits < 0x80 ? TEXT.toString("latin1", 0, length) : UTF_8.decode(TEXT.subarray(0, length))
}
