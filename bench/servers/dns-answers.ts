/*
 * Answers of a zone that is made up, written by hand: header, the question as it came, and a tail that was made once.
 * Names in a tail are pointers to the question's name, which always stands at octet 12 (RFC 1035 §4.1.4).
 *
 *   any name             MX 10 mx.<name>, A, AAAA, TXT with SPF; no records of other types
 *   suite… a label       the same, but MX 1 aspmx.l.google.com
 *   _dmarc.<name>        TXT with DMARC; other names with an underscore do not exist
 *   nx<digit>… a label   the name does not exist, nor what stands below it
 *   dead… a label        the server does not reply
 */

/** One question as it stands in a query. */
export type DnsQuery = {
  /** The labels, lower case. */
  readonly labels: readonly string[]
  readonly type: number
  /** Where the question ends in the query, in octets. */
  readonly end: number
}

const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, OPT: 41 } as const
const HEADER_OCTETS = 12
const TTL_S = 300
const NXDOMAIN = 3
const ANSWERED = { answers: 1, authorities: 0 }
const DENIED = { answers: 0, authorities: 1 }
const SUITE_LABEL = /^suite/
const DENIED_LABEL = /^nx\d/
const DEAD_LABEL = /^dead/

const short = (value: number): number[] => [(value >> 8) & 0xff, value & 0xff]
const long = (value: number): number[] => [...short(value >>> 16), ...short(value)]
const text = (value: string): number[] => [value.length, ...Buffer.from(value)]
const pointer = (at: number): number[] => short(0xc000 | at)

function record(owner: number, type: number, ttlS: number, content: readonly number[]): Uint8Array {
  return Uint8Array.of(
    ...pointer(owner),
    ...short(type),
    ...short(1),
    ...long(ttlS),
    ...short(content.length),
    ...content,
  )
}

const own = (type: number, content: readonly number[]): Uint8Array => record(HEADER_OCTETS, type, TTL_S, content)

/** The SOA of a zone that starts at `owner`; its names are the root. */
const soa = (owner: number): Uint8Array =>
  record(owner, TYPES.SOA, TTL_S, [0, 0, ...[1, 3600, 600, 86_400, TTL_S].flatMap(long)])

const RECORDS: ReadonlyMap<number, Uint8Array> = new Map([
  [TYPES.A, own(TYPES.A, [198, 51, 99, 1])],
  [TYPES.AAAA, own(TYPES.AAAA, [0x2a, 1, 0x04, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])],
  [TYPES.MX, own(TYPES.MX, [...short(10), ...text("mx"), ...pointer(HEADER_OCTETS)])],
  [TYPES.TXT, own(TYPES.TXT, text("v=spf1 mx -all"))],
])
const SUITE_MX = own(TYPES.MX, [...short(1), ...["aspmx", "l", "google", "com"].flatMap(text), 0])
const DMARC = own(TYPES.TXT, text("v=DMARC1; p=reject"))
const NO_RECORDS = soa(HEADER_OCTETS)
/** The zone of a name that does not exist starts behind its first label, which is up to 63 octets long. */
const PARENTS = Array.from({ length: 64 }, (_, length) => soa(HEADER_OCTETS + 1 + length))
/** Says in return that EDNS is spoken: the root, OPT, 1232 octets, nothing else. */
const OPT = Uint8Array.of(0, ...short(TYPES.OPT), ...short(1232), ...long(0), ...short(0))

/** Reads the question of a query; null for what is no query of one question that stands in plain labels. */
export function askedIn(query: Uint8Array): DnsQuery | null {
  const isQuery = query.length > HEADER_OCTETS && ((query[2] ?? 0) & 0x80) === 0 && query[4] === 0 && query[5] === 1
  if (!isQuery) return null
  const labels: string[] = []
  let at = HEADER_OCTETS
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63) return null
    labels.push(latinOf(query, at + 1, at + 1 + length))
    at += 1 + length
  }
  const end = at + 5
  if (end > query.length) return null
  return { labels, type: ((query[at + 1] ?? 0) << 8) | (query[at + 2] ?? 0), end }
}

/** Whether questions about the name get no reply. */
export const isDead = ({ labels }: DnsQuery): boolean => labels.some(label => DEAD_LABEL.test(label))

/** The answer of the made-up zone. */
export function answerTo(query: Uint8Array, question: DnsQuery): Uint8Array {
  const { labels, type } = question
  const [first = ""] = labels
  const isDmarc = first === "_dmarc"
  const isDenied = labels.some(
    (label, at) => (label.startsWith("_") && !(isDmarc && at === 0)) || DENIED_LABEL.test(label),
  )
  if (isDenied) return written(query, question, NXDOMAIN, DENIED, PARENTS[first.length] ?? NO_RECORDS)
  const isSuite = type === TYPES.MX && SUITE_LABEL.test(first)
  const found = isDmarc ? (type === TYPES.TXT ? DMARC : undefined) : isSuite ? SUITE_MX : RECORDS.get(type)
  return found === undefined
    ? written(query, question, 0, DENIED, NO_RECORDS)
    : written(query, question, 0, ANSWERED, found)
}

/** An answer of one text that nobody may keep. */
export function textAnswer(query: Uint8Array, requests: DnsQuery, reply: string): Uint8Array {
  return written(query, requests, 0, ANSWERED, record(HEADER_OCTETS, TYPES.TXT, 0, text(reply)))
}

function written(
  query: Uint8Array,
  { end }: DnsQuery,
  code: number,
  count: { readonly answers: number; readonly authorities: number },
  tail: Uint8Array,
): Uint8Array {
  const hasEdns = query[11] === 1
  const answer = new Uint8Array(end + tail.length + (hasEdns ? OPT.length : 0))
  answer.set(query.subarray(0, end))
  // A response that offers recursion; whether it was wanted is given back.
  answer[2] = 0x80 | ((query[2] ?? 0) & 0x01)
  answer[3] = 0x80 | code
  answer[7] = count.answers
  answer[9] = count.authorities
  answer.set(tail, end)
  if (hasEdns) answer.set(OPT, end + tail.length)
  return answer
}

/** Octets as text in lower case. */
function latinOf(bytes: Uint8Array, start: number, end: number): string {
  let reply = ""
  for (let at = start; at < end; at++) reply += String.fromCharCode(bytes[at] ?? 0)
  return reply.toLowerCase()
}
