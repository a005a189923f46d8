import { describe, expect, test } from "bun:test"
import type { DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import { parseReply } from "../../../../src/check/dns/wire/packet.ts"
import { CNAME_LINKS_MAX, RECORDS_MAX } from "../../../../src/check/dns/wire/records.ts"
import {
  joined,
  pointer,
  QUESTION_NAME_AT,
  record,
  replyBytes,
  short,
  soaContent,
  TYPES,
  txtContent,
  wireLabels,
  wireName,
} from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "A" }
const NXDOMAIN = 0x8183
const LOOPBACK = [{ type: "A", address: "127.0.0.1" }]
const FAILED = { kind: "failed" }
const NOTHING = new Uint8Array(0)

const read = (parts: Parameters<typeof replyBytes>[0], question = QUESTION) =>
  parseReply(replyBytes({ ...question, ...parts }), 7, question)
const address = (owner: string, ttlS = 300) => record(owner, TYPES.A, Uint8Array.of(127, 0, 0, 1), { ttlS })
const alias = (owner: string, target: string, ttlS = 300) => record(owner, TYPES.CNAME, wireName(target), { ttlS })
const soa = (zone: string, ttlS: number, minimumS: number) => record(zone, TYPES.SOA, soaContent(minimumS), { ttlS })
const nameServer = (zone: string) => record(zone, TYPES.NS, wireName("ns.example.net"))
const answered = (outcome: string, records: readonly unknown[], ttlS: number, pendingCname: string | null = null) => ({
  kind: "answered",
  answer: { outcome, records, ttlS },
  pendingCname,
})
/** A chain of CNAMEs from the name of the question through `n1.example` and so on. */
const chainOf = (links: number) =>
  Array.from({ length: links }, (_, at) => alias(at === 0 ? "example.com" : `n${at}.example`, `n${at + 1}.example`))

describe("records", () => {
  test("count only at the name of the question, in any case", () => {
    const answers = [address("other.example"), address("EXAMPLE.com"), address("www.example.com")]
    expect(read({ answers })).toEqual<unknown>(answered("records", LOOPBACK, 300))
    expect(read({ answers: [address("other.example")] })).toEqual<unknown>(answered("no_data", [], 0))
  })

  test("have the least of their TTLs", () => {
    const answers = [address("example.com", 60), address("example.com", 59), address("other.example", 1)]
    expect(read({ answers })).toEqual<unknown>(answered("records", [...LOOPBACK, ...LOOPBACK], 59))
  })

  test("whose TTL has the top bit set have TTL 0", () => {
    expect(read({ answers: [address("example.com", 0x7fff_ffff)] })).toMatchObject({ answer: { ttlS: 0x7fff_ffff } })
    expect(read({ answers: [address("example.com", 0x8000_0000)] })).toMatchObject({ answer: { ttlS: 0 } })
  })

  test("are all read, as many as the longest reply holds", () => {
    const count = (length: number): number => {
      const owner = pointer(QUESTION_NAME_AT)
      const answers = Array.from({ length }, () => record(owner, TYPES.A, Uint8Array.of(127, 0, 0, 1)))
      const reply = replyBytes({ ...QUESTION, answers })
      const read = parseReply(reply, 7, QUESTION)
      return reply.length <= 0xffff && read.kind === "answered" ? read.answer.records.length : 0
    }
    expect([99, 100, 101, 500, 4094].map(count)).toEqual([99, 100, 101, 500, 4094])
  })

  test("of which a reply promises more than any holds are not read", () => {
    const promising = (count: number) =>
      read({ answers: Array.from({ length: count }, () => record("", 999, NOTHING)) })
    expect(promising(RECORDS_MAX)).toMatchObject({ kind: "answered" })
    expect(promising(RECORDS_MAX + 1)).toEqual<unknown>(FAILED)
    const additionals = [record("", 999, NOTHING)]
    const answers = Array.from({ length: RECORDS_MAX }, () => record("", 999, NOTHING))
    expect(read({ answers, additionals })).toEqual<unknown>(FAILED)
  })

  test("are found behind hundreds of others, whatever the length of their name", () => {
    const long = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`
    const text = (at: number) => record(pointer(QUESTION_NAME_AT), TYPES.TXT, txtContent(Buffer.from(`text ${at}`)))
    const answers = Array.from({ length: 1000 }, (_, at) => text(at))
    const reply = read({ answers, name: long, type: "TXT" }, { name: long, type: "TXT" })
    expect(reply.kind === "answered" && reply.answer.records.at(-1)).toEqual({ type: "TXT", text: "text 999" })
  })

  test("with names of full length are read up to a bound, and the rest is dropped", () => {
    const name = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(50)}`
    const exchange = (at: number) => joined([short(at), wireName(`mx${at}`).subarray(0, -1), pointer(QUESTION_NAME_AT)])
    const answers = Array.from({ length: 500 }, (_, at) => record(pointer(QUESTION_NAME_AT), TYPES.MX, exchange(at)))
    const reply = read({ answers, name, type: "MX" }, { name, type: "MX" })
    const records = reply.kind === "answered" ? reply.answer.records : []
    expect(records.length).toBeGreaterThan(200)
    expect(records.length).toBeLessThan(500)
    expect(records.at(-1)).toEqual({
      type: "MX",
      preference: records.length - 1,
      exchange: `mx${records.length - 1}.${name}`,
    })
  })

  test("with an unreadable name are dropped", () => {
    const target = (labels: readonly string[]) => record("example.com", TYPES.NS, wireLabels(labels))
    const odd = [["a.b"], ["a b"], ["a\0"], ["\u007f"], ["\u00e9"], ["ok", "\n"], ["."]].map(target)
    const question: DnsQuestion = { name: "example.com", type: "NS" }
    expect(read({ answers: odd }, question)).toEqual<unknown>(answered("no_data", [], 300))
    const answers = [...odd, target(["ok", "example"])]
    const records = [{ type: "NS", target: "ok.example" }]
    expect(read({ answers }, question)).toEqual<unknown>(answered("records", records, 300))
  })

  test("of a name that does not exist are a contradiction", () => {
    expect(read({ flags: NXDOMAIN, answers: [address("example.com")] })).toEqual<unknown>(FAILED)
    const chained = [alias("example.com", "a.example"), address("a.example")]
    expect(read({ flags: NXDOMAIN, answers: chained })).toEqual<unknown>(FAILED)
    expect(read({ flags: NXDOMAIN, answers: [address("other.example")] })).toMatchObject({
      answer: { outcome: "no_name" },
    })
  })
})

