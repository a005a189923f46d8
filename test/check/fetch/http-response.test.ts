import { expect, test } from "bun:test"
import fc from "fast-check"
import { FetchError } from "../../../src/check/fetch/fetch-target.ts"
import { ConnectionReader, readResponseBody, readResponseHead } from "../../../src/check/fetch/http-response.ts"

type Read = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly isCut: boolean
}

/** Reads a response that arrives in pieces of `pieceBytes`; a string is the cause of a failure. */
async function read(
  text: string,
  { pieceBytes = 1 << 20, headMax = 1000, bodyMax = 1000 } = {},
): Promise<Read | string> {
  const bytes = new TextEncoder().encode(text)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const wire = new ConnectionReader(pieces(), 100_000)
  try {
    const head = await readResponseHead(wire, headMax)
    const { bytes: body, isTruncated } = await readResponseBody(wire, head, bodyMax)
    return { ...head, body: Buffer.from(body).toString(), isCut: isTruncated }
  } catch (fault) {
    if (fault instanceof FetchError) return fault.reason
    throw fault
  }
}

const bodyOf = async (text: string, bounds = {}): Promise<unknown> => {
  const answer = await read(text, bounds)
  return typeof answer === "string" ? answer : [answer.body, answer.isCut]
}

const ANSWERS = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\nhe\r\n3 \r\nllo\r\n0\r\n\r\n",
  "HTTP/1.0 200\n\nhello",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
]

test("a body is read by its length, its chunks or to the end, in pieces of any size", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ANSWERS), fc.integer({ min: 1, max: 90 }), async (text, pieceBytes) => {
      expect(await bodyOf(text, { pieceBytes })).toEqual(["hello", false])
    }),
  )
})

test("a longer body is truncated", async () => {
  expect(await bodyOf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", { bodyMax: 5 })).toEqual(["hello", false])
  for (const text of ANSWERS) expect(await bodyOf(text, { bodyMax: 4 })).toEqual(["hell", true])
})

test("the head is read up to its bound, interim responses included", async () => {
  const head = "HTTP/1.1 200 OK\r\nX: y\r\n\r\n"
  // A carriage return is not counted.
  const octets = head.replaceAll("\r", "").length
  expect(await bodyOf(head, { headMax: octets })).toEqual(["", false])
  expect(await bodyOf(head, { headMax: octets - 2 })).toBe("too_long")
  expect(await bodyOf(`HTTP/1.1 100 Continue\r\n\r\n${head}`, { headMax: octets })).toBe("too_long")
})

test("header names have any case, and of two headers the first counts", async () => {
  const answer = await read(
    "HTTP/1.1 302 Found\r\nLOCATION:\t/a \r\nlocation: /b\r\nno header\r\n: x\r\na b: c\r\n\r\n",
  )
  expect(typeof answer === "string" ? answer : [...answer.headers]).toEqual([["location", "/a"]])
})

test("a header with much white space is read quickly, and one with a bare carriage return is skipped", async () => {
  const blank = " ".repeat(8000)
  const answer = await read(`HTTP/1.1 302 Found\r\nA:${blank}\rb\r\nC:${blank}d${blank}e\t\r\nF:${blank}\r\n\r\n`, {
    headMax: 40_000,
  })
  expect(typeof answer === "string" ? answer : [...answer.headers]).toEqual([
    ["c", `d${blank}e`],
    ["f", ""],
  ])
})

test("a body with too many chunks is too long", async () => {
  const chunked = (count: number): string =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(count)}0\r\n\r\n`
  expect(await bodyOf(chunked(10_000), { bodyMax: 20_000 })).toEqual(["a".repeat(10_000), false])
  expect(await bodyOf(chunked(10_001), { bodyMax: 20_000 })).toBe("too_long")
})

test("a Location beyond ASCII is read as UTF-8", async () => {
  const answer = await read("HTTP/1.1 302 Found\r\nLocation: https://müller.de/\r\n\r\n")
  expect(typeof answer === "string" ? answer : answer.headers.get("location")).toBe("https://müller.de/")
})

test("a response without a body has none, whatever its headers", async () => {
  for (const status of [204, 304])
    expect(await bodyOf(`HTTP/1.1 ${status} X\r\nContent-Length: 9\r\n\r\n`)).toEqual(["", false])
})

test("a response that is no HTTP/1 is an error", async () => {
  for (const text of [
    "HTTP/2 200\r\n\r\n",
    "HTTP/1.1 99 X\r\n\r\n",
    "HTTP/1.1 600 X\r\n\r\n",
    "HTTP/1.1 2000\r\n\r\n",
    "\r\nHTTP/1.1 200 OK\r\n\r\n",
  ])
    expect([text, await bodyOf(text)]).toEqual([text, "not_http"])
})

test("any bytes are read or a fetch error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (head, body) => {
      await read(head)
      await read(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`)
      await read(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`)
    }),
  )
})
