import { expect, test } from "bun:test"
import { mkdirSync, rmSync } from "node:fs"
import { createDeepChecksService } from "../../src/assemble/check/deep-checks.ts"
import { createDnsOutageLog, dnsServerPlaces, OFFLINE_NETWORK } from "../../src/assemble/check/network.ts"
import { startScheduledRefresh } from "../../src/assemble/check/refresh.ts"
import { createSharedLists, takeSharedListsAtStart } from "../../src/assemble/check/shared-lists.ts"
import { type AppContext, createContext, faultsOf, type StoreContext } from "../../src/assemble/context.ts"
import { createLeakReportsService } from "../../src/assemble/customers/leak-reports.ts"
import { createDatabasePoll, databaseOutages, notificationOutages } from "../../src/assemble/customers/store.ts"
import { LOG_EVENTS, type LogEvent, OUTAGE_FIELDS } from "../../src/base/log-events.ts"
import { logUnwritten } from "../../src/check/active-lists/lists-in-place.ts"
import { createListsService } from "../../src/check/active-lists/lists-service.ts"
import { formatManifest } from "../../src/check/lists/manifest.ts"
import {
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  manifestFileName,
  packFileName,
  STATE_FILE,
} from "../../src/check/refresh/refresh-state.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createTrustedTimeService } from "../../src/customers/nodes/trusted-time.ts"
import { withOutageLog } from "../../src/customers/notices/mail-outages.ts"
import { createSmtpMailer } from "../../src/customers/notices/smtp-mailer.ts"
import type { ChangeLog } from "../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { StoreError } from "../../src/customers/store/core/store-error.ts"
import type { PolledPart } from "../../src/customers/store/poll/database-poll.ts"
import { POOL_BOUNDS } from "../../src/customers/store/postgres/clients.ts"
import { PostgresPool } from "../../src/customers/store/postgres/connection-pool.ts"
import { startBackupScheduler } from "../../src/process/backup-scheduler.ts"
import { createDescriptorWatch } from "../../src/process/descriptor-watch.ts"
import { StartBudget } from "../../src/process/start-budget.ts"
import type { CommandResult } from "../../src/system/child-processes.ts"
import { createSystem, type System } from "../../src/system/system.ts"
import { smallPack } from "../check/lists/pack/small-pack.ts"
import { tempPath } from "../customers/temp-store.ts"
import { knownLists } from "../support/app.ts"
import { freePort } from "../support/free-port.ts"
import { memoryFolder } from "../support/memory-folder.ts"
import { deadServer } from "../support/smtp-server.ts"
import { until } from "../support/until.ts"
import { zone } from "../support/zone.ts"

type Line = Readonly<Record<string, unknown>>

/** What no line may have: a password, a token of a URL, and the address of a person. */
const SECRETS = ["s3cret", "t0ken", "jane"]

/** A context whose log is kept, over a world that the scene changes. */
function scene(environment: Record<string, string> = {}, others: Partial<System> = {}) {
  const read = parseSettings({ MAILKIND_DATA_DIR: "/nonexistent/data", ...environment })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const lines: Line[] = []
  const works: (() => void)[] = []
  const system: System = {
    ...createSystem(),
    isTerminal: false,
    writeStderr: text => void lines.push(JSON.parse(text)),
    fetchUrl: () => Promise.reject(Object.assign(new Error("jane@example.com"), { code: "ConnectionRefused" })),
    runInterval: (_, work) => {
      works.push(work)
      return () => undefined
    },
    ...others,
  }
  const context: AppContext = createContext(system, read.settings)
  return { ...context, context, lines, works }
}

const systemError = (code: string): Error => Object.assign(new Error("jane@example.com"), { code, syscall: "write" })

/** A schedule of refreshes whose command ends so. */
async function refreshed(result: unknown): Promise<readonly Line[]> {
  const real = createSystem()
  let hour = 0
  const run = async (): Promise<CommandResult> => ({ exitCode: 1, stdout: JSON.stringify(result) ?? "", stderr: "" })
  const manifest = new Blob([JSON.stringify(knownLists.manifest)])
  const { context, lines, works } = scene(
    {},
    {
      files: { ...real.files, folder: () => memoryFolder(), bundled: () => manifest },
      processes: { ...real.processes, run },
      // Each look at the clock is an hour later, so that a refresh is due.
      clock: () => Date.UTC(2090, 0, 1, hour++),
      random: count => new Uint8Array(count),
    },
  )
  startScheduledRefresh(context)
  works[0]?.()
  await until(
    () => lines.length > 0,
    () => "no line came",
  )
  return lines
}

