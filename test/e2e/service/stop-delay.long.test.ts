import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { until } from "../../support/until.ts"
import { environment, startWorkersServer } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

const statusOf = async (url: string, path: string): Promise<number> =>
  (await askLoopback(new URL(path, url).href)).status

/** Asks until the health of the server is that of one that stops. */
async function untilAnnounced(url: string): Promise<void> {
  await until(
    async () => (await statusOf(url, "/v1/health")) === 503,
    () => "the stop is not announced",
  )
}

async function startServer(delayMs: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-stop-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { ...environment(directory), MAILKIND_STOP_DELAY_MS: delayMs }
  const server = startProgram([...PROGRAM, "serve"], directory, env)
  onTestEnd(server.kill)
  const url = /listens on (\S+)/.exec(await server.printed(/listens on \S+\n/))?.[1] ?? ""
  return { server, url }
}

const CHECK = "/v1/check?email=business@mailkind.test"

test("after SIGTERM the health is 503 and everything else is served", async () => {
  const { server, url } = await startServer("600000")
  expect(await statusOf(url, "/v1/health")).toBe(200)
  process.kill(server.pid, "SIGTERM")
  await untilAnnounced(url)
  expect([await statusOf(url, CHECK), await statusOf(url, "/docs")]).toEqual([200, 200])
})

test("the delay ends by itself", async () => {
  const { server } = await startServer("200")
  process.kill(server.pid, "SIGTERM")
  expect(await server.ended()).toMatchObject({ code: 0 })
})

test("a second signal ends the delay, and Ctrl-C does not wait for it", async () => {
  for (const signals of [["SIGTERM", "SIGINT"], ["SIGINT"]] as const) {
    const { server, url } = await startServer("600000")
    for (const [at, signal] of signals.entries()) {
      if (at > 0) await untilAnnounced(url)
      process.kill(server.pid, signal)
    }
    expect([signals, (await server.ended()).code]).toEqual([signals, 0])
  }
})

test("a server of workers announces the stop and serves on, also when the whole group is asked to stop", async () => {
  for (const isGroup of [false, true]) {
    await using server = await startWorkersServer({ MAILKIND_STOP_DELAY_MS: "600000" })
    const url = `http://127.0.0.1:${server.port}`
    process.kill(isGroup ? -server.pid : server.pid, "SIGTERM")
    await untilAnnounced(url)
    for (let at = 0; at < 6; at++) expect(await statusOf(url, "/docs")).toBe(200)
    process.kill(server.pid, "SIGINT")
    expect([isGroup, await server.exited]).toEqual([isGroup, 0])
  }
})
