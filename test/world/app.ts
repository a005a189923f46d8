import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { customersAtWork } from "../../src/assemble-customers.ts"
import { leaksAtWork } from "../../src/assemble-leaks.ts"
import { mailsAtWork } from "../../src/assemble-mails.ts"
import { mayReadMetrics } from "../../src/assemble-metrics.ts"
import { signInAtWork } from "../../src/assemble-sign-in.ts"
import { guideFacts } from "../../src/assemble-supply.ts"
import type { Clock } from "../../src/base/clock.ts"
import type { LogFields, LogLevel } from "../../src/base/log.ts"
import { roleWord } from "../../src/check/address/hints.ts"
import { checking, NO_CORRECTIONS } from "../../src/check/check.ts"
import { type Deep, NEVER_DEEP } from "../../src/check/deep.ts"
import type { Manifest } from "../../src/check/lists/manifest.ts"
import { type KnownLists, openLists } from "../../src/check/lists.ts"
import { type Outside, offline } from "../../src/check/outside.ts"
import { UNREFRESHED } from "../../src/check/refresh/refresh-state.ts"
import { readSettings } from "../../src/config/settings.ts"
import { adminsAmong } from "../../src/customers/accounts/admins.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import type { Mail, Sending } from "../../src/customers/notices/mailer.ts"
import { localLimits } from "../../src/customers/quota/caller-limits.ts"
import { NodeShare, sharedAmongNodes } from "../../src/customers/quota/node-share.ts"
import { insertSession } from "../../src/customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../src/customers/store/changes.ts"
import { openSqlite } from "../../src/customers/store/sqlite.ts"
import type { OpenStore } from "../../src/customers/store/store.ts"
import { answers } from "../../src/http/answer.ts"
import { buildApp } from "../../src/http/app.ts"
import { clientAddress } from "../../src/http/client-address.ts"
import { LOAD_BOUNDS, Load } from "../../src/http/load.ts"
import { ownColumn } from "../../src/http/metrics/columns.ts"
import { exposition } from "../../src/http/metrics/exposition.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import type { Embedded } from "../../src/http/site/assets.ts"
import { shownLists } from "../../src/http/site/lists-page.tsx"
import { healthOf } from "../../src/http/v1/health.ts"
import type { Logging } from "../../src/http/watch.ts"
import { realWorld, type World } from "../../src/world.ts"
import { loopbackWeb } from "../check/refresh/loopback-web.ts"
import { newAccount, random } from "../customers/temp-store.ts"
import { afterwards } from "./afterwards.ts"
import { type StoppedTime, stoppedTime } from "./time.ts"

/** The lists that the checkout has built. */
const carried = openLists(await Bun.file(join(import.meta.dir, "../../data/build/lists.pack")).bytes(), true)
if (carried.kind === "refused") throw new Error(carried.says)

/** The lists of this checkout, opened once for all tests. */
export const lists = carried.lists

const manifest: Manifest = await Bun.file(join(import.meta.dir, "../../data/manifest.json")).json() // written by our build

/** The same, with where they come from; nothing was refreshed. */
export const knownLists: KnownLists = { lists, manifest, state: UNREFRESHED }

/** A check over the real lists that asks nobody, in a time that stands still. */
export const check = checking({
  lists: () => lists,
  outside: offline,
  deep: NEVER_DEEP,
  corrections: NO_CORRECTIONS,
  clock: () => 0,
  stopwatch: () => 0,
})

/** What one line of log said. */
export type Logged = { readonly level: LogLevel; readonly says: string; readonly fields: LogFields }

/** A store on a real file that lives as long as the test does, or the file whose tests share it. */
async function openStore(clock: Clock): Promise<OpenStore> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-app-"))
  const store = await openSqlite(join(directory, "mailkind.sqlite"), clock)
  afterwards(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return store
}