describe("CNAMEs", () => {
  test("are followed to the records at their end, in whatever order they stand", () => {
    const answers = [
      address("b.example"),
      address("a.example"),
      alias("A.example", "b.EXAMPLE"),
      address("example.com"),
    ]
    const ends = [alias("example.com", "a.example"), alias("other.example", "a.example")]
    expect(read({ answers: [...answers, ...ends] })).toEqual<unknown>(answered("records", LOOPBACK, 300))
  })

  test("bound the TTL of the records", () => {
    const answers = [
      alias("example.com", "a.example", 20),
      alias("a.example", "b.example", 30),
      address("b.example", 40),
    ]
    expect(read({ answers })).toMatchObject({ answer: { ttlS: 20 } })
    const brief = [alias("example.com", "a.example", 20), address("a.example", 10)]
    expect(read({ answers: brief })).toMatchObject({ answer: { ttlS: 10 } })
  })

  test("are followed for eight links and no more", () => {
    const end = (links: number) => [...chainOf(links), address(`n${links}.example`)]
    expect(read({ answers: end(CNAME_LINKS_MAX) })).toEqual<unknown>(answered("records", LOOPBACK, 300))
    expect(read({ answers: end(CNAME_LINKS_MAX + 1) })).toEqual<unknown>(FAILED)
  })

  test("in a loop give no answer", () => {
    expect(read({ answers: [alias("example.com", "example.com")] })).toEqual<unknown>(FAILED)
    const circle = [alias("example.com", "a.example"), alias("a.example", "EXAMPLE.com"), address("example.com")]
    expect(read({ answers: circle })).toEqual<unknown>(FAILED)
  })

  test("are pending where the server left off", () => {
    const answers = [alias("example.com", "a.example", 50), alias("a.example", "B.example", 40)]
    expect(read({ answers })).toEqual<unknown>(answered("no_data", [], 40, "b.example"))
    expect(read({ answers, authorities: [nameServer("example")] })).toMatchObject({ pendingCname: "b.example" })
    const unrelated = [soa("example.net", 9, 9)]
    expect(read({ answers, authorities: unrelated })).toMatchObject({ pendingCname: "b.example" })
  })

  test("are not pending if a SOA says that there is nothing", () => {
    const answers = [alias("example.com", "a.example", 50)]
    const authorities = [soa("example", 60, 70)]
    expect(read({ answers, authorities })).toEqual<unknown>(answered("no_data", [], 50))
    expect(read({ answers, authorities: [soa("example", 60, 40)] })).toEqual<unknown>(answered("no_data", [], 40))
  })

  test("to a name that does not exist leave a name without records", () => {
    const answers = [alias("example.com", "a.example", 50)]
    expect(read({ flags: NXDOMAIN, answers })).toEqual<unknown>(answered("no_data", [], 0))
    const authorities = [soa("example", 45, 70)]
    expect(read({ flags: NXDOMAIN, answers, authorities })).toEqual<unknown>(answered("no_data", [], 45))
  })

  test("to an unreadable name give no answer", () => {
    const answers = [record("example.com", TYPES.CNAME, wireLabels(["a b", "example"])), address("a b.example")]
    expect(read({ answers })).toEqual<unknown>(FAILED)
    expect(read({ flags: NXDOMAIN, answers })).toEqual<unknown>(FAILED)
  })

  test("are not followed if they are queried", () => {
    const question: DnsQuestion = { name: "example.com", type: "CNAME" }
    const answers = [alias("example.com", "a.example", 50), alias("a.example", "b.example", 40)]
    const records = [{ type: "CNAME", target: "a.example" }]
    expect(read({ answers }, question)).toEqual<unknown>(answered("records", records, 50))
    const circle = [{ type: "CNAME", target: "example.com" }]
    const itself = [alias("example.com", "example.com", 50)]
    expect(read({ answers: itself }, question)).toEqual<unknown>(answered("records", circle, 50))
  })

  test("synthesized from a DNAME are followed like any other", () => {
    const question: DnsQuestion = { name: "www.example.com", type: "A" }
    const dname = record("example.com", 39, wireName("example.net"))
    const answers = [dname, alias("www.example.com", "www.example.net", 0), address("www.example.net")]
    expect(read({ answers }, question)).toEqual<unknown>(answered("records", LOOPBACK, 0))
  })
})

