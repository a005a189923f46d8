import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openSite } from "../../support/open-site.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(120_000)

const PAGE = await (await openSite()(ROUTES.docsPlatforms.path)).text()
const commands = (caption: string): string => {
  const text = sampleIn(PAGE, caption)
  if (text === null || text === undefined) throw new Error(`the page has no ${caption}`)
  return text
}

test("the commands for Linux lead from an empty directory to a verdict", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-platform-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "mailkind"), `#!/bin/sh\nexec ${PROGRAM.map(word => `"${word}"`).join(" ")} "$@"\n`)
  chmodSync(join(directory, "mailkind"), 0o755)
  const port = String(freePort())
  const env = {
    HOME: directory,
    PATH: process.env["PATH"],
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
  }
  // The second part is for the same shell as the first.
  const exported = commands("Linux, the start").split("\n")[0] ?? ""
  const shell = (text: string) => {
    const program = startProgram(["sh", "-ec", `${exported}\n${text.replaceAll("8080", port)}`], directory, env)
    onTestEnd(program.kill)
    return program
  }
  const start = shell(`${commands("Linux, the start")}\necho $! > pid; wait`)
  const printed = await start.printed(/was created with the secret key of MAILKIND_FIRST_KEY/)
  for (const line of commands("Linux, what it prints").split("\n"))
    expect(printed.replace(/ +/g, " ")).toContain(line.replace(/ +/g, " "))
  expect(statSync(join(directory, "first-key")).mode & 0o777).toBe(0o600)
  expect(printed).not.toContain(readFileSync(join(directory, "first-key"), "utf8").trim())
  const { code, out } = await shell(commands("Linux, a verdict")).ended()
  expect([code, out]).toEqual([0, expect.stringContaining('"category":"disposable"')])
  expect(out).toContain("owner@localhost")
  expect((await askLoopback(`http://127.0.0.1:${port}/v1/health`)).status).toBe(200)
  process.kill(Number(readFileSync(join(directory, "pid"), "utf8")), "SIGTERM")
  await start.ended()
})

test("every file that the page names is in the repository", async () => {
  const named = [...PAGE.matchAll(/data\/deploy\/[\w@./-]+\.(?:yaml|service|env)/g)].map(([path]) => path)
  expect(new Set(named).size).toBeGreaterThan(4)
  for (const path of named) expect([path, await Bun.file(join(ROOT, path)).exists()]).toEqual([path, true])
})
