import { describe, expect, test } from "bun:test"
import type { DnsRecord, DnsRecordType } from "../../../../src/check/dns/dns-types.ts"
import { parseReply } from "../../../../src/check/dns/wire/packet.ts"
import {
  joined,
  pointer,
  QUESTION_NAME_AT,
  record,
  replyBytes,
  short,
  TYPES,
  txtContent,
  wireLabels,
  wireName,
} from "./reply-bytes.ts"

/** The parsed records with the given content; null: the reply cannot be read. */
function contents(type: DnsRecordType, ...records: readonly Uint8Array[]): readonly DnsRecord[] | null {
  const answers = records.map(one => record(pointer(QUESTION_NAME_AT), TYPES[type], one))
  const read = parseReply(replyBytes({ type, answers }), 7, { name: "example.com", type })
  return read.kind === "answered" ? read.answer.records : null
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test("addresses are read as text", () => {
  expect(contents("A", Uint8Array.of(192, 0, 2, 255))).toEqual([{ type: "A", address: "192.0.2.255" }])
  const ipv6 = (hex: string): unknown => contents("AAAA", Uint8Array.fromHex(hex))
  expect(ipv6("20010db8000000000000000000000001")).toEqual([{ type: "AAAA", address: "2001:db8:0:0:0:0:0:1" }])
  expect(ipv6("00000000000000000000000000000000")).toEqual([{ type: "AAAA", address: "0:0:0:0:0:0:0:0" }])
  expect(ipv6("20010db8000000010001000100010abc")).toEqual([{ type: "AAAA", address: "2001:db8:0:1:1:1:1:abc" }])
})

test("an address of the wrong length cannot be read", () => {
  for (const length of [0, 3, 5, 16]) expect(contents("A", new Uint8Array(length))).toBeNull()
  for (const length of [0, 4, 15, 17]) expect(contents("AAAA", new Uint8Array(length))).toBeNull()
})

describe("names", () => {
  test("are read in lower case, through pointers too", () => {
    const compressed = joined([wireName("MX1").subarray(0, -1), pointer(QUESTION_NAME_AT)])
    expect(contents("CNAME", wireName("WWW.Example.NET"))).toEqual([{ type: "CNAME", target: "www.example.net" }])
    expect(contents("NS", compressed)).toEqual([{ type: "NS", target: "mx1.example.com" }])
    expect(contents("MX", joined([short(10), compressed]))).toEqual([
      { type: "MX", preference: 10, exchange: "mx1.example.com" },
    ])
    expect(contents("SRV", joined([short(1), short(2), short(443), compressed]))).toEqual([
      { type: "SRV", priority: 1, port: 443, target: "mx1.example.com" },
    ])
  })

  test("that are the root are empty", () => {
    expect(contents("MX", joined([short(0), wireName("")]))).toEqual([{ type: "MX", preference: 0, exchange: "" }])
    expect(contents("SRV", new Uint8Array(7))).toEqual([{ type: "SRV", priority: 0, port: 0, target: "" }])
    expect(contents("NS", wireName(""))).toEqual([{ type: "NS", target: "" }])
  })

  test("of 253 bytes are kept, longer ones dropped", () => {
    const name = (last: number): string => `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(last)}`
    expect(contents("NS", wireName(name(61)))).toEqual([{ type: "NS", target: name(61) }])
    expect(contents("NS", wireName(name(62)))).toEqual([])
    const manyLabels = Array.from({ length: 255 }, () => "a").join(".")
    expect(contents("NS", wireName(manyLabels), wireName("ok"))).toEqual([{ type: "NS", target: "ok" }])
  })

  test("that cannot be read leave an MX record without its target", () => {
    for (const name of [wireLabels(["mail host", "com"]), wireLabels(["a.b"]), wireLabels(["\u00e4"])])
      expect(contents("MX", joined([short(10), name]))).toEqual([{ type: "MX", preference: 10, exchange: null }])
  })

  test("must end where their record ends", () => {
    expect(contents("NS", joined([wireName("a"), short(0)]))).toBeNull()
    expect(contents("NS", wireName("a").subarray(0, -1))).toBeNull()
    expect(contents("MX", short(10))).toBeNull()
    expect(contents("MX", joined([short(10), wireName("a"), Uint8Array.of(0)]))).toBeNull()
    expect(contents("SRV", new Uint8Array(6))).toBeNull()
    expect(contents("NS", new Uint8Array(0))).toBeNull()
  })
})

describe("texts", () => {
  const text = (...strings: readonly Uint8Array[]): unknown => contents("TXT", txtContent(...strings))

  test("are their strings joined, without a separator", () => {
    expect(text(bytes("v=spf1 "), bytes(""), bytes("-all"))).toEqual([{ type: "TXT", text: "v=spf1 -all" }])
    expect(text(new Uint8Array(255).fill(0x61), bytes("b"))).toEqual([{ type: "TXT", text: `${"a".repeat(255)}b` }])
  })

  test("are UTF-8 across the borders of strings; invalid bytes become U+FFFD", () => {
    const [first = 0, second = 0] = bytes("é")
    expect(text(Uint8Array.of(first), Uint8Array.of(second))).toEqual([{ type: "TXT", text: "é" }])
    expect(text(Uint8Array.of(0x61, 0xff, 0x62))).toEqual([{ type: "TXT", text: "a\ufffdb" }])
    expect(text(bytes("\ufeffv=spf1"))).toEqual([{ type: "TXT", text: "\ufeffv=spf1" }])
    expect(text(bytes("a\0\u001bb"))).toEqual([{ type: "TXT", text: "a\0\u001bb" }])
  })

  test("without any string are empty", () => {
    expect(text()).toEqual([{ type: "TXT", text: "" }])
    expect(text(bytes(""))).toEqual([{ type: "TXT", text: "" }])
  })

  test("of 60 kB are read completely", () => {
    const strings = Array.from({ length: 240 }, (_, at) => new Uint8Array(250).fill(0x61 + (at % 26)))
    const [result] = contents("TXT", txtContent(...strings)) ?? []
    expect(result?.type === "TXT" && result.text).toHaveLength(60_000)
  })

  test("with a string that is longer than its record cannot be read", () => {
    expect(contents("TXT", Uint8Array.of(2, 0x61))).toBeNull()
    expect(contents("TXT", Uint8Array.of(1, 0x61, 1))).toBeNull()
  })
})
