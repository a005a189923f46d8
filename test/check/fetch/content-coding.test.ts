import { expect, test } from "bun:test"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { FetchError } from "../../../src/check/fetch/fetch-target.ts"
import { decodeBody } from "../../../src/check/fetch/http-response.ts"

const TEXT = "We mend pumps. ".repeat(50)
const CODED: readonly (readonly [string | undefined, Uint8Array])[] = [
  [undefined, Buffer.from(TEXT)],
  ["", Buffer.from(TEXT)],
  ["identity", Buffer.from(TEXT)],
  ["gzip", gzipSync(TEXT)],
  ["x-gzip", gzipSync(TEXT)],
  ["GZIP", gzipSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["deflate", deflateRawSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
]
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

const whyOf = async (body: Uint8Array, coding: string): Promise<string> => {
  const fault = await decodeBody({ bytes: body, isTruncated: false }, coding, 1000).catch(error => error)
  return fault instanceof FetchError ? fault.reason : "no fault"
}

test("each coding of the request is decoded", async () => {
  for (const [coding, bytes] of CODED) {
    const body = await decodeBody({ bytes, isTruncated: false }, coding, 10_000)
    expect([coding, textOf(body.bytes), body.isTruncated]).toEqual([coding, TEXT, false])
  }
})

test("no more than the bound is decompressed", async () => {
  for (const coded of [gzipSync, deflateSync, brotliCompressSync]) {
    const coding = coded === gzipSync ? "gzip" : coded === deflateSync ? "deflate" : "br"
    const bytes = coded(Buffer.alloc(1000))
    const whole = await decodeBody({ bytes, isTruncated: false }, coding, 1000)
    expect([whole.bytes.length, whole.isTruncated]).toEqual([1000, false])
    const cut = await decodeBody({ bytes, isTruncated: false }, coding, 999)
    expect([cut.bytes.length, cut.isTruncated]).toEqual([999, true])
  }
})

test("a truncated body is decoded as far as possible", async () => {
  const text = Array.from({ length: 3000 }, (_, at) => `${at * 7919} `).join("")
  for (const [coding, bytes] of [
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
  ] as const) {
    const body = await decodeBody({ bytes: bytes.subarray(0, bytes.length - 500), isTruncated: true }, coding, 100_000)
    expect(body.isTruncated).toBe(true)
    expect(text.startsWith(textOf(body.bytes))).toBe(true)
    expect(body.bytes.length).toBeGreaterThan(0)
  }
})

test("a coding that is unknown, one of several, corrupt or incomplete is an error", async () => {
  expect(await whyOf(Buffer.from("x"), "zstd")).toBe("bad_coding")
  expect(await whyOf(Buffer.from("x"), "__proto__")).toBe("bad_coding")
  expect(await whyOf(gzipSync("x"), "gzip, br")).toBe("bad_coding")
  expect(await whyOf(Buffer.from("plain text"), "gzip")).toBe("bad_coding")
  expect(await whyOf(gzipSync(TEXT).subarray(0, 30), "gzip")).toBe("bad_coding")
})
