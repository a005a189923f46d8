import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onPostgres } from "../../customers/engines.ts"
import { tempPlace } from "../../customers/temp-store.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { startTcpProxy } from "../../support/tcp-proxy.ts"
import { environment } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

/** A server whose database is away when it starts. `mend` brings the database. */
async function startWithout(waitS: number, ...words: readonly string[]) {
  const database = new URL(tempPlace())
  const way = await startTcpProxy(Number(database.port))
  onTestEnd(way.stop)
  database.port = String(way.port)
  const mend = way.refuse()
  const directory = mkdtempSync(join(tmpdir(), "mailkind-wait-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = {
    ...environment(directory),
    MAILKIND_DATABASE_URL: database.href,
    MAILKIND_DATABASE_WAIT_S: String(waitS),
  }
  const server = startProgram([...PROGRAM, "serve", ...words], directory, env)
  onTestEnd(server.kill)
  return { server, mend, way }
}

/** A server whose database falls silent in the middle of its start, when this is sent to it. `mend` lets it answer again. */
async function startSilencedAt(sent: string, ...words: readonly string[]) {
  const { server, mend, way } = await startWithout(60, ...words)
  const answer = way.dropDataFrom(sent)
  await mend()
  return { server, mend: answer }
}

const WAITS = /"the start waits for the database"/g

for (const [kind, words] of [
  ["a server", []],
  ["a server of workers", ["--workers", "2"]],
] as const) {
  onPostgres(`${kind} waits for a database that is away at its start, and says so once`, async () => {
    const { server, mend } = await startWithout(60, ...words)
    expect(await server.complained(WAITS)).toContain('"fault":"away"')
    await mend()
    await server.printed(/listens on/)
    const { code, err } = await server.stop()
    expect([code, code === 0 ? "" : err]).toEqual([0, ""])
    expect([err.match(WAITS)?.length, err.match(/"msg":"the database answers"/g)?.length]).toEqual([1, 1])
  })

  onPostgres(`${kind} whose database falls silent in the middle of its start waits for it all the same`, async () => {
    const { server, mend } = await startSilencedAt("FROM change_head", ...words)
    await server.complained(/"the database does not answer"/)
    mend()
    await server.printed(/svc_live_/)
    expect((await server.stop()).code).toBe(0)
  })

  onPostgres(`${kind} that waits for its database ends when it is asked to`, async () => {
    const { server } = await startWithout(60, ...words)
    await server.complained(WAITS)
    expect((await server.stop()).code).toBe(0)
  })

  onPostgres(`${kind} that may not wait ends with what is wrong`, async () => {
    const { server } = await startWithout(0, ...words)
    const { code, err } = await server.ended()
    expect([code, err]).toEqual([1, expect.stringContaining("The database cannot be reached.")])
    expect(err).not.toMatch(WAITS)
  })
}
