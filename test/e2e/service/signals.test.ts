import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { until } from "../../support/until.ts"
import { environment, startWorkersServer } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

const statusOf = async (port: number, path: string): Promise<number> =>
  (await askLoopback(`http://127.0.0.1:${port}${path}`)).status

/** Kills one worker, and waits until another one listens in its place. */
async function replaceWorker(server: Awaited<ReturnType<typeof startWorkersServer>>): Promise<void> {
  const listening = server.lines.filter(({ says }) => says === "a worker listens").length
  process.kill(server.workers()[0] ?? 0, "SIGKILL")
  await server.logged(({ says }) => says === "a worker listens", listening + 1)
}

describe("a worker that starts later", () => {
  test("logs every line after SIGUSR2, which ends no worker when the whole group gets it", async () => {
    await using server = await startWorkersServer()
    const pids = server.workers()
    for (const pid of [server.pid, ...pids]) process.kill(pid, "SIGUSR2")
    await server.logged(({ says }) => says === "every line is logged")
    await replaceWorker(server)
    await until(
      async () => {
        await statusOf(server.port, "/nowhere")
        return server.lines.some(({ says, worker }) => says === "a request was refused" && worker === 0)
      },
      () => "the new worker logs no refused request",
    )
    expect(server.lines.filter(({ says }) => says === "a worker ended and is replaced")).toHaveLength(1)
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
    process.kill(server.pid, "SIGTERM")
    expect(await server.exited).toBe(0)
  })
})

test("a server goes on when nobody reads its log any more", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-log-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { ...environment(directory), MAILKIND_LOG: "debug" }
  // The reader of the log ends after its first line.
  const script = 'mkfifo log; head -n 1 log >first & exec "$@" 2>log'
  const server = Bun.spawn(["sh", "-c", script, "sh", ...PROGRAM, "serve"], { cwd: directory, env, stdout: "pipe" })
  onTestEnd(() => server.kill("SIGKILL"))
  let printed = ""
  for await (const chunk of server.stdout) {
    printed += new TextDecoder().decode(chunk)
    if (/listens on \S+\n/.test(printed)) break
  }
  const port = Number(/listens on http:\/\/[^:\s]+:(\d+)/.exec(printed)?.[1])
  for (let at = 0; at < 50; at++) expect(await statusOf(port, "/nowhere")).toBe(404)
  server.kill("SIGTERM")
  expect(await server.exited).toBe(0)
})