/** How a test's house differs from the usual one. */
export type AppOptions = {
  /** Tier of the account that `key` belongs to; 4 is not limited. */
  readonly tier?: number
  /** `MAILKIND_TIERS`. */
  readonly tiers?: string
  /** `MAILKIND_SECRET_SCANNING_KEYS_URL`, on loopback; absent: nobody publishes keys. */
  readonly keysUrl?: string
  /** Who is asked of the outside world; absent: nobody. */
  readonly outside?: (time: StoppedTime) => Outside
  /** What deep checks ask; absent: nobody. */
  readonly deep?: (time: StoppedTime) => Deep
  /** Emails of accounts that are admins. */
  readonly admins?: readonly string[]
  /** `MAILKIND_SMTP_URL`; null: none. Absent: mails go nowhere but into `mails`. */
  readonly smtpUrl?: string | null
  /** What is made of a mail that goes into `mails`; absent: it is taken. */
  readonly takes?: (mail: Mail) => Sending
  /** `MAILKIND_FREE_CHECKS_PER_DAY`. */
  readonly freeChecksPerDay?: string
  /** What the executable carries for pages; absent: a stand-in. */
  readonly asset?: Embedded
  /** Which answers are logged; absent: none. */
  readonly logging?: Logging
  /** Bounds of the server as a whole; absent: the usual ones. */
  readonly inFlightMax?: number
  readonly bodyBytesMax?: number
  /** `MAILKIND_METRICS_ALLOW`. */
  readonly metricsAllow?: string
  /** Among how many nodes it is the last. */
  readonly nodesCount?: number
}

/** The server of those whose mails go nowhere. */
const NOWHERE = "smtp://mx.example.com"

