import { heapStats } from "bun:jsc"
import { expect, test } from "bun:test"
import { assertBoundedJson, readBytes } from "../../../src/http/request/body.ts"
import { Problem } from "../../../src/http/response/problem.ts"
import { rawClient } from "../../support/raw-client.ts"

const BOUND = 1000
const ROOM = {
  reserveBody: () => undefined,
  releaseBody: () => undefined,
  nextTick: (work: () => void) => void setImmediate(work),
}

/** The runtime's own streams, each with 64 KiB of room that it lets go of late. */
const streamsCount = () => heapStats().objectTypeCounts["BytesInternalReadableStreamSource"] ?? 0

test.each([
  ["of told length", "Content-Length: 5\r\n\r\nhello"],
  ["of no told length", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
])("a body %s that came with its head is read without a stream of the runtime's", async (_, sent) => {
  const read: string[] = []
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async request => {
      read.push(Buffer.from(await readBytes(request, BOUND, ROOM)).toString())
      return new Response(`read ${read.length}.`)
    },
  })
  const client = await rawClient(server.port ?? 0)
  Bun.gc(true)
  const before = streamsCount()
  const times = 20
  for (let count = 1; count <= times; count++) {
    client.socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${sent}`)
    await client.until(new RegExp(`read ${count}[.]`))
  }
  client.close()
  expect(read).toEqual(Array.from({ length: times }, () => "hello"))
  expect(streamsCount()).toBeLessThanOrEqual(before)
})

test("a body of exactly the bound is read, and one byte more is refused, of told length and of none", async () => {
  const codeOf = async (bytes: number, headers: Record<string, string>): Promise<unknown> => {
    const request = new Request("http://localhost/", { method: "POST", headers, body: "x".repeat(bytes) })
    return await readBytes(request, BOUND, ROOM).then(
      read => read.length,
      (error: unknown) => (error instanceof Problem ? error.code : error),
    )
  }
  for (const tells of [true, false])
    for (const [bytes, expected] of [
      [BOUND, BOUND],
      [BOUND + 1, "payload_too_large"],
    ] as const)
      expect([tells, await codeOf(bytes, tells ? { "Content-Length": String(bytes) } : {})]).toEqual([tells, expected])
})

test("JSON has so many members and is nested so deep, and not one more, and what stands in strings does not count", () => {
  const fault = (text: string): string | null => {
    try {
      assertBoundedJson(Buffer.from(text))
      return null
    } catch (error) {
      return error instanceof Problem ? error.detail : String(error)
    }
  }
  const nested = (depth: number) => "[{".repeat(depth / 2) + "}]".repeat(depth / 2)
  const members = (count: number) => `[${Array(count).fill(1).join(",")}]`
  const strings = `["${"[{,".repeat(20_000)}\\"${"[,".repeat(20_000)}"]`
  expect([nested(64), members(10_000), strings, "[]".repeat(9000)].map(fault)).toEqual([null, null, null, null])
  expect(fault(nested(66))).toBe("The body is nested deeper than 64.")
  expect(fault(members(10_001))).toBe("The body has more than 10000 members.")
})
