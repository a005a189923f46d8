import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { checkBackup } from "../../../src/customers/store/backup/restore.ts"
import { SCHEMA_VERSION } from "../../../src/customers/store/migrations/migrations.ts"
import { CHECKOUT_COMMAND } from "../../../src/http/site/docs/command-lines.ts"
import { integrityOf } from "../../customers/crash.ts"
import { createOlderDatabase } from "../../customers/store/migrations/older-database.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { freePort } from "../../support/free-port.ts"
import { LITESTREAM } from "../../support/litestream.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openSite } from "../../support/open-site.ts"
import { type Ended, type Program, startProgram } from "../../support/program.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "../faults/customer.ts"

setDefaultTimeout(300_000)

const PAGE = await (await openSite()(ROUTES.docsPointInTime.path)).text()

/** The text of the page under a caption, as the executable's own page has it. */
function sample(caption: string): string {
  const text = sampleIn(PAGE, caption)
  if (text === null) throw new Error(`the page has no ${caption}`)
  return text.replaceAll(CHECKOUT_COMMAND, "mailkind")
}

/** Litestream with the settings of the page, beside the database of a data directory. */
class Replication {
  readonly directory: string
  readonly #dataDirectory: string
  #program: Program | null = null

  constructor(dataDirectory: string) {
    this.directory = mkdtempSync(join(tmpdir(), "mailkind-litestream-"))
    this.#dataDirectory = dataDirectory
    onTestEnd(async () => {
      await this.kill()
      rmSync(this.directory, { recursive: true, force: true })
    })
    writeFileSync(join(this.directory, "litestream.yml"), this.here(sample("/etc/litestream.yml")))
  }

  /** A text of the page with the places of this test. */
  here(text: string): string {
    return text
      .replaceAll("/var/lib/mailkind-replica", join(this.directory, "replica"))
      .replaceAll("/var/lib/mailkind", this.#dataDirectory)
      .replaceAll("/var/backups", this.directory)
      .replaceAll("/etc/litestream.yml", join(this.directory, "litestream.yml"))
      .replaceAll("/usr/bin/litestream", "litestream")
      .replaceAll("127.0.0.1:9191", `127.0.0.1:${freePort()}`)
  }

  /** A shell in which `litestream` is the real one, with these settings. */
  shell(text: string, env: Readonly<Record<string, string>> = {}): Program {
    const path = [this.directory, dirname(LITESTREAM ?? ""), process.env["PATH"]].join(delimiter)
    const settings = { LITESTREAM_CONFIG: join(this.directory, "litestream.yml") }
    return startProgram(["sh", "-ec", text], this.directory, { HOME: this.directory, ...settings, ...env, PATH: path })
  }

  /** Starts it by the line of the unit. */
  start(): void {
    const line = /^ExecStart=(.*)$/m.exec(sample("/etc/systemd/system/litestream.service"))?.[1] ?? ""
    this.#program = this.shell(`exec ${this.here(line)}`)
  }

  async stop(): Promise<void> {
    await this.#program?.stop()
    this.#program = null
  }

  async kill(): Promise<void> {
    await this.#program?.kill()
    this.#program = null
  }

  /** What the replica has now, as a database; null: nothing yet. */
  async restored(): Promise<string | null> {
    const file = join(this.directory, `seen-${Bun.randomUUIDv7()}`)
    const { code } = await this.shell(`litestream restore -o ${file} ${this.#dataDirectory}/mailkind.sqlite`).ended()
    return code === 0 && existsSync(file) ? file : null
  }

  /** Resolves when the replica has an account with this email, or a key with this id. */
  async has(emailOrId: string): Promise<void> {
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const file = await this.restored()
      if (file !== null && valuesOf(file, "SELECT email FROM accounts UNION SELECT id FROM keys").has(emailOrId)) return
    }
    throw new Error(`the replica never had ${emailOrId}`)
  }

  /** How often Litestream has begun anew, with a complete copy. */
  get generationsCount(): number {
    return readdirSync(join(this.directory, "replica/generations")).length
  }
}

/** Each look starts a program. */
const LOOKS_MAX = 400

