import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { CHECKOUT_COMMAND } from "../../../src/http/site/docs/command-lines.ts"
import { HAPROXY_COMMANDS } from "../../../src/http/site/docs/inserts/operation-inserts.tsx"
import { ROOT } from "../../architecture/source-files.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openSite } from "../../support/open-site.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../../support/postgres.ts"
import { type Ended, type Program, startProgram } from "../../support/program.ts"

setDefaultTimeout(180_000)

const NAMED = POSTGRES_PROGRAMS === null ? " (skipped: PostgreSQL is not installed)" : ""

const PAGE = await (await openSite()(ROUTES.docsScaling.path)).text()

/** The commands of the page under a caption, as the executable's own page has them. */
const commands = (caption: string): string => (sampleIn(PAGE, caption) ?? "").replaceAll(CHECKOUT_COMMAND, "mailkind")
const MOVE = commands("Move")
const DUMP = commands("Dump")
const RESTORE = commands("Restore")

/** An operator's shell: `mailkind` is this checkout, and PostgreSQL's programs find a server that is new. */
async function operator() {
  const cluster = await startPostgres()
  const directory = mkdtempSync(join(tmpdir(), "mailkind-scaling-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  onTestEnd(cluster.remove)
  const command = join(directory, "mailkind")
  writeFileSync(command, `#!/bin/sh\nexec ${PROGRAM.map(word => `"${word}"`).join(" ")} "$@"\n`)
  chmodSync(command, 0o755)
  const environment = {
    HOME: directory,
    PATH: [directory, POSTGRES_PROGRAMS, process.env["PATH"]].join(delimiter),
    PGHOST: "127.0.0.1",
    PGPORT: String(cluster.port),
    PGUSER: "mailkind",
    MAILKIND_DATA_DIR: join(directory, "data"),
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_IDENTITY_URL: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
  }
  const shell = (text: string, isMoved: boolean): Program => {
    const here = text.replaceAll("/var/backups", directory)
    const more = isMoved ? { MAILKIND_DATABASE_URL: cluster.url("mailkind") } : {}
    const program = startProgram(["sh", "-ec", here], directory, { ...environment, ...more })
    onTestEnd(program.kill)
    return program
  }
  const serve = async (isMoved: boolean) => {
    const program = shell("exec mailkind serve", isMoved)
    const printed = await program.printed(/listens on \S+[\s\S]*?(?:curl|$)/)
    return { program, printed, url: /listens on (\S+)/.exec(printed)?.[1] ?? "" }
  }
  return { shell, serve, run: (text: string): Promise<Ended> => shell(text, true).ended() }
}

const usageOf = async (url: string, key: string): Promise<number> =>
  (await askLoopback(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })).status

test.skipIf(POSTGRES_PROGRAMS === null)(
  `the commands of the page move an installation, keep it and put it back${NAMED}`,
  async () => {
    const { shell, serve, run } = await operator()
    const before = await serve(false)
    const key = /svc_live_\w{38}/.exec(await before.program.printed(/svc_live_\w{38}/))?.[0] ?? ""
    await before.program.stop()

    const moved = await run(MOVE)
    expect(moved).toMatchObject({ code: 0 })
    expect(moved.out).toContain("The copy is in postgres://127.0.0.1:")
    expect(await run(DUMP)).toMatchObject({ code: 0 })
    expect((await run("mailkind account create later@example.com")).code).toBe(0)
    const node = await serve(true)
    expect(await usageOf(node.url, key)).toBe(200)
    await node.program.stop()

    expect(await run(RESTORE)).toMatchObject({ code: 0 })
    const accounts = await run("mailkind account list")
    expect(accounts.out).toContain("owner@localhost")
    expect(accounts.out).not.toContain("later@example.com")
    const again = await serve(true)
    expect(await usageOf(again.url, key)).toBe(200)
    await again.program.stop()

    // The way back: what was there before is there still.
    const back = await shell("mailkind account list", false).ended()
    expect(back.out).toContain("owner@localhost")
  },
)

test("the page shows what is run: the balancer's file and its lines", async () => {
  expect(`${commands("haproxy.cfg")}\n`).toBe(await Bun.file(join(ROOT, "data/deploy/haproxy.cfg")).text())
  for (const line of Object.values(HAPROXY_COMMANDS)) expect(commands("On the balancer")).toContain(line)
})
