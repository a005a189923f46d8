import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { startProgram } from "../../support/program.ts"
import { samplesOf } from "../../support/prometheus.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { connectionsByWorker } from "./connections.ts"
import { environment, startWorkersServer, type WorkersServer } from "./workers-server.ts"

setDefaultTimeout(120_000)

const GMAIL = { domain: "gmail.com" }
const CHECKS = 'mailkind_http_requests_total{route="POST /v1/check",code="200"}'

async function scraped(port: number): Promise<ReadonlyMap<string, number>> {
  const { status, body } = await askLoopback(`http://127.0.0.1:${port}/metrics`)
  expect(status).toBe(200)
  return samplesOf(body)
}

/** Asks each worker so often. */
async function askEach(server: WorkersServer, times: number): Promise<number> {
  using seats = await connectionsByWorker(server)
  for (const each of seats.connections.flatMap(all => all.slice(0, 1)))
    for (let count = 0; count < times; count++) {
      each.check(server.firstKey, GMAIL)
      expect((await each.answer()).status).toBe(200)
    }
  return seats.connections.flat().length + seats.connections.length * times
}

test("what all workers counted is told by a listener of its own, and a death forgets none of it", async () => {
  const port = freePort()
  await using server = await startWorkersServer({
    MAILKIND_METRICS: `127.0.0.1:${port}`,
  })
  const requests = await askEach(server, 5)
  expect((await scraped(port)).get(CHECKS)).toBe(requests)
  const [victim] = server.workers()
  sendSignal(victim, "SIGKILL")
  await server.logged(({ msg, pid }) => msg === "a worker listens" && pid !== victim && pid !== server.workers()[1], 1)
  expect((await scraped(port)).get(CHECKS)).toBe(requests)
  const more = await askEach(server, 2)
  expect((await scraped(port)).get(CHECKS)).toBe(requests + more)
  expect((await askLoopback(`http://127.0.0.1:${port}/v1/health`)).status).toBe(404)
  process.kill(server.pid, "SIGTERM")
  expect(await server.exited).toBe(0)
})

test("a port for metrics that is taken is told when the server starts", async () => {
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, "127.0.0.1", resolve))
  const address = taken.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const directory = mkdtempSync(join(tmpdir(), "mailkind-metrics-"))
  const settings = { ...environment(directory), MAILKIND_METRICS: `127.0.0.1:${port}` }
  for (const words of [["serve"], ["serve", "--workers", "2"]]) {
    const { code, err } = await startProgram([...PROGRAM, ...words], directory, settings).ended()
    expect([words, code, err]).toEqual([words, 1, expect.stringContaining("Set MAILKIND_METRICS.")])
  }
  taken.close()
  rmSync(directory, { recursive: true, force: true })
})
