import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { until } from "../../support/until.ts"
import { environment, startWorkersServer } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

const statusOf = async (port: number, path: string): Promise<number> =>
  (await askLoopback(`http://127.0.0.1:${port}${path}`)).status

/** Kills one worker, and waits until another one listens in its place. */
async function replaceWorker(server: Awaited<ReturnType<typeof startWorkersServer>>): Promise<void> {
  const listening = server.lines.filter(({ msg }) => msg === "a worker listens").length
  sendSignal(server.workers()[0], "SIGKILL")
  await server.logged(({ msg }) => msg === "a worker listens", listening + 1)
}

describe("a worker that starts later", () => {
  test("logs every line after SIGUSR2, which ends no worker when the whole group gets it", async () => {
    await using server = await startWorkersServer()
    const pids = server.workers()
    for (const pid of [server.pid, ...pids]) sendSignal(pid, "SIGUSR2")
    await server.logged(({ msg }) => msg === "every line is logged")
    await replaceWorker(server)
    await until(
      async () => {
        await statusOf(server.port, "/nowhere")
        return server.lines.some(({ msg, worker }) => msg === "a request was refused" && worker === 0)
      },
      () => "the new worker logs no refused request",
    )
    expect(server.lines.filter(({ msg }) => msg === "a worker ended and is replaced")).toHaveLength(1)
  })

  test("says that the server stops when that was announced before", async () => {
    await using server = await startWorkersServer({ MAILKIND_STOP_DELAY_MS: "600000" })
    process.kill(server.pid, "SIGTERM")
    await until(
      async () => (await statusOf(server.port, "/v1/health")) === 503,
      () => "the stop is not announced",
    )
    await replaceWorker(server)
    for (let at = 0; at < 12; at++) expect(await statusOf(server.port, "/v1/health")).toBe(503)
    process.kill(server.pid, "SIGINT")
    expect(await server.exited).toBe(0)
  })
})

test.each([
  ["nobody reads its log any more", "head -n 1 log >first"],
  ["the reader of its log hangs", "sleep 600 <log"],
])("a server goes on when %s", async (_, reader) => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-log-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { ...environment(directory), MAILKIND_LOG: "debug" }
  const script = `mkfifo log; ${reader} & echo $! >reader; exec "$@" 2>log`
  const server = Bun.spawn(["sh", "-c", script, "sh", ...PROGRAM, "serve"], { cwd: directory, env, stdout: "pipe" })
  onTestEnd(() => {
    server.kill("SIGKILL")
    // The reader may have ended by itself.
    Bun.spawnSync(["kill", readFileSync(join(directory, "reader"), "utf8").trim()])
  })
  let printed = ""
  for await (const chunk of server.stdout) {
    printed += new TextDecoder().decode(chunk)
    // The last line of a start: who closes its output before ends it.
    if (/leads to the dashboard\.\n/.test(printed)) break
  }
  const port = Number(/listens on http:\/\/[^:\s]+:(\d+)/.exec(printed)?.[1])
  for (let at = 0; at < 500; at++) expect(await statusOf(port, "/nowhere")).toBe(404)
  server.kill("SIGTERM")
  expect(await server.exited).toBe(0)
})
