import type { PacketReader, RecordPlace } from "./packet-reader.ts"
import type { Answer, DnsRecord, Question } from "./question.ts"
import { aliasTarget, CLASS_IN, recordContent, soaMinimum, TYPE_NUMBERS } from "./record-content.ts"

/** How many CNAMEs of one reply are followed. */
export const CHAIN_LINKS_MAX = 8

/** How many records of one reply are kept; those behind them are dropped. */
export const RECORDS_MAX = 100

/** What the records of a reply tell. */
export type Told = {
  readonly answer: Answer
  /** The name that CNAMEs lead to where the server left off; null: the answer is whole. */
  readonly continuesAt: string | null
}

/**
 * Reads the records of a reply to the question, which begin at `at`; `isNameError` is whether its code is NXDOMAIN. Null
 * when they tell nothing: CNAMEs in a circle, a referral, a contradiction, another error. Throws `Garbled`.
 */
export function readRecords(packet: PacketReader, at: number, isNameError: boolean, question: Question): Told | null {
  const answers = packet.records(at, packet.short(6))
  const authorities = packet.records(answers.end, packet.short(8))
  const additionals = packet.records(authorities.end, packet.short(10))
  if (additionals.places.some(hasExtendedRcode)) return null
  const chain = followAliases(packet, answers.places, question)
  if (chain === null) return null
  const found = recordsOf(packet, answers.places, chain.end, question)
  if (found === null) return absent(packet, authorities.places, isNameError, chain)
  // A name that does not exist has no records: such a reply contradicts itself.
  if (isNameError) return null
  const outcome = found.records.length > 0 ? "records" : "no_data"
  return whole({ outcome, records: found.records, ttlS: Math.min(chain.ttlS, found.ttlS) })
}

/** What a reply tells that has no records of the type at the end of the chain. */
function absent(
  packet: PacketReader,
  authorities: readonly RecordPlace[],
  isNameError: boolean,
  chain: Chain,
): Told | null {
  // A chain into a name that cannot be is a fault of whoever wrote it, not a word about the name that was asked for.
  if (chain.end === null) return null
  const ttlS = negativeTtl(packet, authorities, chain.end)
  if (ttlS === null && !isNameError) {
    if (chain.links > 0) {
      return { answer: { outcome: "no_data", records: [], ttlS: chain.ttlS }, continuesAt: chain.end }
    }
    // A referral (RFC 2308 §2.2): the server did not ask further, and cannot tell.
    if (authorities.some(place => isOf(place, TYPE_NUMBERS.NS))) return null
  }
  // RFC 6604 §3: the code concerns the last name of the chain. A name that leads on exists.
  const outcome = isNameError && chain.links === 0 ? "no_name" : "no_data"
  return whole({ outcome, records: [], ttlS: Math.min(chain.ttlS, ttlS ?? 0) })
}

function whole(answer: Answer): Told {
  return { answer, continuesAt: null }
}

type Chain = {
  /** The last name; null when text cannot hold it. */
  readonly end: string | null
  readonly links: number
  /** The least of its TTLs; infinite without any link. */
  readonly ttlS: number
}

/** Follows CNAMEs from the name that was asked for; null when they go in a circle or on for too long. */
function followAliases(packet: PacketReader, answers: readonly RecordPlace[], question: Question): Chain | null {
  const start: Chain = { end: question.name.toLowerCase(), links: 0, ttlS: Number.POSITIVE_INFINITY }
  if (question.type === "CNAME") return start
  const aliases = answers.filter(place => isOf(place, TYPE_NUMBERS.CNAME))
  const owners = aliases.map(place => packet.name(place.nameAt))
  let chain = start
  while (chain.end !== null) {
    const alias = aliases[owners.indexOf(chain.end)]
    if (alias === undefined) break
    if (chain.links === CHAIN_LINKS_MAX) return null
    const ttlS = Math.min(chain.ttlS, ttlOf(alias.ttl))
    chain = { end: aliasTarget(packet, alias), links: chain.links + 1, ttlS }
  }
  return chain
}

/** The records of the type at the name and the least of their TTLs; null when there are none. */
function recordsOf(
  packet: PacketReader,
  answers: readonly RecordPlace[],
  name: string | null,
  { type }: Question,
): { readonly records: readonly DnsRecord[]; readonly ttlS: number } | null {
  const records: DnsRecord[] = []
  let ttlS = Number.POSITIVE_INFINITY
  if (name === null) return null
  for (const place of answers) {
    if (records.length === RECORDS_MAX) break
    if (!isOf(place, TYPE_NUMBERS[type]) || packet.name(place.nameAt) !== name) continue
    const record = recordContent(packet, place, type)
    if (record !== null) records.push(record)
    ttlS = Math.min(ttlS, ttlOf(place.ttl))
  }
  return ttlS === Number.POSITIVE_INFINITY ? null : { records, ttlS }
}

/** How long it holds that there is nothing at the name (RFC 2308 §5); null without the SOA of a zone that holds the name. */
function negativeTtl(packet: PacketReader, authorities: readonly RecordPlace[], name: string | null): number | null {
  const soa = authorities.find(place => isOf(place, TYPE_NUMBERS.SOA))
  if (soa === undefined || name === null) return null
  const zone = packet.name(soa.nameAt)
  if (zone === null || !(zone === "" || zone === name || name.endsWith(`.${zone}`))) return null
  return Math.min(ttlOf(soa.ttl), ttlOf(soaMinimum(packet, soa)))
}

function isOf(place: RecordPlace, type: number): boolean {
  return place.type === type && place.class === CLASS_IN
}

/** The upper eight bits of a response code stand in the OPT record (RFC 6891 §6.1.3): BADVERS and the like. */
function hasExtendedRcode(place: RecordPlace): boolean {
  return place.type === TYPE_NUMBERS.OPT && place.ttl >= 0x100_0000
}

/** A TTL whose top bit is set counts as zero (RFC 2181 §8). */
function ttlOf(seconds: number): number {
  return seconds > 0x7fff_ffff ? 0 : seconds
}
