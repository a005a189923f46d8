import { expect, setDefaultTimeout, test } from "bun:test"
import { connectionsByWorker } from "./connections.ts"
import { startWorkersServer } from "./workers-server.ts"

setDefaultTimeout(120_000)

const GMAIL = { domain: "gmail.com" }

test("two workers answer on one port, which the first one picked, and the start is told once", async () => {
  await using server = await startWorkersServer()
  expect(server.port).toBeGreaterThan(0)
  expect(server.startLines.match(/listens on/g)).toHaveLength(1)
  expect(server.startLines).toContain("with 2 workers\n")
  expect(server.startLines.match(/svc_live_/g)).toHaveLength(2)
  expect(new Set(server.workers()).size).toBe(2)
  using seats = await connectionsByWorker(server)
  for (const [each] of seats.connections) {
    each?.check(server.firstKey, GMAIL)
    expect(await each?.answer()).toMatchObject({ status: 200, body: { category: "personal" } })
  }
  process.kill(server.pid, "SIGTERM")
  expect(await server.exited).toBe(0)
})
