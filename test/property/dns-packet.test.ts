import { expect, setDefaultTimeout, test } from "bun:test"
import { seeded } from "../../bench/load/seeded-random.ts"
import type { DnsQuestion, DnsRecord, DnsRecordType } from "../../src/check/dns/dns-types.ts"
import { type ParsedPacket, parseReply } from "../../src/check/dns/wire/packet.ts"
import { RECORDS_MAX } from "../../src/check/dns/wire/records.ts"
import { counted } from "../check/dns/wire/counted-bytes.ts"
import {
  joined,
  pointer,
  QUESTION_NAME_AT,
  type ReplyParts,
  record,
  replyBytes,
  short,
  soaContent,
  TYPES,
  txtContent,
  wireName,
} from "../check/dns/wire/reply-bytes.ts"

setDefaultTimeout(300_000)

const PACKETS = 100_000
const ID = 7
const NAME = "mail.example.com"
const RECORDS_AT = 12 + wireName(NAME).length + 4
const TYPE_NAMES: readonly DnsRecordType[] = ["A", "AAAA", "CNAME", "MX", "NS", "SRV", "TXT"]
/** What the names that are read out of one packet may cost, beside a look or two at each of its octets. */
const NAME_LOOKS_MAX = 2 * 65_536

type Sample = { readonly question: DnsQuestion; readonly bytes: Uint8Array }

const requests = pointer(QUESTION_NAME_AT)
const parent = pointer(QUESTION_NAME_AT + 5)
const under = (label: string): Uint8Array => joined([wireName(label).subarray(0, -1), parent])
const text = (one: string): Uint8Array => new TextEncoder().encode(one)
const octets = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37) % 256)

const NSEC = joined([under("next"), Uint8Array.of(0, 6, 0x40, 1, 0, 8, 0, 3)])
const RRSIG = joined([short(TYPES.MX), Uint8Array.of(13, 3), octets(14), wireName("example.com"), octets(64)])
const SVCB = joined([
  short(1),
  wireName(""),
  short(1),
  short(3),
  Uint8Array.of(2, 0x68, 0x32),
  short(4),
  short(4),
  octets(4),
])
const COOKIE = joined([short(10), short(24), octets(24)])
const OPT = record("", TYPES.OPT, COOKIE, { ttlS: 0x8000, class: 1232 })
const SOA = record(parent, TYPES.SOA, soaContent(300))
const SIGNED = [record(requests, TYPES.RRSIG, RRSIG), record(requests, 47, NSEC), record(requests, 64, SVCB)]

const SAMPLES: readonly Sample[] = [
  sample("A", { answers: [record(requests, TYPES.A, octets(4)), record(requests, TYPES.A, octets(4)), ...SIGNED] }),
  sample("AAAA", { answers: [record(requests, TYPES.AAAA, octets(16))], additionals: [OPT] }),
  sample("A", { answers: chain(3, record(under("n3"), TYPES.A, octets(4))), additionals: [OPT] }),
  sample("A", { answers: chain(8, record(under("n8"), TYPES.A, octets(4))) }),
  sample("A", { answers: chain(2), authorities: [SOA, ...SIGNED], flags: 0x8183 }),
  sample("MX", {
    answers: ["aspmx.l", "alt1.aspmx.l", "alt2"].map(mx),
    authorities: [ns("ns1"), SOA],
    additionals: [OPT],
  }),
  sample("MX", { answers: [record(requests, TYPES.MX, joined([short(0), wireName("")]))] }),
  sample("NS", { answers: Array.from({ length: 120 }, (_, at) => ns(`ns${at}`)) }),
  sample("NS", {
    answers: [record(requests, TYPES.NS, wireName(Array.from({ length: 255 }, () => "a").join("."))), ns("ok")],
  }),
  sample("CNAME", { answers: [record(requests, TYPES.CNAME, under("www"))] }),
  sample("SRV", { answers: [record(requests, TYPES.SRV, joined([short(1), short(2), short(443), under("sip")]))] }),
  sample("TXT", {
    answers: [record(requests, TYPES.TXT, txtContent(text("v=spf1 include:_spf.example.com "), text("-all")))],
  }),
  sample("TXT", {
    answers: [record(requests, TYPES.TXT, txtContent(octets(255), text("\0\u001b\ufeffé"), octets(200)))],
  }),
  sample("TXT", { authorities: [SOA, ...SIGNED], additionals: [OPT], flags: 0x8183 }),
]

function sample(type: DnsRecordType, parts: ReplyParts): Sample {
  return { question: { name: NAME, type }, bytes: replyBytes({ id: ID, name: NAME, type, ...parts }) }
}

function chain(links: number, ...end: readonly Uint8Array[]): readonly Uint8Array[] {
  const owner = (at: number): Uint8Array => (at === 0 ? requests : under(`n${at}`))
  return [...Array.from({ length: links }, (_, at) => record(owner(at), TYPES.CNAME, owner(at + 1))), ...end]
}

function mx(host: string, at: number): Uint8Array {
  return record(requests, TYPES.MX, joined([short(10 * at), under(host)]))
}

