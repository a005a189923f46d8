import type { DnsAnswer, DnsQuestion, DnsRecord, DnsRecordType } from "../dns-types.ts"
import { MalformedPacket, type PacketReader, type RecordPosition } from "./packet-reader.ts"

/** How many CNAMEs of one reply are followed. */
export const CNAME_LINKS_MAX = 8

/**
 * How many records a reply may promise: no more fit into one. The length of a message is 16 bits (RFC 7766 §8), and a record takes
 * 11 bytes at least (RFC 1035 §3.2.1).
 */
export const RECORDS_MAX = Math.floor(0xffff / 11)

/** The answer that the records of a reply give. */
export type DnsReadResult = {
  readonly answer: DnsAnswer
  /** The last CNAME target, if the server did not resolve it; null: the answer is complete. */
  readonly pendingCname: string | null
}

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
  const answers = packet.records(offset, answerCount)
  const authorities = packet.records(answers.endOffset, authorityCount)
  const additionals = packet.records(authorities.endOffset, additionalCount)
  if (additionals.positions.some(hasExtendedRcode)) return null
  const chain = followCnames(packet, answers.positions, question)
  if (chain === null) return null
  const matching = matchingRecords(packet, answers.positions, chain.end, question)
  if (matching === null) return negativeResult(packet, authorities.positions, isNameError, chain)
  // NXDOMAIN with records of the type contradicts itself.
  if (isNameError) return null
  const outcome = matching.records.length > 0 ? "records" : "no_data"
  return completeResult({ outcome, records: matching.records, ttlS: Math.min(chain.ttlS, matching.ttlS) })
}

/** The result of a reply without records of the type at the end of the chain. */
function negativeResult(
  packet: PacketReader,
  authorities: readonly RecordPosition[],
  isNameError: boolean,
  chain: CnameChain,
): DnsReadResult | null {
  // The CNAME target is no readable name. That is a fault of the zone, and says nothing about the name of the question.
  if (chain.end === null) return null
  const ttlS = negativeTtl(packet, authorities, chain.end)
  if (ttlS === null && !isNameError) {
    if (chain.linkCount > 0) {
      return { answer: { outcome: "no_data", records: [], ttlS: chain.ttlS }, pendingCname: chain.end }
    }
    // A referral (RFC 2308 §2.2): the server did not resolve the name.
    if (authorities.some(position => isOfType(position, TYPE_NUMBERS.NS))) return null
  }
  // RFC 6604 §3: the response code is about the last name of the chain. A name with a CNAME exists.
  const outcome = isNameError && chain.linkCount === 0 ? "no_name" : "no_data"
  return completeResult({ outcome, records: [], ttlS: Math.min(chain.ttlS, ttlS ?? 0) })
}

function completeResult(answer: DnsAnswer): DnsReadResult {
  return { answer, pendingCname: null }
}

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
  answers: readonly RecordPosition[],
  question: DnsQuestion,
): CnameChain | null {
  const start: CnameChain = { end: question.name.toLowerCase(), linkCount: 0, ttlS: Number.POSITIVE_INFINITY }
  if (question.type === "CNAME") return start
  const aliases = answers.filter(position => isOfType(position, TYPE_NUMBERS.CNAME))
  if (aliases.length === 0) return start
  const owners = aliases.map(position => ownerName(packet, position, question))
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

/**
 * The records of the type at the name and their least TTL; null: there are none. All are read, because the one that is looked for
 * may stand behind hundreds, as SPF among TXT records. Only where names of full length use up what is read of names, the rest is
 * dropped.
 */
function matchingRecords(
  packet: PacketReader,
  answers: readonly RecordPosition[],
  name: string | null,
  question: DnsQuestion,
): { readonly records: readonly DnsRecord[]; readonly ttlS: number } | null {
  const { type } = question
  const records: DnsRecord[] = []
  let ttlS = Number.POSITIVE_INFINITY
  if (name === null) return null
  for (const position of answers) {
    if (records.length > 0 && !packet.hasRoomForNames) break
    if (!isOfType(position, TYPE_NUMBERS[type]) || ownerName(packet, position, question) !== name) continue
    const record = parseRecord(packet, position, type)
    if (record !== null) records.push(record)
    ttlS = Math.min(ttlS, normalizeTtl(position.ttl))
  }
  return ttlS === Number.POSITIVE_INFINITY ? null : { records, ttlS }
}

/** The TTL of a negative answer (RFC 2308 §5); null: the reply has no SOA of a zone that holds the name. */
function negativeTtl(packet: PacketReader, authorities: readonly RecordPosition[], name: string | null): number | null {
  const soa = authorities.find(position => isOfType(position, TYPE_NUMBERS.SOA))
  if (soa === undefined || name === null) return null
  const zone = packet.name(soa.nameOffset)
  if (zone === null || !(zone === "" || zone === name || name.endsWith(`.${zone}`))) return null
  return Math.min(normalizeTtl(soa.ttl), normalizeTtl(parseSoaMinimum(packet, soa)))
}

/** The name at which a record stands. Most point to the name of the question, which is known and need not be read for each of them. */
function ownerName(packet: PacketReader, { nameOffset }: RecordPosition, question: DnsQuestion): string | null {
  return packet.uint16(nameOffset) === POINTER_TO_QUESTION ? question.name.toLowerCase() : packet.name(nameOffset)
}

/** A pointer (RFC 1035 §4.1.4) to the byte after the header, where the name of the question stands. */
const POINTER_TO_QUESTION = 0xc00c

function isOfType(position: RecordPosition, type: number): boolean {
  return position.type === type && position.class === CLASS_IN
}

/** Whether it is an OPT record with the upper bits of an error code, BADVERS for one (RFC 6891 §6.1.3). */
function hasExtendedRcode(position: RecordPosition): boolean {
  return position.type === TYPE_NUMBERS.OPT && position.ttl >= 0x100_0000
}

/** A TTL whose top bit is set counts as zero (RFC 2181 §8). */
function normalizeTtl(seconds: number): number {
  return seconds > 0x7fff_ffff ? 0 : seconds
}

/** The numbers of the record types that are queried or read (IANA, "Domain Name System (DNS) Parameters"). */
export const TYPE_NUMBERS = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, OPT: 41 } as const

