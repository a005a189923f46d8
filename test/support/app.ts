import { expect } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createOnDefect } from "../../src/assemble/check/network.ts"
import { faultsOf, type StoreContext } from "../../src/assemble/context.ts"
import { createLeakReportsService } from "../../src/assemble/customers/leak-reports.ts"
import { guideFacts } from "../../src/assemble/licences.ts"
import { assembleSignUpCheck } from "../../src/assemble/server.ts"
import type { Log, LogFields } from "../../src/base/log.ts"
import { LOG_EVENTS, type LogEvent, type LogMessage } from "../../src/base/log-events.ts"
import type { LogLevel } from "../../src/base/log-level.ts"
import type { Clock } from "../../src/base/outside-world.ts"
import { findRoleWord } from "../../src/check/address/address-hints.ts"
import { testDomainOf } from "../../src/check/address/parse-subject.ts"
import { createCheck, NO_CORRECTIONS } from "../../src/check/check.ts"
import { type DeepProbe, OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import { type LoadedLists, openLists } from "../../src/check/domain-lookup.ts"
import type { OnDefect } from "../../src/check/evidence-defects.ts"
import type { PackManifest } from "../../src/check/lists/manifest.ts"
import { LISTS_ALONE } from "../../src/check/lists-alone.ts"
import { type NetworkProbe, offlineNetworkProbe } from "../../src/check/network-evidence.ts"
import { INITIAL_REFRESH_STATE } from "../../src/check/refresh/refresh-state.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createAdminCheck } from "../../src/customers/accounts/account-email.ts"
import { createCustomersService } from "../../src/customers/customers.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { createMailService } from "../../src/customers/mails.ts"
import type { OutgoingMail, SendResult } from "../../src/customers/notices/mailer.ts"
import { createLocalLimits, createNodeLimits, NodeShare } from "../../src/customers/quota/caller-limits.ts"
import { insertSession } from "../../src/customers/sign-in/sessions.ts"
import { createSignInService } from "../../src/customers/sign-in-service.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import type { AttributedLog } from "../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { NodeClaims } from "../../src/customers/store/poll/node-claims.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { LOAD_LIMITS, LoadShedder } from "../../src/http/admission/load-shedder.ts"
import { createApp } from "../../src/http/app.ts"
import { createCounterShard } from "../../src/http/metrics/counter-layout.ts"
import { renderExposition } from "../../src/http/metrics/exposition.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import { createClientAddressResolver, createClientNetworkResolver } from "../../src/http/request/client-address.ts"
import type { NextTick } from "../../src/http/request/request-batcher.ts"
import { createJsonResponses } from "../../src/http/response/json-responses.ts"
import type { ReadEmbeddedAsset } from "../../src/http/site/assets.ts"
import { listsOverview } from "../../src/http/site/public/lists-overview.tsx"
import { healthReport } from "../../src/http/v1/health.ts"
import { createJobsService } from "../../src/jobs/jobs-part.ts"
import { createSystem, type System } from "../../src/system/system.ts"
import { loopbackFetch } from "../check/fetch/loopback-web.ts"
import { newAccount, random, trackedStore } from "../customers/temp-store.ts"
import { trustedTime } from "./clock.ts"
import { pollOver } from "./database-poll.ts"
import { onTestEnd } from "./on-test-end.ts"
import { placeSqlite } from "./sqlite-template.ts"
import { createFakeTime, type FakeTime } from "./time.ts"

/** The lists that the checkout has built. */
const carried = openLists(await Bun.file(join(import.meta.dir, "../../data/build/lists.pack")).bytes(), true)
if (carried.kind === "refused") throw new Error(carried.message)

/** The lists of this checkout, opened once for all tests. */
export const lists = carried.lists

const manifest: PackManifest = await Bun.file(join(import.meta.dir, "../../data/manifest.json")).json() // written by our build

/** The same, with where they come from; nothing was refreshed. */
export const knownLists: LoadedLists = { lists, manifest, refreshState: INITIAL_REFRESH_STATE }

/** A check over the real lists that asks nobody, in a time that stands still. */
export const check = createCheck({
  activeLists: () => lists,
  networkProbe: offlineNetworkProbe,
  deepProbe: OFFLINE_DEEP_PROBE,
  corrections: NO_CORRECTIONS,
  clock: () => 0,
  stopwatch: () => 0,
})

/** What one line of log said. */
export type Logged = { readonly level: LogLevel; readonly message: string; readonly fields: LogFields }

/** A store on a real file that lives as long as the test does, or the file whose tests share it. */
async function openStore(clock: Clock): Promise<OpenStore> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-app-"))
  const path = join(directory, "mailkind.sqlite")
  await placeSqlite(path)
  const store = trackedStore(await openSqlite(path, clock))
  onTestEnd(async () => {
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
  readonly outside?: (time: FakeTime, onDefect: OnDefect) => NetworkProbe
  /** What deep checks ask; absent: nobody. */
  readonly deep?: (time: FakeTime, onDefect: OnDefect) => DeepProbe
  /** Emails of accounts that are admins. */
  readonly admins?: readonly string[]
  /** `MAILKIND_SMTP_URL`; null: none. Absent: mails go nowhere but into `mails`. */
  readonly smtpUrl?: string | null
  /** What is made of a mail that goes into `mails`; absent: it is taken. */
  readonly takes?: (mail: OutgoingMail) => SendResult
  /** `MAILKIND_FREE_CHECKS_PER_DAY`. */
  readonly freeChecksPerDay?: string
  /** `MAILKIND_REQUEST_LOG`. */
  readonly requestLog?: string
  /** What the executable carries for pages; absent: a stand-in. */
  readonly asset?: ReadEmbeddedAsset
  /** Whether every answer is logged; absent: no. */
  readonly logsEveryResponse?: boolean
  /** Bounds of the server as a whole; absent: the usual ones. */
  readonly inFlightMax?: number
  readonly bodyBytesMax?: number
  /** `MAILKIND_TRUSTED_PROXIES`. */
  readonly trustedProxies?: string
  /** `MAILKIND_SIGN_UP_POLICY`. */
  readonly signUpPolicy?: string
  /** More settings, by their names. */
  readonly settings?: Readonly<Record<string, string>>
  /** Among how many nodes it is the last. */
  readonly nodesCount?: number
  /** `MAILKIND_JOB_BYTES_MAX`. */
  readonly jobBytesMax?: string
  /** When requests that arrived together are run; absent: before anything else. */
  readonly nextTick?: NextTick
}

/** The server of those whose mails go nowhere. */
const NOWHERE = "smtp://mx.example.com"

/** What of a log line is not in the table of events. */
function undocumentedParts(level: LogLevel, message: LogMessage, fields: LogFields): readonly string[] {
  const event: LogEvent | undefined = LOG_EVENTS[message]
  if (event === undefined) return [message]
  const unknown = Object.keys(fields).filter(field => !event.fields.includes(field))
  return [...(event.levels.includes(level) ? [] : [level]), ...unknown].map(part => `${message}: ${part}`)
}

/** The whole HTTP face over a real store in a fresh directory, a stopped clock and the real lists. */
export async function testApp({
  tier = 4,
  tiers = "",
  keysUrl = "",
  outside = () => offlineNetworkProbe,
  deep = () => OFFLINE_DEEP_PROBE,
  admins = [],
  smtpUrl = NOWHERE,
  takes = () => ({ kind: "accepted" }),
  freeChecksPerDay = "",
  requestLog = "",
  asset = () => new Blob(["// the script"]),
  logsEveryResponse = false,
  nextTick = queueMicrotask,
  trustedProxies = "",
  signUpPolicy = "warn",
  settings = {},
  inFlightMax = 4096,
  bodyBytesMax,
  nodesCount = 1,
  jobBytesMax = "",
}: AppOptions = {}) {
  const time = createFakeTime()
  const { clock, stopwatch, later: setTimer } = time
  const store = await openStore(clock)
  const logged: Logged[] = []
  const undocumented: string[] = []
  onTestEnd(() => expect(undocumented).toEqual([]))
  const log: Log = (level, message, fields = {}) => {
    undocumented.push(...undocumentedParts(level, message, fields))
    logged.push({ level, message, fields })
  }
  const jobsFolder = mkdtempSync(join(tmpdir(), "mailkind-app-jobs-"))
  onTestEnd(() => rmSync(jobsFolder, { recursive: true, force: true }))
  const read = parseSettings({
    MAILKIND_JOBS_DIR: jobsFolder,
    MAILKIND_JOB_BYTES_MAX: jobBytesMax,
    MAILKIND_TIERS: tiers,
    MAILKIND_SECRET_SCANNING_KEYS_URL: keysUrl,
    ...(smtpUrl === null ? {} : { MAILKIND_SMTP_URL: smtpUrl }),
    MAILKIND_FREE_CHECKS_PER_DAY: freeChecksPerDay,
    MAILKIND_REQUEST_LOG: requestLog,
    MAILKIND_TRUSTED_PROXIES: trustedProxies,
    MAILKIND_SIGN_UP_POLICY: signUpPolicy,
    MAILKIND_ADMINS: admins.join(),
    ...settings,
  })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  // What would be done in the background is done by the tests that are about it.
  const { fetchUrl } = loopbackFetch()
  const real = createSystem()
  const mails: OutgoingMail[] = []
  const readMailer: System["openMailer"] = () => ({
    send: async mail => {
      mails.push(mail)
      return takes(mail)
    },
    tryServer: async () => ({ kind: "accepted" }),
    close: () => undefined,
  })
  const openMailer = smtpUrl === NOWHERE ? readMailer : real.openMailer
  const world: System = {
    ...real,
    fetchUrl,
    clock,
    stopwatch,
    setTimer,
    random,
    openMailer,
    runInterval: () => () => undefined,
  }
  const context: StoreContext = {
    system: world,
    settings: read.settings,
    log,
    store,
    trustedTime: trustedTime(clock),
    ...pollOver(store, clock),
  }
  const customers = await createCustomersService({ ...context, userAgent: "test" }, oneOf(nodesCount, clock))
  const changes: AttributedLog = { store, clock, notify: customers.publishChanges, actor: SERVER_ACTOR }
  const accountId = await newAccount(changes, "owner@localhost", tier)
  const mailsGoing = createMailService(context, faultsOf(context), () => "http://localhost")
  const signIn = createSignInService(context, mailsGoing.sendNow)
  onTestEnd(async () => {
    await signIn.stop()
    await mailsGoing.stop()
  })
  const made = await createKey(changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  let count = 0
  const clientOf = createClientNetworkResolver(read.settings.MAILKIND_TRUSTED_PROXIES)
  const addressOf = createClientAddressResolver(read.settings.MAILKIND_TRUSTED_PROXIES)
  const column = createCounterShard()
  const meter = new Meter(column)
  const lag = { ms: 0 }
  const loadShedder = new LoadShedder(
    { ...LOAD_LIMITS, inFlightMax, ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }) },
    () => lag.ms,
    meter,
    queueMicrotask,
    setTimer,
  )
  const peerOf = (request: Request) => request.headers.get("x-test-peer") ?? "192.0.2.1"
  const onDefect = createOnDefect({ log }, meter)
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: outside(time, onDefect),
    deepProbe: deep(time, onDefect),
    onDefect,
    corrections: customers.corrections,
    clock,
    stopwatch,
  })
  const listsCheck = createCheck({
    ...LISTS_ALONE,
    activeLists: () => lists,
    corrections: customers.corrections,
    clock,
    stopwatch,
  })
  const {
    jobs,
    service: jobService,
    part: jobsPart,
  } = createJobsService({ ...context, memoryBytes: Number.POSITIVE_INFINITY }, check, customers, loadShedder)
  onTestEnd(async () => {
    let isStopped = false
    const stopping = jobService.stop().finally(() => {
      isStopped = true
    })
    // The rows in hand wait for time, which stands still.
    for (; !isStopped; await new Promise(resolve => setImmediate(resolve))) await time.tick(50)
    await stopping
  })
  const built = createApp({
    ...customers,
    jobs,
    setTimer,
    allowSilence: () => undefined,
    ...createLeakReportsService(context, changes),
    responses: createJsonResponses(() => `req_test${count++}`, false),
    check,
    listsCheck,
    signUpCheck: assembleSignUpCheck(context, customers.ownLists, { check, listsCheck }),
    roleOf: localPart => findRoleWord(localPart, lists.addressWords),
    clientOf: request => clientOf(peerOf(request), request.headers),
    addressOf: request => addressOf(peerOf(request), request.headers),
    clock,
    random,
    nextTick,
    log,
    testDomain: testDomainOf(read.settings.MAILKIND_TEST_DOMAIN),
    baseUrl: () => "http://localhost",
    health: () =>
      healthReport({
        version: "1.0.0",
        commit: null,
        activeLists: knownLists,
        listsDamage: null,
        isBehind: false,
        waitingUntilMs: null,
        isRefreshScheduled: true,
        dnsStatus: "ok",
        isDatabaseAway: false,
        databaseAnsweredMsAgo: null,
        isClockInDoubt: false,
        uptimeMs: 0,
        nowMs: clock(),
      }),
    isStopping: () => false,
    isCutOff: () => false,
    isDraining: () => false,
    isHttps: false,
    asset,
    isAdmin: createAdminCheck(admins) ?? (() => false),
    defaultTier: 0,
    hasMailServer: true,
    pricing: null,
    securityContacts: [],
    isDnsOff: false,
    changes,
    signIn,
    lists: () => listsOverview(knownLists),
    guide: guideFacts(context),
    stopwatch,
    slowMs: () => null,
    logsEveryResponse: () => logsEveryResponse,
    loadShedder,
    meter,
  })
  const { fetch: app } = built
  return {
    app,
    /** The same, to be listened with. */
    built,
    column,
    /** The metrics as Prometheus reads them. */
    metrics: async () => (await renderExposition([column], { version: "1.0.0", commit: "", bun: Bun.version })).text,
    load: loadShedder,
    /** How late the event loop is said to be. */
    lag,
    time,
    clock,
    logged,
    store,
    changes,
    customers,
    jobs: jobService,
    jobsPart,
    mailsGoing,
    jobsFolder,
    /** The mails that went out, the latest last. Those of the outbox go when `look` is called. */
    mails,
    look: mailsGoing.pollOutbox,
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
export type ApiResponse = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }

/** Asks an app as one line: method, path, and optionally a body and headers; the key is sent unless `key` is null. */
function asking(app: (request: Request) => Response | Promise<Response>, ownKey: string) {
  return async (
    line: string,
    {
      body,
      key = ownKey,
      headers = {},
    }: { body?: unknown; key?: string | null; headers?: Record<string, string> } = {},
  ): Promise<ApiResponse> => {
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
    const bytes = await answer.bytes()
    const isPacked = answer.headers.get("content-encoding") === "gzip"
    const text = new TextDecoder().decode(isPacked ? Bun.gunzipSync(bytes) : bytes)
    return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) }
  }
}

/** What a house that is the last of so many nodes has of its own; null: it is alone. */
function oneOf(nodesCount: number, clock: Clock) {
  if (nodesCount === 1) return null
  const share = new NodeShare()
  share.setPosition({ count: nodesCount, position: nodesCount - 1 })
  return {
    limits: createNodeLimits(createLocalLimits(clock), share),
    node: {
      identity: { id: "node_1", startId: "node_1" },
      rowClaim: { isTaken: () => false, take: () => undefined },
      claims: new NodeClaims(clock),
    },
    notifyChange: () => undefined,
    shareObservation: () => undefined,
  }
}
