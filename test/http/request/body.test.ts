import { heapStats } from "bun:jsc"
import { expect, test } from "bun:test"
import { readBytes } from "../../../src/http/request/body.ts"
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
