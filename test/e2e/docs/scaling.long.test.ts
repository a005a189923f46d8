import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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
import { PGBOUNCER, startPooler } from "../../support/pgbouncer.ts"
import { POSTGRES_PROGRAMS, type PostgresCluster, startPostgres } from "../../support/postgres.ts"
import { type Ended, type Program, startProgram } from "../../support/program.ts"

setDefaultTimeout(180_000)

const NAMED = POSTGRES_PROGRAMS === null ? " (skipped: PostgreSQL is not installed)" : ""

const PAGE = await (await openSite()(ROUTES.docsScaling.path)).text()

/** The commands of the page under a caption, as the executable's own page has them. */
const commands = (caption: string): string => (sampleIn(PAGE, caption) ?? "").replaceAll(CHECKOUT_COMMAND, "mailkind")
const CREATE = commands("Create the database")
const MOVE = commands("Move")
const DUMP = commands("Dump")
const RESTORE = commands("Restore")
const POOLER_USERS = commands("Users of PgBouncer")

/** Has the server ask users for passwords but its superuser, who is `postgres`: that of the tests takes another name. */
function asInstalled({ program, url, directory }: PostgresCluster): void {
  const ask = (user: string, sql: string) =>
    program("psql", "--quiet", "--dbname", url("postgres").replace("mailkind@", `${user}@`), "--command", sql)
  ask("mailkind", "CREATE ROLE postgres LOGIN SUPERUSER")
  ask("postgres", "ALTER ROLE mailkind RENAME TO of_tests")
  const rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
  writeFileSync(join(directory, "data/pg_hba.conf"), rules)
  ask("postgres", "SELECT pg_reload_conf()")
}

/** An operator's shell: `mailkind` is this checkout, and PostgreSQL's programs find a server that is new. */
async function operator() {
  const cluster = await startPostgres()
  asInstalled(cluster)
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
    PGUSER: "postgres",
    MAILKIND_DATA_DIR: join(directory, "data"),
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_IDENTITY_URL: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
  }
  const databaseUrl = cluster.url("mailkind").replace("mailkind@", "mailkind:a%20password%20of%20your%20own@")
  const shell = (text: string, isMoved: boolean, url = databaseUrl): Program => {
    const here = text.replaceAll(/\/var\/backups|\/etc\/pgbouncer/g, directory)
    const more = isMoved ? { MAILKIND_DATABASE_URL: url } : {}
    const program = startProgram(["sh", "-ec", here], directory, { ...environment, ...more })
    onTestEnd(program.kill)
    return program
  }
  const serve = async (isMoved: boolean) => {
    const program = shell("exec mailkind serve", isMoved)
    const printed = await program.printed(/listens on \S+[\s\S]*?(?:curl|$)/)
    return { program, printed, url: /listens on (\S+)/.exec(printed)?.[1] ?? "" }
  }
  const run = (text: string): Promise<Ended> => shell(text, true).ended()
  return { shell, serve, run, cluster, directory, databaseUrl }
}

/** Makes the tables those of an earlier version, as its dump has them. */
const EARLIER = `psql --quiet --set=ON_ERROR_STOP=1 --dbname="$MAILKIND_DATABASE_URL" <<'END'
DROP TABLE request_log_sizes, lists_file_parts, lists_files, lists_head;
DROP INDEX admin_acts_of_operators, admin_acts_of_accounts;
ALTER TABLE nodes DROP COLUMN settings;
DELETE FROM migrations WHERE number > 37;
END`

const usageOf = async (url: string, key: string): Promise<number> =>
  (await askLoopback(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })).status

test.skipIf(POSTGRES_PROGRAMS === null)(
  `the commands of the page move an installation, keep it and put it back${NAMED}`,
  async () => {
    const { shell, serve, run } = await operator()
    const before = await serve(false)
    const key = /svc_live_\w{38}/.exec(await before.program.printed(/svc_live_\w{38}/))?.[0] ?? ""
    await before.program.stop()

    expect(await run(CREATE)).toMatchObject({ code: 0 })
    const moved = await run(MOVE)
    expect(moved).toMatchObject({ code: 0 })
    expect(moved.out).toContain("The copy is in postgres://127.0.0.1:")
    expect(await run(EARLIER)).toMatchObject({ code: 0 })
    expect(await run(DUMP)).toMatchObject({ code: 0 })
    // A command migrates the tables, so that the dump is from before an upgrade.
    expect((await run("mailkind account create later@example.com")).code).toBe(0)
    const node = await serve(true)
    expect(await usageOf(node.url, key)).toBe(200)
    const id = /key_\w+/.exec((await run("mailkind key list --account owner@localhost")).out)?.[0]
    expect((await run(`mailkind key revoke ${id}`)).code).toBe(0)
    while ((await usageOf(node.url, key)) !== 401);
    await node.program.stop()

    // A restore that fails, even at its end, changes nothing.
    for (const broken of [
      RESTORE.replace("\nEND", "\nSELECT 1 / 0;\nEND"),
      RESTORE.replace("mailkind.dump", "no.dump"),
    ]) {
      expect(broken).not.toBe(RESTORE)
      expect((await run(broken)).code).not.toBe(0)
    }
    expect((await run("mailkind account list")).out).toContain("later@example.com")
    expect(await run(RESTORE)).toMatchObject({ code: 0 })
    const accounts = await run("mailkind account list")
    expect(accounts.out).toContain("owner@localhost")
    expect(accounts.out).not.toContain("later@example.com")
    const again = await serve(true)
    expect(await usageOf(again.url, key)).toBe(200)
    expect(await again.program.complained(/the database is in an earlier state.*/)).toContain("revoke them again")
    await again.program.stop()

    // The way back: what was there before is there still.
    const back = await shell("mailkind account list", false).ended()
    expect(back.out).toContain("owner@localhost")
  },
)

test.skipIf(POSTGRES_PROGRAMS === null || PGBOUNCER === null)(
  "the pooler's file of the page lets in who has the password of the database, and nobody else",
  async () => {
    const { shell, run, cluster, directory, databaseUrl } = await operator()
    expect(await run(CREATE)).toMatchObject({ code: 0 })
    expect(await run(POOLER_USERS)).toMatchObject({ code: 0 })
    const users = join(directory, "userlist.txt")
    expect(readFileSync(users, "utf8")).toMatch(/^"mailkind" "SCRAM-SHA-256[^"]+"\n$/)
    // Where the user of PgBouncer may read, as an operator has it.
    const readable = join(cluster.directory, "userlist.txt")
    writeFileSync(readable, readFileSync(users), { mode: 0o644 })
    const settings = { auth_type: "scram-sha-256", auth_file: readable }
    const port = String(await startPooler(cluster.port, settings))
    const pooled = databaseUrl.replace(String(cluster.port), port)
    expect((await shell("mailkind account create pooled@example.com", true, pooled).ended()).code).toBe(0)
    expect((await run("mailkind account list")).out).toContain("pooled@example.com")
    const other = shell("mailkind account list", true, pooled.replace("of%20your", "of%20another"))
    expect((await other.ended()).code).not.toBe(0)
  },
)

test("the page shows what is run: the files of the balancer and the pooler, and the balancer's lines", async () => {
  for (const name of ["haproxy.cfg", "pgbouncer.ini"])
    expect(`${commands(name)}\n`).toBe(await Bun.file(join(ROOT, "data/deploy", name)).text())
  for (const line of Object.values(HAPROXY_COMMANDS)) expect(commands("On the balancer")).toContain(line)
})