async function backedUp(run: (directory: string) => CommandResult | null): Promise<readonly Line[]> {
  const { system, log, lines, works } = scene()
  const directory = tempPath("backups")
  mkdirSync(directory)
  const processes = { run: async () => run(directory) }
  startBackupScheduler({ system: { ...system, processes }, log, directory, intervalMs: 1, keep: 1 })
  works[0]?.()
  await until(
    () => lines.length > 0,
    () => "no line came",
  )
  return lines
}

/** Lists of a refresh that are in use, with this pack. */
function listsInUse(bytes: Uint8Array) {
  const [folder, sha256] = [memoryFolder(), "1".repeat(64)]
  const pack = packFileName(sha256)
  const state = { ...INITIAL_REFRESH_STATE, stock: knownLists.manifest.pack.sha256, in_use: sha256 }
  folder.put(pack, bytes)
  folder.put(manifestFileName(sha256), formatManifest(knownLists.manifest))
  folder.put(STATE_FILE, formatRefreshState(state))
  return { ...scene({}, { files: { ...createSystem().files, folder: () => folder } }), folder, pack }
}

async function dnsLines(): Promise<readonly Line[]> {
  const { context, lines } = scene({ MAILKIND_DNS_SERVERS: "192.0.2.1,[2001:db8::1]:5353" })
  const { onAvailabilityChange } = createDnsOutageLog(context, () => dnsServerPlaces(context))
  const faults = [
    { fault: "silent", why: null },
    { fault: "failed", why: "SERVFAIL" },
  ] as const
  for (const kind of ["silent", "refused", "failing", "denying"] as const) {
    onAvailabilityChange({ kind, faults })
    onAvailabilityChange(null)
  }
  return lines
}

const POSTGRES_AT = `127.0.0.1:${freePort()}`
const DIRECT = { kind: "direct", searchPath: null } as const
const NO_URL = { url: null, onChange: () => undefined }
const POSTGRES = { MAILKIND_DATABASE_URL: "postgres://u@h/d" }
const SMTP = deadServer()