/** The whole HTTP face over a real store in a fresh directory, a stopped clock and the real lists. */
export async function testApp({
  tier = 4,
  tiers = "",
  keysUrl = "",
  outside = () => offline,
  deep = () => NEVER_DEEP,
  admins = [],
  smtpUrl = NOWHERE,
  takes = () => ({ kind: "accepted" }),
  freeChecksPerDay = "",
  asset = () => new Blob(["// the script"]),
  logging = { slowMs: null, sampleEvery: null },
  metricsAllow = "",
  inFlightMax = 4096,
  bodyBytesMax,
  nodesCount = 1,
}: AppOptions = {}) {
  const time = stoppedTime()
  const { clock, stopwatch, later } = time
  const store = await openStore(clock)
  const logged: Logged[] = []
  const log = (level: LogLevel, says: string, fields: LogFields = {}): void => void logged.push({ level, says, fields })
  const read = readSettings({
    MAILKIND_TIERS: tiers,
    MAILKIND_SECRET_SCANNING_KEYS_URL: keysUrl,
    ...(smtpUrl === null ? {} : { MAILKIND_SMTP_URL: smtpUrl }),
    MAILKIND_FREE_CHECKS_PER_DAY: freeChecksPerDay,
    MAILKIND_METRICS_ALLOW: metricsAllow,
  })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  // What would be done in the background is done by the tests that are about it.
  const { web } = loopbackWeb()
  const real = realWorld()
  const mails: Mail[] = []
  const readMailer: World["mailer"] = () => ({
    send: async mail => {
      mails.push(mail)
      return takes(mail)
    },
    close: () => undefined,
  })
  const mailer = smtpUrl === NOWHERE ? readMailer : real.mailer
  const world: World = { ...real, web, clock, stopwatch, later, random, mailer, every: () => () => undefined }
  const customers = await customersAtWork(world, read.settings, store, log, oneOf(nodesCount, clock))
  const changes: ChangeLog = { store, clock, hear: customers.hear }
  const accountId = await newAccount(changes, "owner@localhost", tier)
  const mailsGoing = mailsAtWork(world, read.settings, store, log, () => "http://localhost")
  const signIn = signInAtWork(world, read.settings, store, log, mailsGoing.sendNow)
  afterwards(async () => {
    await signIn.end()
    await mailsGoing.end()
  })
  const made = await createKey(changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  let count = 0
  const clientOf = clientAddress([])
  const column = ownColumn()
  const meter = new Meter(column)
  const lag = { ms: 0 }
  const load = new Load(
    { ...LOAD_BOUNDS, inFlightMax, ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }) },
    () => lag.ms,
    meter,
    queueMicrotask,
  )
  const peerOf = (request: Request) => request.headers.get("x-test-peer") ?? "192.0.2.1"
  const built = buildApp({
    ...customers,
    ...leaksAtWork(world, read.settings, changes, log, "mailkind"),
    answers: answers(() => `req_test${count++}`, false),
    check: checking({
      lists: () => lists,
      outside: outside(time),
      deep: deep(time),
      corrections: customers.corrections,
      clock,
      stopwatch,
    }),
    roleOf: localPart => roleWord(localPart, lists.words),
    clientOf: request => clientOf(peerOf(request), request.headers),
    clock,
    random,
    soon: queueMicrotask,
    log,
    testDomain: "mailkind.test",
    baseUrl: () => "http://localhost",
    health: () => healthOf({ version: "1.0.0", known: knownLists, refreshes: true, isDnsAway: false, uptimeMs: 0 }),
    isStopping: () => false,
    isHttps: false,
    asset,
    isAdmin: adminsAmong(admins) ?? (() => false),
    defaultTier: 0,
    hasMailServer: true,
    changes,
    signIn,
    lists: () => shownLists(knownLists),
    guide: guideFacts(world, read.settings),
    stopwatch,
    logging,
    load,
    meter,
    metrics: {
      read: () => exposition([column], { version: "1.0.0", bun: Bun.version }),
      mayRead: mayReadMetrics(read.settings, peerOf),
    },
  })
  const { fetch: app } = built
  return {
    app,
    /** The same, to be listened with. */
    built,
    column,
    load,
    /** How late the event loop is said to be. */
    lag,
    time,
    clock,
    logged,
    store,
    changes,
    customers,
    /** The mails that went out, the latest last. Those of the outbox go when `look` is called. */
    mails,
    look: mailsGoing.look,
    prune: signIn.prune,
    accountId,
    key: made.text,
    keyId: made.key.id,
    revoke: () => revokeKey(changes, made.key.id, "owner"),
    /** Another key of the account; a publishable one allows the origins. */
    newKey: async (origins: readonly string[] = []) => {
      const kind = origins.length > 0 ? "publishable" : "secret"
      const another = await createKey(changes, random, { accountId, kind, name: null, origins })
      if (another.kind !== "created") throw new Error(another.kind)
      return { id: another.key.id, text: another.text }
    },
    ask: asking(app, made.text),
    /** Signs a browser in to the account of this id, and gives what it sends as `Cookie` from then on. */
    signIn: async (id = accountId) => {
      const { secret } = await store.transaction(inside =>
        insertSession(inside, random, clock(), id, "Firefox on Linux"),
      )
      return `mailkind_session=${secret}`
    },
  }
}

/** What an answer held. */
export type Asked = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }

/** Asks an app as one line: method, path, and optionally a body and headers; the key is sent unless `key` is null. */
function asking(app: (request: Request) => Response | Promise<Response>, ownKey: string) {
  return async (
    line: string,
    {
      body,
      key = ownKey,
      headers = {},
    }: { body?: unknown; key?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Asked> => {
    const [method = "GET", path = "/"] = line.split(" ")
    const sent = new Headers({ ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers })
    const raw =
      body === undefined || body instanceof ReadableStream || typeof body === "string" || body instanceof Uint8Array
    if (body !== undefined && !sent.has("Content-Type")) sent.set("Content-Type", "application/json")
    const payload = raw ? (body as BodyInit | undefined) : JSON.stringify(body) // the four kinds above are bodies
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: sent,
      ...(payload === undefined ? {} : { body: payload }),
    })
    const answer = await app(request)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) }
  }
}

/** What a house that is the last of so many nodes has of its own; null: it is alone. */
function oneOf(nodesCount: number, clock: Clock) {
  if (nodesCount === 1) return null
  const share = new NodeShare()
  share.among({ count: nodesCount, position: nodesCount - 1 })
  return { limits: sharedAmongNodes(localLimits(clock), share), nodeId: "node_1", changed: () => undefined }
}