/** The class of the Internet. */
export const CLASS_IN = 1

/** A byte order mark is kept as part of the text. */
const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true })

const RECORD_PARSERS: {
  readonly [T in DnsRecordType]: (packet: PacketReader, position: RecordPosition) => DnsRecord | null
} = {
  A: (packet, position) => ({ type: "A", address: ipv4Text(packet, addressOffset(position, 4)) }),
  AAAA: (packet, position) => ({ type: "AAAA", address: ipv6Text(packet, addressOffset(position, 16)) }),
  CNAME: (packet, position) => {
    const target = trailingName(packet, position, 0)
    return target === null ? null : { type: "CNAME", target }
  },
  NS: (packet, position) => {
    const target = trailingName(packet, position, 0)
    return target === null ? null : { type: "NS", target }
  },
  MX: (packet, position) => ({
    type: "MX",
    preference: packet.uint16(position.contentOffset),
    exchange: trailingName(packet, position, 2),
  }),
  SRV: (packet, position) => {
    const target = trailingName(packet, position, 6)
    if (target === null) return null
    return {
      type: "SRV",
      priority: packet.uint16(position.contentOffset),
      port: packet.uint16(position.contentOffset + 4),
      target,
    }
  },
  TXT: (packet, position) => ({ type: "TXT", text: parseTxt(packet, position) }),
}

/** The record of the type at the position; null: it holds a name that is not readable. Throws `MalformedPacket` if its content does not fit its length. */
function parseRecord(packet: PacketReader, position: RecordPosition, type: DnsRecordType): DnsRecord | null {
  return RECORD_PARSERS[type](packet, position)
}

/** The target of a CNAME record; null: it is no readable name. Throws `MalformedPacket`. */
function parseCnameTarget(packet: PacketReader, position: RecordPosition): string | null {
  return trailingName(packet, position, 0)
}

/** The MINIMUM field of a SOA record (RFC 1035 §3.3.13). Throws `MalformedPacket`. */
function parseSoaMinimum(packet: PacketReader, position: RecordPosition): number {
  const numbersOffset = packet.nameEndOffset(packet.nameEndOffset(position.contentOffset))
  if (numbersOffset + 20 !== position.contentEndOffset) throw new MalformedPacket("A SOA record has the wrong length.")
  return packet.uint32(numbersOffset + 16)
}

/** The name that follows `skippedBytes` of other content and ends the record. */
function trailingName(packet: PacketReader, position: RecordPosition, skippedBytes: number): string | null {
  const nameOffset = position.contentOffset + skippedBytes
  if (packet.nameEndOffset(nameOffset) !== position.contentEndOffset)
    throw new MalformedPacket("A name does not end with its record.")
  return packet.name(nameOffset)
}

function addressOffset({ contentOffset, contentEndOffset }: RecordPosition, byteCount: number): number {
  if (contentEndOffset - contentOffset !== byteCount) throw new MalformedPacket("An address has the wrong length.")
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
function parseTxt(packet: PacketReader, position: RecordPosition): string {
  let length = 0
  let allBits = 0
  for (let offset = position.contentOffset; offset < position.contentEndOffset; ) {
    const end = offset + 1 + packet.byte(offset)
    if (end > position.contentEndOffset) throw new MalformedPacket("A string is longer than its record.")
    for (let next = offset + 1; next < end; next++) {
      const byte = packet.byte(next)
      TEXT[length++] = byte
      allBits |= byte
    }
    offset = end
  }
  return allBits < 0x80 ? TEXT.toString("latin1", 0, length) : UTF_8.decode(TEXT.subarray(0, length))
}