function ns(host: string): Uint8Array {
  return record(requests, TYPES.NS, under(host))
}

test("whatever is done to a reply, it is read without a throw, at bounded cost, into records that keep their promises", () => {
  const random = seeded(20_260_101)
  const below = (count: number): number => Math.floor(random() * count)
  const kinds: Record<ParsedPacket["kind"] | "records", number> = {
    foreign: 0,
    truncated: 0,
    failed: 0,
    answered: 0,
    records: 0,
  }
  const faults: string[] = []
  for (let at = 0; at < PACKETS; at++) {
    const { question, bytes } = SAMPLES[below(SAMPLES.length)] ?? sample("A", {})
    const packet = mutated(bytes, below)
    const read = at % 8 === 0 ? readCounted(packet, question, faults) : parseReply(packet, ID, question)
    kinds[read.kind]++
    if (read.kind !== "answered") continue
    if (read.answer.records.length > 0) kinds.records++
    if (!keepsPromises(read, question)) faults.push(`${JSON.stringify(read)} of ${packet.toHex()}`)
  }
  expect(faults).toEqual([])
  expect(Math.min(...Object.values(kinds))).toBeGreaterThan(PACKETS / 1000)
  expect(kinds.records).toBeGreaterThan(PACKETS / 20)
})

function readCounted(bytes: Uint8Array, question: DnsQuestion, faults: string[]): ParsedPacket {
  const { packet, looks } = counted(bytes)
  const read = parseReply(packet, ID, question)
  if (looks() > 3 * bytes.length + NAME_LOOKS_MAX) faults.push(`${looks()} looks at ${bytes.toHex()}`)
  return read
}

/** One to four faults in a copy. Most stand behind the question: before its end they only make a packet foreign. */
function mutated(original: Uint8Array, below: (count: number) => number): Uint8Array {
  let bytes = original
  for (let faults = 1 + below(4); faults > 0 && bytes.length > 3; faults--) {
    const from = below(10) === 0 ? 0 : RECORDS_AT
    bytes = withFault(bytes, Math.min(from + below(Math.max(bytes.length - from, 1)), bytes.length - 2), below)
  }
  return bytes
}

/** Octets, lengths, counts, flags and pointers that lie; pieces cut, left out, put in and doubled. */
function withFault(original: Uint8Array, at: number, below: (count: number) => number): Uint8Array {
  const [before, after] = [original.subarray(0, at), original.subarray(at)]
  const kind = below(9)
  if (kind === 0) return original.slice(0, at)
  if (kind === 1) return joined([before, pointer(below(original.length + 16)), after])
  if (kind === 2) return joined([before, after.subarray(1 + below(12))])
  if (kind === 3) return joined([original, after.subarray(0, below(80))])
  const bytes = original.slice()
  if (kind === 8) bytes.set([(bytes[2] ?? 0) ^ (1 << below(8))], 2)
  else bytes.set(lie(kind, below), kind === 7 ? Math.min(6 + 2 * below(3), bytes.length - 2) : at)
  return bytes
}

function lie(kind: number, below: (count: number) => number): Uint8Array {
  if (kind === 4) return Uint8Array.of(below(256))
  if (kind === 5) return pointer(below(300))
  if (kind === 6) return short(below(2) === 0 ? below(80) : 0xff00 + below(256))
  return short(below(12))
}

function keepsPromises(
  { answer, pendingCname }: Extract<ParsedPacket, { kind: "answered" }>,
  question: DnsQuestion,
): boolean {
  const { outcome, records, ttlS } = answer
  const isTtl = Number.isInteger(ttlS) && ttlS >= 0 && ttlS <= 0x7fff_ffff
  const isBounded = records.length <= RECORDS_MAX && (outcome === "records") === records.length > 0
  const leadsOn = pendingCname === null || (isName(pendingCname) && outcome === "no_data")
  return isTtl && isBounded && leadsOn && records.every(one => one.type === question.type && isRecord(one))
}

function isRecord(one: DnsRecord): boolean {
  if ("address" in one)
    return one.type === "A" ? /^\d+\.\d+\.\d+\.\d+$/.test(one.address) : /^[\da-f:]+$/.test(one.address)
  if ("text" in one) return one.text.isWellFormed()
  if ("exchange" in one) return isShort(one.preference) && (one.exchange === null || isName(one.exchange))
  return isName(one.target) && (one.type !== "SRV" || (isShort(one.priority) && isShort(one.port)))
}

function isName(name: string): boolean {
  return name === "" || (name.length <= 253 && /^[!-\-/-@[-~]{1,63}(?:\.[!-\-/-@[-~]{1,63})*$/.test(name))
}

function isShort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 0xffff
}

test("every sample is read as what it is before anything is done to it", () => {
  const reads = SAMPLES.map(({ bytes, question }) => parseReply(bytes, ID, question))
  expect(reads.map(read => read.kind)).toEqual(SAMPLES.map(() => "answered"))
  const types = reads.flatMap(read => (read.kind === "answered" ? read.answer.records.map(one => one.type) : []))
  expect(new Set(types)).toEqual(new Set(TYPE_NAMES))
})