/** Each line of an outage by what it says: what brings it about, and what it must name besides its remedy. */
const SCENES: Readonly<Record<string, { readonly names: RegExp; readonly cause: () => Promise<readonly Line[]> }>> = {
  "requests fail": {
    names: /^\/nonexistent\/data\/mailkind\.sqlite SQLITE_FULL: database or disk is full$/,
    cause: async () => {
      const { log, lines } = scene()
      const why = "SQLITE_FULL: database or disk is full"
      log("info", "a request failed", { request_id: "req_1", fault: "full", why })
      return lines
    },
  },
  "the database does not answer": {
    names: new RegExp(`^postgres://${POSTGRES_AT}/mk ERR_POSTGRES_CONNECTION_\\w+$`),
    cause: async () => {
      const { context, system, lines } = scene()
      const url = `postgres://jane:s3cret@${POSTGRES_AT}/mk?application_name=t0ken`
      const pool = new PostgresPool(url, system.setTimer, POOL_BOUNDS, databaseOutages(context), DIRECT, NO_URL)
      await pool.withConnection(() => pool.query("SELECT 1", [])).catch(() => undefined)
      await pool.close()
      return lines
    },
  },
  "the database accepts no writes": {
    names: /^postgres:\/\/h\/d it is a standby$/,
    cause: async () => {
      const { context, lines } = scene({ MAILKIND_DATABASE_URL: "postgres://jane:s3cret@h/d?application_name=t0ken" })
      const all = async () => [{ unwritable: "it is a standby" }]
      const store = { all, unwritableSql: "NULL" } as unknown as OpenStore // only these are used
      await createDatabasePoll(context, store, "alone").poll.poll()
      return lines
    },
  },
  "no notifications come from the database": {
    names: /^postgres:\/\/h:5432\/d ERR_POSTGRES_CONNECTION_REFUSED$/,
    cause: async () => {
      const { context, lines } = scene()
      notificationOutages(context)(new StoreError("away", "postgres://h:5432/d", "ERR_POSTGRES_CONNECTION_REFUSED"))
      return lines
    },
  },
  "the start waits for the database": {
    names: /^postgres:\/\/h\/d 57014: canceling statement due to lock timeout$/,
    cause: async () => {
      const { context, lines } = scene(POSTGRES, { sleep: async () => undefined })
      const failures = [new StoreError("busy", "postgres://h/d", "57014: canceling statement due to lock timeout")]
      await new StartBudget(context, new Promise(() => undefined)).run(async () => {
        for (const failure of failures.splice(0)) throw failure
      })
      return lines
    },
  },
  "the clock is in doubt": {
    names: /^this host The clock is 3600 seconds behind the clock of the database\.$/,
    cause: async () => {
      const { context, lines } = scene({}, { clock: () => 0 })
      const store = { one: async () => ({ atMs: 3_600_000 }), clockSql: "1" } as unknown as OpenStore // only these are called
      const observed: PolledPart[] = []
      const poll = { add: (part: PolledPart) => void observed.push(part) }
      await createTrustedTimeService(context, faultsOf(context), store, poll)
      for (const { observe } of observed) observe({ rows: [{ clockMs: 3_600_000 }], tookMs: 0, known: {} })
      await until(
        () => lines.length > 0,
        () => "no line came",
      )
      return lines
    },
  },
  "the server starts without the lists of the other nodes": {
    names: /^postgres:\/\/h:5432\/d ERR_POSTGRES_CONNECTION_REFUSED$/,
    cause: async () => {
      const { context, lines } = scene(POSTGRES)
      const away = new StoreError("away", "postgres://h:5432/d", "ERR_POSTGRES_CONNECTION_REFUSED")
      const store = { one: () => Promise.reject(away), clockSql: "1" } as unknown as OpenStore // only these are called
      await takeSharedListsAtStart(context, store)
      return lines
    },
  },
  "the lists of all nodes cannot be used here; the current ones stay in use": {
    names: /^postgres:\/\/h:?\d*\/d The state of the lists in the database is damaged\.$/,
    cause: async () => {
      const files = { ...createSystem().files, bundled: () => new Blob([JSON.stringify(knownLists.manifest)]) }
      const { context, lines } = scene({ MAILKIND_DATABASE_URL: "postgres://jane:s3cret@h/d" }, { files })
      const rowOf = (sql: string) => (sql.includes("lists_head") ? { mark: "m" } : { bytes: 1, parts: 0, sha256: "x" })
      const observed: PolledPart[] = []
      const poll = { add: (part: PolledPart) => void observed.push(part) }
      const trusted = { reference: () => 0 }
      const stored = { store: { one: async (sql: string) => rowOf(sql) }, poll, trustedTime: trusted }
      const followed = { ...context, ...stored } as unknown as StoreContext // only these are called
      createSharedLists(followed, "alone", () => knownLists)
      for (const { observe } of observed) observe({ rows: [{ listsMark: "m" }], tookMs: 0, known: {} })
      await until(
        () => lines.length > 0,
        () => "no line came",
      )
      return lines
    },
  },
  "files and sockets run out": {
    names: /^this process 58 of 64 files and sockets are open; .*EMFILE/,
    cause: async () => {
      const { context, system, lines, works } = scene()
      Object.assign(system, {
        processStats: () => ({ ...createSystem().processStats(), descriptorCount: 58, descriptorsMax: 64 }),
      })
      createDescriptorWatch(system, faultsOf(context)).start()
      works[0]?.()
      return lines
    },
  },
  "DNS does not answer": {
    names:
      /^192\.0\.2\.1:53, \[2001:db8::1\]:5353 192\.0\.2\.1:53 does not answer .*\(ETIMEOUT\); \[2001:db8::1\]:5353 answers SERVFAIL$/,
    cause: dnsLines,
  },
  "no mail can be sent now": {
    names: new RegExp(`^${new URL(SMTP).host} ESOCKET: connect ECONNREFUSED ${new URL(SMTP).host}$`),
    cause: async () => {
      const { context, system, lines } = scene()
      const mailer = createSmtpMailer()(SMTP.replace("//", "//jane:s3cret@"))
      const mail = { from: "a@example.com", to: "jane@example.com", subject: "", text: "", html: "", messageId: "x@y" }
      const deps = { faults: faultsOf(context), setTimer: system.setTimer, from: () => mail.from }
      await withOutageLog(mailer, deps).send({ ...mail, dateMs: 0 })
      return lines
    },
  },
  "no backup was written": {
    names: /backups It took too long or was killed\.$/,
    cause: () => backedUp(() => null),
  },
  "old backups were not removed": {
    names: /backups The directory of MAILKIND_BACKUP_DIR does not exist\./,
    cause: () =>
      backedUp(directory => {
        rmSync(directory, { recursive: true })
        return { exitCode: 0, stdout: "{}", stderr: "" }
      }),
  },
  "the lists were not refreshed": {
    names: /^\/nonexistent\/data\/lists\/refresh\/? It failed\.$/,
    cause: () => refreshed(undefined),
  },
  "no new lists were built; the current ones stay in use": {
    names: /^\/nonexistent\/data\/lists\/refresh\/? Two words\.$/,
    cause: () => refreshed({ version: null, sources: {}, faults: ["Two words."] }),
  },
  "a source of the lists could not be used": {
    names: /^https:\/\/lists\.example:8443 The server answered 503\.$/,
    cause: () => {
      const url = "https://jane:s3cret@lists.example:8443/t0ken?key=t0ken"
      const source = { url, outcome: "failed", says: "The server answered 503." }
      return refreshed({ version: "v", sources: { one: source }, faults: [] })
    },
  },
  "the current lists stay in use": {
    names: /^\/nonexistent\/data\/lists\/refresh\/state\.json EIO$/,
    cause: async () => {
      const folder = memoryFolder()
      const files = { ...createSystem().files, folder: () => folder }
      const { context, lines } = scene({}, { files })
      const lists = await createListsService(context)
      Object.assign(folder, { read: () => Promise.reject(systemError("EIO")) })
      await lists.reload()
      return lines
    },
  },
  "the refreshed lists are damaged; the last good copy is used": {
    names: /^\/nonexistent\/data\/lists\/refresh\/\S+ The file is not a pack\.$/,
    cause: async () => {
      const { context, lines } = listsInUse(new Uint8Array(100))
      await createListsService(context)
      return lines
    },
  },
  "a file of the lists was changed on the disk": {
    names: /^\/nonexistent\/data\/lists\/refresh\/\S+ It is gone, or not what was read from it\.$/,
    cause: async () => {
      const { context, lines, folder, pack } = listsInUse(smallPack({ "mailkind-one.com": ["disposable"] }))
      const lists = await createListsService(context)
      folder.put(pack, new Uint8Array(100))
      await lists.reload()
      return lines
    },
  },
  "a file of the lists could not be written": {
    names: /^\/nonexistent\/data\/lists\/refresh\/x\.pack ENOSPC$/,
    cause: async () => {
      const { context, lines } = scene()
      logUnwritten(context, "x.pack", systemError("ENOSPC"))
      return lines
    },
  },
  "the RDAP bootstrap is not fresh": {
    names: /^https:\/\/rdap\.example:8443 The RDAP bootstrap was not downloaded\. /,
    cause: async () => {
      const url = "https://rdap.example:8443/t0ken"
      const { context, lines } = scene({ MAILKIND_RDAP_BOOTSTRAP_URL: url })
      const network = { ...OFFLINE_NETWORK, queryDns: zone({}).ask }
      createDeepChecksService(context, network, null).start()
      await until(
        () => lines.length > 0,
        () => "no line came",
      )
      return lines
    },
  },
  "the leak reporter's public keys were not fetched": {
    names: /^https:\/\/keys\.example:8443 /,
    cause: async () => {
      const url = "https://keys.example:8443/t0ken"
      const { context, lines } = scene({ MAILKIND_SECRET_SCANNING_KEYS_URL: url })
      const changes = {} as unknown as ChangeLog // nothing is changed
      await createLeakReportsService(context, changes).findReporterKey("id", "client")
      return lines
    },
  },
}

/** Work in the background names the same fields where its error has them (`test/base/log.test.ts`). */
const OUTAGES = Object.entries<LogEvent>(LOG_EVENTS).filter(
  ([, { fields }]) => OUTAGE_FIELDS.every(field => fields.includes(field)) && !fields.includes("error"),
)

test("every line of an outage in the table of the log has a scene that brings it about", () => {
  expect(Object.keys(SCENES).toSorted()).toEqual(OUTAGES.map(([message]) => message).toSorted())
})

test.each(OUTAGES)("the line `%s` says where, the error and the remedy, and no secret", async (message, event) => {
  const { names, cause } = SCENES[message] ?? expect.unreachable()
  const found = (await cause()).filter(({ msg }) => msg === message)
  expect(found).not.toEqual([])
  for (const line of found) {
    expect(Object.keys(line).filter(field => !["time", "level", "msg", ...event.fields].includes(field))).toEqual([])
    expect(`${line["where"]} ${line["why"]}`).toMatch(names)
    expect(line["remedy"]).toMatch(/^[A-Z].*[.]$/)
    expect(SECRETS.filter(secret => JSON.stringify(line).includes(secret))).toEqual([])
  }
})