function valuesOf(file: string, sql: string): Set<string> {
  using database = new Database(file, { readonly: true })
  return new Set(database.query(sql).values().flat().map(String))
}

test.skipIf(LITESTREAM === null)("Litestream reads the bucket of the page as a replica of the database", async () => {
  const replication = new Replication("/var/lib/mailkind")
  writeFileSync(join(replication.directory, "litestream.yml"), sample("A bucket as the replica"))
  const { out } = await replication.shell("litestream databases").ended()
  expect(out).toMatch(/\/var\/lib\/mailkind\/mailkind\.sqlite +s3$/m)
})

const NAMED = LITESTREAM === null ? " (skipped: the package @flydotio/litestream has no program for this system)" : ""

test.skipIf(LITESTREAM === null)(
  `the commands of the page restore a moment with the revocation of after it, and an installation whose disk is lost${NAMED}`,
  async () => {
    const data = mkdtempSync(join(tmpdir(), "mailkind-moment-"))
    onTestEnd(() => rmSync(data, { recursive: true, force: true }))
    const replication = new Replication(data)
    const host = operatorOf(replication, data)
    await host.run("systemctl start mailkind@a && systemctl start litestream")
    const { key: kept } = await host.newKey("before@example.com")
    const { id, key: revoked } = await host.newKey("owner@localhost")
    await replication.has(id)
    const moment = new Date().toISOString()
    await host.newKey("after@example.com")
    await host.run(`mailkind key revoke ${id}`)
    await replication.has("after@example.com")
    expect((await host.run("mailkind doctor --only backups")).out).toContain("Litestream copies the changes")

    await host.run(sample("Restore a moment").replace(/(?<=-timestamp )\S+/, moment))
    const accounts = async () => (await host.run("mailkind account list")).out
    expect(await accounts()).toContain("before@example.com")
    expect(await accounts()).not.toContain("after@example.com")
    expect([await host.usage(kept), await host.usage(revoked)]).toEqual([200, 401])
    await replication.has("before@example.com")

    await host.run("systemctl stop mailkind@a && systemctl stop litestream")
    rmSync(data, { recursive: true })
    mkdirSync(data)
    await host.run(sample("Restore the latest state"))
    await host.run("systemctl start mailkind@a && systemctl start litestream")
    expect(await accounts()).toContain("before@example.com")
    expect([await host.usage(kept), await host.usage(revoked)]).toEqual([200, 401])
    await host.run("systemctl stop mailkind@a && systemctl stop litestream")
  },
)

