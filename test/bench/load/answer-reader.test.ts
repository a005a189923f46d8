import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AnswerReader } from "../../../bench/load/answer-reader.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const answer = (body: string, fields = `Content-Length: ${bytes(body).length}\r\n`, status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\nDate: now\r\n${fields}\r\n${body}`

const CHUNKED = "Transfer-Encoding: chunked\r\n"
const PROBLEM = "Content-Type: application/problem+json; charset=utf-8\r\n"

const readAll = (chunks: readonly Uint8Array[]) => {
  const reader = new AnswerReader()
  return { progress: chunks.map(chunk => reader.take(chunk)), status: reader.status, bodyBytes: reader.bodyBytes }
}

describe("AnswerReader", () => {
  test("an answer is whole at its last byte, wherever it is cut", () => {
    const whole = bytes(answer('{"a":"ä\r\n\r\n"}'))
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: whole.length - 1 })), cuts => {
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length]
        const chunks = ends.map((end, at) => whole.subarray(ends[at - 1] ?? 0, end))
        const { progress, status, bodyBytes } = readAll(chunks)
        expect(progress.map(String)).toEqual([...cuts.map(() => "part"), "whole"])
        expect([status, bodyBytes]).toEqual([200, 14])
      }),
    )
  })

  test("the chunk may be overwritten once it was taken", () => {
    const reader = new AnswerReader()
    const chunk = bytes("HTTP/1.1 429 No\r\nContent-Le")
    expect(reader.take(chunk)).toBe("part")
    chunk.fill(0)
    expect(reader.take(bytes("ngth: 2\r\n\r\n{}"))).toBe("whole")
    expect(reader.status).toBe(429)
  })

  test("one answer after another is read, each with its own status and length", () => {
    const reader = new AnswerReader()
    expect(reader.take(bytes(answer("abc")))).toBe("whole")
    expect(reader.take(bytes(answer("", "content-LENGTH:0\r\n", "503 Away")))).toBe("whole")
    expect([reader.status, reader.bodyBytes]).toEqual([503, 0])
  })

  test("204 and 304 have no body, with or without a length", () => {
    expect(readAll([bytes(answer("", "", "204 No Content"))]).progress).toEqual(["whole"])
    expect(readAll([bytes(answer("", "Content-Length: 7\r\n", "304 Same"))]).progress).toEqual(["whole"])
  })

  test.each([
    ["no length", answer("abc", "")],
    ["a length that is no number", answer("abc", "Content-Length: x\r\n")],
    ["two lengths that differ", answer("abc", "Content-Length: 3\r\nContent-Length: 4\r\n")],
    ["another coding", answer("abc", "Transfer-Encoding: gzip, chunked\r\n")],
    ["a chunked body with a length", answer("0\r\n\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")],
    [
      "a length after chunks were announced",
      answer("0\r\n\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    ],
    ["a chunk without a size", answer("\r\nabc\r\n0\r\n\r\n", CHUNKED)],
    ["a chunk whose size is no number", answer("3x\r\nabc\r\n0\r\n\r\n", CHUNKED)],
    ["a chunk whose size has nine digits", answer("000000003\r\nabc\r\n0\r\n\r\n", CHUNKED)],
    ["a chunk that is longer than its size", answer("2\r\nabc\r\n0\r\n\r\n", CHUNKED)],
    ["a byte after the last chunk", answer("0\r\n\r\nx", CHUNKED)],
    ["a chunk's line without end", answer(`3;${"x".repeat(5000)}`, CHUNKED)],
    ["an interim answer", answer("", "", "100 Continue")],
    ["a byte after the end", `${answer("abc")}d`],
    ["a status that is none", answer("abc", undefined, "xyz")],
    ["no HTTP at all", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["a head without end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(17_000)}`],
  ])("%s is unreadable", (_, text) => {
    expect(readAll([bytes(text)]).progress).toEqual(["unreadable"])
  })

  test("a chunked body is whole at the end of its trailers, wherever it is cut", () => {
    const whole = bytes(answer("3\r\nabc\r\nA;x=1\r\n0123456789\r\n00\r\nX: y\r\n\r\n", CHUNKED))
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: whole.length - 1 })), cuts => {
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length]
        const chunks = ends.map((end, at) => whole.subarray(ends[at - 1] ?? 0, end))
        const { progress, bodyBytes } = readAll(chunks)
        expect(progress.map(String)).toEqual([...cuts.map(() => "part"), "whole"])
        expect(bodyBytes).toBe(13)
      }),
    )
  })

  test("the body of a problem is kept, whatever its coding, and no other body", () => {
    const reader = new AnswerReader()
    reader.take(bytes(answer('{"code":"rate_limited"}', `${PROBLEM}Content-Length: 23\r\n`, "429 No")))
    expect(reader.body).toBe('{"code":"rate_limited"}')
    reader.take(bytes(answer("2\r\n{}\r\n0\r\n\r\n", PROBLEM + CHUNKED, "500 Oh")))
    expect(reader.body).toBe("{}")
    for (const [fields, status] of [
      ["Content-Length: 2\r\n", "500 Oh"],
      [`${PROBLEM}Content-Length: 2\r\n`, "200 OK"],
    ]) {
      reader.take(bytes(answer("{}", fields, status)))
      expect(reader.body).toBeNull()
    }
  })

  test("a problem that is too long is read to its end, and not kept", () => {
    const reader = new AnswerReader()
    const fields = (length: number) => `${PROBLEM}Content-Length: ${length}\r\n`
    expect(reader.take(bytes(answer("x".repeat(16_385), fields(16_385), "500 Oh")))).toBe("whole")
    expect(reader.body).toBeNull()
    reader.take(bytes(answer("x".repeat(16_384), fields(16_384), "500 Oh")))
    expect(reader.body).toHaveLength(16_384)
  })

  test("an answer tells whether its connection ends with it", () => {
    const reader = new AnswerReader()
    reader.take(bytes(answer("", "Content-Length: 0\r\nconnection: Close\r\n")))
    expect(reader.closes).toBe(true)
    reader.take(bytes(answer("", "Content-Length: 0\r\nConnection: keep-alive\r\n")))
    expect(reader.closes).toBe(false)
  })

  test("a field whose name only starts or ends like Content-Length is another field", () => {
    const text = answer("ab", "Content-Lengths: 9\r\nX-Content-Length: 9\r\nContent-Length: \t2\r\n")
    expect(readAll([bytes(text)]).progress).toEqual(["whole"])
  })
})
