import { describe, expect, test } from "bun:test"
import { parseReply } from "../../../../src/check/dns/wire/packet.ts"
import { MalformedPacket, PacketReader } from "../../../../src/check/dns/wire/packet-reader.ts"
import { counted } from "./counted-bytes.ts"
import { joined, pointer, record, replyBytes, TYPES, wireName } from "./reply-bytes.ts"

/** How many bytes may be read for one reply: twice the longest packet, and the bound of its names. */
const LOOKS_MAX = 3 * 65_536

const name = (at: number, ...pieces: readonly Uint8Array[]): string | null => new PacketReader(joined(pieces)).name(at)

describe("a name", () => {
  test("continues where its pointers point", () => {
    const com = wireName("com")
    const example = joined([wireName("example").subarray(0, -1), pointer(0)])
    expect(name(com.length, com, example)).toBe("example.com")
    expect(name(com.length + example.length, com, example, pointer(com.length))).toBe("example.com")
  })

  test("whose pointer points to itself, forward or in a loop is malformed", () => {
    expect(() => name(0, pointer(0))).toThrow(MalformedPacket)
    expect(() => name(0, pointer(2), wireName("a"))).toThrow(MalformedPacket)
    expect(() => name(2, pointer(2), pointer(0))).toThrow(MalformedPacket)
    expect(() => name(0, Uint8Array.of(1, 0x61), pointer(0))).toThrow(MalformedPacket)
  })

  test("that runs past the packet is malformed", () => {
    expect(() => name(0, Uint8Array.of(2, 0x61))).toThrow(MalformedPacket)
    expect(() => name(0, Uint8Array.of(1, 0x61))).toThrow(MalformedPacket)
    expect(() => name(0, Uint8Array.of(0xc0))).toThrow(MalformedPacket)
    expect(() => new PacketReader(new Uint8Array(1)).nameEndOffset(1)).toThrow(MalformedPacket)
  })

  test("with a label that is neither text nor a pointer is malformed", () => {
    for (const kind of [0x40, 0x7f, 0x80, 0xbf]) {
      expect(() => name(0, Uint8Array.of(kind), new Uint8Array(200))).toThrow(MalformedPacket)
      expect(() => new PacketReader(Uint8Array.of(kind, 0, 0)).nameEndOffset(0)).toThrow(MalformedPacket)
    }
  })
})

describe("an attack costs bounded work:", () => {
  const fillTo = (length: number, head: readonly Uint8Array[], piece: (at: number) => Uint8Array): Uint8Array => {
    const pieces = [...head]
    let at = head.reduce((sum, one) => sum + one.length, 0)
    for (let next = piece(at); at + next.length <= length; next = piece(at)) {
      pieces.push(next)
      at += next.length
    }
    return joined(pieces)
  }
  const withAnswerCount = (bytes: Uint8Array, count: number): Uint8Array => {
    bytes.set([count >> 8, count & 0xff], 6)
    return bytes
  }

  test("thousands of names on one long chain of pointers", () => {
    const headLength = replyBytes({ type: "NS" }).length
    const chainAt = headLength + 11
    const links = 8000
    const chain = joined([Uint8Array.of(0), pointer(chainAt)])
    const rest = Array.from({ length: links }, (_, at) => pointer(chainAt + 1 + 2 * at))
    const end = pointer(chainAt + 1 + 2 * links)
    const head = [replyBytes({ type: "NS" }), record("", 10, joined([chain, ...rest]))]
    const bytes = withAnswerCount(
      fillTo(65_535, head, () => record(end, TYPES.NS, end)),
      3000,
    )
    const { packet, looks } = counted(bytes)
    expect(parseReply(packet, 7, { name: "example.com", type: "NS" })).toEqual({ kind: "failed" })
    expect(looks()).toBeLessThan(LOOKS_MAX)
  })

  test("thousands of records with the longest names", () => {
    const long = Array.from({ length: 126 }, () => "a").join(".")
    const first = record(long, TYPES.CNAME, wireName("x"))
    const at = replyBytes().length
    const bytes = fillTo(65_535, [replyBytes(), first], () => record(pointer(at), TYPES.CNAME, pointer(at)))
    const { packet, looks } = counted(withAnswerCount(bytes, 4000))
    expect(parseReply(packet, 7, { name: "example.com", type: "A" })).toEqual({ kind: "failed" })
    expect(looks()).toBeLessThan(LOOKS_MAX)
  })

  test("counts that promise more records than any packet holds", () => {
    const bytes = fillTo(65_535, [replyBytes()], () => record("", 999, new Uint8Array(0)))
    bytes.fill(0xff, 6, 12)
    const { packet, looks } = counted(bytes)
    expect(parseReply(packet, 7, { name: "example.com", type: "A" })).toEqual({ kind: "failed" })
    expect(looks()).toBeLessThan(LOOKS_MAX)
  })

  test("a string that lies about its length, at the end of the packet", () => {
    const bytes = withAnswerCount(joined([replyBytes({ type: "TXT" }), record("", 16, new Uint8Array(60_000))]), 0xffff)
    const lying = joined([bytes, record("example.com", TYPES.TXT, Uint8Array.of(255), { length: 65_535 })])
    const { packet, looks } = counted(lying)
    expect(parseReply(packet, 7, { name: "example.com", type: "TXT" })).toEqual({ kind: "failed" })
    expect(looks()).toBeLessThan(LOOKS_MAX)
  })
})

test("a hundred records with two names of full length each are within the bound", () => {
  const long = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`
  const answers = Array.from({ length: 100 }, () => record(long, TYPES.NS, wireName(long)))
  const read = parseReply(replyBytes({ name: long, type: "NS", answers }), 7, { name: long, type: "NS" })
  expect(read.kind === "answered" && read.answer.records).toHaveLength(100)
})