/** An operator's shell: `mailkind` is this checkout, and `systemctl` starts and stops as much as the page asks it to. */
function operatorOf(replication: Replication, data: string) {
  const { directory } = replication
  const env = {
    MAILKIND_DATA_DIR: data,
    MAILKIND_PORT: String(freePort()),
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_IDENTITY_URL: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
  }
  const program = (name: string, text: string): void => {
    writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  program("mailkind", `exec ${PROGRAM.map(word => `"${word}"`).join(" ")} "$@"`)
  program("systemctl", SYSTEMCTL.replace("UNIT", replication.here("litestream replicate -config /etc/litestream.yml")))
  const run = async (text: string): Promise<Ended> => {
    const ended = await replication.shell(replication.here(text), env).ended()
    if (ended.code !== 0) throw new Error(`${text} ended with ${ended.code}: ${ended.out}${ended.err}`)
    return ended
  }
  onTestEnd(
    async () => void (await replication.shell("systemctl stop mailkind@a; systemctl stop litestream", env).ended()),
  )
  return {
    run,
    /** A new key of an account, which is created if it is not there. */
    newKey: async (email: string) => {
      if (email !== "owner@localhost") await run(`mailkind account create ${email}`)
      const { out } = await run(`mailkind key create --account ${email} --name one --json`)
      const created: { readonly id: string; readonly key: string } = JSON.parse(out)
      return created
    },
    usage: async (key: string): Promise<number> => {
      const url = `http://127.0.0.1:${env.MAILKIND_PORT}/v1/usage`
      return (await askLoopback(url, { headers: { authorization: `Bearer ${key}` } })).status
    },
  }
}

/** Starts and stops by files with process ids. It waits as the real one does: for a server that listens, and for an end. */
const SYSTEMCTL = `name=$2
case $1 in
start)
  case $name in mailkind@a) set -- mailkind serve ;; *) set -- UNIT ;; esac
  "$@" >"$name.log" 2>&1 </dev/null & echo $! >"$name.pid"
  [ "$name" = litestream ] || until grep -q 'listens on' "$name.log"; do kill -0 $(cat "$name.pid") || exit 1; done ;;
stop)
  [ -f "$name.pid" ] || exit 0
  pid=$(cat "$name.pid"); kill $pid; rm "$name.pid"; tail --pid=$pid -f /dev/null ;;
esac`

test.skipIf(LITESTREAM === null)(
  `servers and Litestreams that are killed at any moment leave a replica with all that was acknowledged${NAMED}`,
  async () => {
    await using victim = new TestServer({ settings: CUSTOMER_SETTINGS })
    const replication = new Replication(victim.dataDirectory)
    await victim.start()
    replication.start()
    const desk = new Customer(victim, 0)
    await desk.signIn()
    const work = async (): Promise<void> => {
      for (let deed = 0; deed < 40; deed++) await desk.block()
      for (let deed = 0; deed < 4; deed++) await desk.changeKeys()
    }
    const deeds: Readonly<Record<string, () => Promise<void>>> = {
      "the server": () => victim.kill().then(() => victim.start()),
      Litestream: () => replication.kill(),
      both: () => Promise.all([victim.kill(), replication.kill()]).then(() => victim.start()),
      none: async () => undefined,
    }
    for (const kill of Object.values(deeds)) {
      await work()
      // What is under way at that moment may be lost, and is not acknowledged.
      const underWay = desk.block().catch(() => undefined)
      await Promise.all([kill(), underWay])
      await work()
      await replication.stop()
      replication.start()
    }
    expect(await desk.lost()).toEqual([])
    expect((await victim.command("account", "create", "beside@example.com")).code).toBe(0)
    await replication.has("beside@example.com")
    expect(await victim.stop()).toBe(0)
    const beside = await victim.command("restore", (await replication.restored()) ?? "")
    expect([beside.code, beside.err]).toEqual([1, expect.stringContaining("a server or Litestream runs on it")])
    await replication.stop()
    const latest = (await replication.restored()) ?? ""
    expect(integrityOf(latest)).toEqual([])
    const has = valuesOf(latest, "SELECT entry FROM own_list_entries")
    expect(desk.entries.filter(entry => !has.has(entry))).toEqual([])
    const revoked = valuesOf(latest, "SELECT id FROM keys WHERE revoked_at_ms IS NOT NULL")
    const told = [...desk.keys].filter(([, { state }]) => state === "revoked").map(([id]) => id)
    expect([told.length > 0, told.filter(id => !revoked.has(id))]).toEqual([true, []])

    // A restore begins a new generation, in which nothing of the one before is.
    const before = replication.generationsCount
    expect((await victim.command("restore", latest)).code).toBe(0)
    await victim.start()
    replication.start()
    expect((await victim.command("account", "create", "later@example.com")).code).toBe(0)
    await replication.has("later@example.com")
    expect(replication.generationsCount).toBe(before + 1)
    expect(integrityOf((await replication.restored()) ?? "")).toEqual([])
  },
)

test.skipIf(LITESTREAM === null)(
  `a server migrates a database that Litestream has open, and the replica has the tables of the new version${NAMED}`,
  async () => {
    const database = createOlderDatabase(SCHEMA_VERSION - 1)
    const replication = new Replication(dirname(database))
    replication.start()
    await replication.has("a0@b.c")
    await using victim = new TestServer({ dataDirectory: dirname(database) })
    expect((await victim.command("account", "create", "later@example.com")).code).toBe(0)
    expect(existsSync(`${database}.before-${SCHEMA_VERSION}`)).toBe(true)
    await replication.has("later@example.com")
    await replication.stop()
    expect(checkBackup((await replication.restored()) ?? "").schemaVersion).toBe(SCHEMA_VERSION)
  },
)
