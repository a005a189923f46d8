import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import manifest from "../../../package.json" with { type: "json" }
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { environment } from "../workers/workers-server.ts"

setDefaultTimeout(60_000)

/** What `serve --replace` says while something answers so on its port. */
async function replacing(body: unknown, words: readonly string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-replace-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json(body) })
  onTestEnd(() => other.stop(true))
  const env = { ...environment(directory), MAILKIND_PORT: String(other.port) }
  const program = startProgram([...PROGRAM, "serve", "--replace", ...words], directory, env)
  onTestEnd(program.kill)
  return await program.ended()
}

test.each([[[]], [["--workers", "2"]]])(
  "`serve --replace` (%p) onto a version that cannot hand over names that version and its own, and ends",
  async words => {
    const { code, err } = await replacing({ status: "ok", version: "0.9.0", uptime_seconds: 5 }, words)
    expect([code, err]).toEqual([1, expect.stringContaining(`has version 0.9.0`)])
    expect(err).toContain(`to this one (${manifest.version})`)
  },
)

test("`serve --replace` onto another program says that the port is in use", async () => {
  const { code, err } = await replacing({ version: "9" })
  expect([code, err]).toEqual([1, expect.stringContaining("in use")])
  expect(err).not.toContain("version 9")
})
