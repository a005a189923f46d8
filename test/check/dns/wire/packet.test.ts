import { describe, expect, test } from "bun:test"
import { decode } from "dns-packet"
import { InvariantError } from "../../../../src/base/errors.ts"
import type { DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import {
  encodeQuery,
  isEncodableName,
  parseReply,
  UDP_PAYLOAD_BYTES_MAX,
} from "../../../../src/check/dns/wire/packet.ts"
import { joined, long, pointer, QUESTION_NAME_AT, record, replyBytes, short, TYPES, wireLabels } from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "A" }
const ADDRESS = record(pointer(QUESTION_NAME_AT), TYPES.A, Uint8Array.of(192, 0, 2, 1))

describe("a query", () => {
  test("has one question of class IN, desires recursion, and states the greatest length of a reply", () => {
    const packet = decode(Buffer.from(encodeQuery(0xbeef, { name: "_dmarc.example.com", type: "TXT" })))
    expect(packet).toMatchObject({
      id: 0xbeef,
      type: "query",
      flags: 0x0100,
      questions: [{ name: "_dmarc.example.com", type: "TXT", class: "IN" }],
      additionals: [{ name: ".", type: "OPT", udpPayloadSize: UDP_PAYLOAD_BYTES_MAX, ednsVersion: 0, flags: 0 }],
    })
    expect(packet.answers).toEqual([])
    expect(packet.authorities).toEqual([])
  })

  test("holds a name of 253 bytes with labels of 63, and the root", () => {
    const longest = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`
    expect(longest).toHaveLength(253)
    for (const name of [longest, "", "a", "_sip._tcp.example.com", 'x"\\y.example']) {
      expect(isEncodableName(name)).toBe(true)
      const [question] = decode(Buffer.from(encodeQuery(1, { name, type: "MX" }))).questions ?? []
      expect(question?.name).toBe(name === "" ? "." : name)
    }
    expect(isEncodableName(`${longest}e`)).toBe(false)
  })

  test("for a name that no packet can hold throws", () => {
    for (const name of ["a".repeat(64), "a..b", ".a", "a.", ".", "a b", "ä.example", "a\u007f", "a\n"]) {
      expect(isEncodableName(name)).toBe(false)
      expect(() => encodeQuery(1, { name, type: "A" })).toThrow(InvariantError)
    }
  })
})

describe("a packet is foreign", () => {
  const cases = {
    "when it has another id": replyBytes({ id: 8, answers: [ADDRESS] }),
    "when it is a query": replyBytes({ flags: 0x0180, answers: [ADDRESS] }),
    "when it is of another kind than a query's": replyBytes({ flags: 0xa180, answers: [ADDRESS] }),
    "when it has no question": replyBytes({ questionCount: 0, answers: [ADDRESS] }),
    "when it is a header that does not refuse": replyBytes({ questionCount: 0 }).subarray(0, 12),
    "when it has two questions": replyBytes({ questionCount: 2, answers: [ADDRESS] }),
    "when its question has another name": replyBytes({ name: "exomple.com", answers: [ADDRESS] }),
    "when its question has a shorter name": replyBytes({ name: "example.co", answers: [ADDRESS] }),
    "when its question has a longer name": replyBytes({ name: "example.com.example", answers: [ADDRESS] }),
    "when its question has the letters in other labels": replyBytes({ name: "exampl.ecom", answers: [ADDRESS] }),
    "when its question has another type": replyBytes({ type: "AAAA", answers: [ADDRESS] }),
    "when its question has another class": replyBytes({ class: 3, answers: [ADDRESS] }),
    "when it is empty": new Uint8Array(0),
    "when it ends within the header": replyBytes().subarray(0, 11),
    "when it ends within the question": replyBytes().subarray(0, -1),
    "though it says that the server failed": replyBytes({ id: 8, flags: 0x8182 }),
    "though it says that it was cut": replyBytes({ id: 8, flags: 0x8380 }),
  }
  for (const [when, bytes] of Object.entries(cases)) {
    test(when, () => expect(parseReply(bytes, 7, QUESTION)).toEqual({ kind: "foreign" }))
  }

  test("if a dot within a label makes its name look the same", () => {
    const labels = wireLabels(["example.com"])
    const bytes = joined([replyBytes().subarray(0, 12), labels, short(TYPES.A), short(1)])
    expect(parseReply(bytes, 7, QUESTION)).toEqual({ kind: "foreign" })
  })
})

test("the name of the question is compared without case", () => {
  const bytes = replyBytes({ name: "ExAmPlE.CoM", answers: [ADDRESS] })
  expect(parseReply(bytes, 7, QUESTION)).toMatchObject({ kind: "answered", answer: { outcome: "records" } })
  expect(parseReply(bytes, 7, { name: "eXaMpLe.cOm", type: "A" })).toMatchObject({ answer: { outcome: "records" } })
})

test("a truncated reply is truncated, whatever it holds", () => {
  expect(parseReply(replyBytes({ flags: 0x8380 }), 7, QUESTION)).toEqual({ kind: "truncated" })
  expect(parseReply(replyBytes({ flags: 0x8383, answerCount: 9 }), 7, QUESTION)).toEqual({ kind: "truncated" })
})

describe("a server failed", () => {
  const names: Readonly<Record<number, string>> = { 1: "FORMERR", 2: "SERVFAIL", 4: "NOTIMP", 5: "REFUSED" }
  for (const rcode of [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 15]) {
    test(`with the name of its response code ${rcode}, cut or not`, () => {
      const flags = 0x8180 | rcode
      const failure = { kind: "failed", why: names[rcode] ?? `RCODE ${rcode}` } as const
      expect(parseReply(replyBytes({ flags, answers: [ADDRESS] }), 7, QUESTION)).toEqual(failure)
      expect(parseReply(replyBytes({ flags: flags | 0x0200 }), 7, QUESTION)).toEqual(failure)
    })
  }

  test("if the upper bits of its response code, in the OPT record, are not zero", () => {
    const opt = (ttlS: number): Uint8Array => record("", TYPES.OPT, new Uint8Array(0), { ttlS, class: 1232 })
    const reply = (ttlS: number): Uint8Array => replyBytes({ answers: [ADDRESS], additionals: [opt(ttlS)] })
    expect(parseReply(reply(0x0100_0000), 7, QUESTION)).toEqual({ kind: "failed" })
    expect(parseReply(reply(0xff00_0000), 7, QUESTION)).toEqual({ kind: "failed" })
    expect(parseReply(reply(0x0001_8000), 7, QUESTION)).toMatchObject({ answer: { outcome: "records" } })
  })

  test("if the rest of its reply is malformed", () => {
    const cut = replyBytes({ answers: [ADDRESS] }).subarray(0, -1)
    const more = replyBytes({ answers: [ADDRESS], answerCount: 2 })
    const self = record(pointer(replyBytes().length), TYPES.A, new Uint8Array(4))
    const ahead = record(pointer(0x3fff), TYPES.A, new Uint8Array(4))
    const longer = record("example.com", TYPES.A, new Uint8Array(4), { length: 5 })
    const unknownLabel = record(Uint8Array.of(0x41, 0x61, 0), TYPES.A, new Uint8Array(4))
    const garbage = [self, ahead, longer, unknownLabel].map(answer => replyBytes({ answers: [answer] }))
    for (const bytes of [cut, more, ...garbage]) expect(parseReply(bytes, 7, QUESTION)).toEqual({ kind: "failed" })
  })
})

test("bytes behind the last record, and records of other types and classes, are ignored", () => {
  const unknown = record("example.com", 65, Uint8Array.of(1, 2, 3))
  const chaos = record("example.com", TYPES.A, new Uint8Array(3), { class: 3 })
  const signature = record("example.com", TYPES.RRSIG, Uint8Array.of(0))
  const bytes = joined([replyBytes({ answers: [unknown, chaos, signature, ADDRESS] }), long(0)])
  expect(parseReply(bytes, 7, QUESTION)).toEqual({
    kind: "answered",
    answer: { outcome: "records", records: [{ type: "A", address: "192.0.2.1" }], ttlS: 300 },
    pendingCname: null,
  })
})