describe("an empty reply", () => {
  test("means that the name has no such records, or that it does not exist", () => {
    const authorities = [soa("com", 900, 300)]
    expect(read({ authorities })).toEqual<unknown>(answered("no_data", [], 300))
    expect(read({ flags: NXDOMAIN, authorities })).toEqual<unknown>(answered("no_name", [], 300))
  })

  test("has the lesser of the SOA's TTL and its minimum", () => {
    expect(read({ authorities: [soa("example.com", 100, 200)] })).toMatchObject({ answer: { ttlS: 100 } })
    expect(read({ authorities: [soa("example.com", 200, 100)] })).toMatchObject({ answer: { ttlS: 100 } })
    expect(read({ authorities: [soa("", 200, 0x8000_0000)] })).toMatchObject({ answer: { ttlS: 0 } })
  })

  test("without the SOA of a zone that holds the name has TTL 0", () => {
    for (const flags of [0x8180, NXDOMAIN]) {
      expect(read({ flags })).toMatchObject({ kind: "answered", answer: { records: [], ttlS: 0 } })
      const strange = [soa("ample.com", 100, 100), soa("www.example.com", 100, 100)]
      for (const one of strange) expect(read({ flags, authorities: [one] })).toMatchObject({ answer: { ttlS: 0 } })
    }
  })

  test("that names other servers instead of a SOA is a referral, which gives no answer", () => {
    expect(read({ authorities: [nameServer("com")] })).toEqual<unknown>(FAILED)
    expect(read({ authorities: [nameServer("com"), soa("com", 9, 9)] })).toEqual<unknown>(answered("no_data", [], 9))
    expect(read({ flags: NXDOMAIN, authorities: [nameServer("com")] })).toEqual<unknown>(answered("no_name", [], 0))
  })

  test("with a malformed SOA gives no answer", () => {
    const cut = record("com", TYPES.SOA, soaContent(300).subarray(0, -1))
    const longer = record("com", TYPES.SOA, joined([soaContent(300), short(0)]))
    for (const authority of [cut, longer]) expect(read({ authorities: [authority] })).toEqual<unknown>(FAILED)
  })

  test("to a question for the root is read like any", () => {
    const question: DnsQuestion = { name: "", type: "NS" }
    expect(read({ authorities: [soa("", 7, 7)] }, question)).toEqual<unknown>(answered("no_data", [], 7))
    const answers = [nameServer("")]
    const records = [{ type: "NS", target: "ns.example.net" }]
    expect(read({ answers }, question)).toEqual<unknown>(answered("records", records, 300))
  })
})
