import manifest from "../../package.json" with { type: "json" }
import { createLogger, type Log, type LogLevel } from "../base/log.ts"
import { findRoleWord } from "../check/address/address-hints.ts"
import { type CategoryCorrections, type Check, createCheck } from "../check/check.ts"
import type { DeepProbe } from "../check/deep-evidence.ts"
import type { DomainLists, LoadedLists } from "../check/domain-lookup.ts"
import type { NetworkProbe } from "../check/network-evidence.ts"
import type { Settings } from "../config/settings.ts"
import type { Health } from "../contract/schemas.ts"
import { createAdminCheck } from "../customers/accounts/account-email.ts"
import { createFirstAccount, type FirstAccountResult } from "../customers/keys/first-account.ts"
import type { OpenStore, Store } from "../customers/store/core/store.ts"
import { currentTermsVersion } from "../customers/terms/terms.ts"
import { createApp } from "../http/app.ts"
import type { BuildInfo } from "../http/metrics/exposition.ts"
import type { RequestLogging } from "../http/metrics/request-observer.ts"
import { createClientNetworkResolver } from "../http/request/client-address.ts"
import { createJsonResponses } from "../http/response/json-responses.ts"
import { createRequestIds } from "../http/response/request-id.ts"
import type { AssetName } from "../http/site/assets.ts"
import { listsOverview } from "../http/site/public/lists-overview.tsx"
import { healthReport } from "../http/v1/health.ts"
import {
  assertPortFree,
  type DrainRequest,
  drainAndClose,
  drainForTakeover,
  listenerUrl,
  listenOnSockets,
} from "../process/http-listener.ts"
import { StartupError } from "../process/startup-error.ts"
import type { System } from "../system/system.ts"
import { createDeepChecksService } from "./check/deep-checks.ts"
import { createLearnedHostsService } from "./check/learned-hosts.ts"
import { createListsService, type ListsService, openActiveLists } from "./check/lists.ts"
import { createNetworkService, type HostLearning } from "./check/network.ts"
import { createCustomersService, type SharedCallerState } from "./customers/customers.ts"
import { createLeakReportsService } from "./customers/leak-reports.ts"
import { createMailService } from "./customers/mails.ts"
import { createSignInService } from "./customers/sign-in.ts"
import { openStore } from "./customers/store.ts"
import { guideFacts } from "./licences.ts"
import { createInstrumentation, type Instrumentation, metricsReaderGuard, skipDeepChecksUnderLoad } from "./metrics.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** What runs. */
export const BUILD: BuildInfo = { version: VERSION, bun: Bun.version }

/** The log of this process, as the settings want it; that of a worker names its seat in every line. */
export function createLog(world: System, settings: Settings, seat: number | null = null): Log {
  const from = (least: LogLevel): Log => createLogger(least, world.isTerminal, world.clock, world.writeStderr)
  const [usual, whole] = [from(settings.MAILKIND_LOG), from("debug")]
  const log: Log = (level, says, fields) => (world.verbose.isOn() ? whole : usual)(level, says, fields)
  return seat === null ? log : (level, says, fields) => log(level, says, { worker: seat, ...fields })
}

/** Builds the check over lists and what asks the outside world. */
export const assembleCheck = (
  { clock, stopwatch }: System,
  activeLists: () => DomainLists,
  networkProbe: NetworkProbe,
  deepProbe: DeepProbe,
  corrections: CategoryCorrections,
): Check => createCheck({ activeLists, networkProbe, deepProbe, corrections, clock, stopwatch })

/** How we call ourselves to the servers of others: who we are, and where people find out more. */
export function formatUserAgent({
  MAILKIND_BASE_URL: baseUrl,
  MAILKIND_HOST: host,
  MAILKIND_PORT: port,
}: Settings): string {
  // Parsed, for a header is ASCII, and a name or path that an operator writes need not be.
  const base = baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  return `mailkind/${VERSION} (+${new URL(`${base}/docs`).href})`
}

/** Gives new request ids. */
export const requestIdGenerator = (world: System): (() => string) => createRequestIds(world.random)

/** A server that answers. */
export type RunningServer = {
  /** Where it listens, as a URL. */
  readonly address: string
  readonly baseUrl: string
  readonly port: number
  /**
   * Creates the first account where there is none. It is asked of a server that listens: a start that fails must not use up
   * the one time that the key is shown.
   */
  readonly ensureBootstrapAccount: () => Promise<FirstAccountResult>
  /** Takes the pack that lies in the lists' place now, if it is whole; else keeps the lists in use and logs why. */
  readonly reloadLists: () => Promise<void>
  /** Learns at once what other processes changed, such as keys that were revoked. */
  readonly pollChanges: () => void
  /** Has callers go to the server that listens beside this one, and resolves when they have; then it is to be stopped. */
  readonly drainForTakeover: (leaving: DrainRequest) => Promise<void>
  /** Lets what is in flight finish, writes what is held, and closes. */
  readonly stop: () => Promise<void>
}

/** Whether a server has its port to itself, listens beside the one that it replaces, or is one of several workers. */
export type ServeMode = "alone" | TakeoverMode | WorkerMode

/** How many sockets a process listens with on a port that it shares. */
export type TakeoverMode = { readonly socketCount: number }

/** What a worker shares with the others, and where it sits among them. */
export type WorkerMode = SharedCallerState &
  TakeoverMode & { readonly seat: number; readonly port: number } & WorkerColumns

/** What each worker counts, by its seat. */
type WorkerColumns = { readonly columns: readonly Float64Array[] }

/**
 * Wires the whole house and listens. Rejects with `StartupError` or a
 * `StoreError`, each with its remedy in words.
 */
export async function startServer(world: System, settings: Settings, place: ServeMode): Promise<RunningServer> {
  const together = typeof place === "object" && "seat" in place ? place : null
  const log = createLog(world, settings, together?.seat)
  const observed = createInstrumentation(world, settings, log, place, BUILD)
  const store = await openStore(world, settings, log)
  const lists = await createListsService(world, settings, log)
  const learned = createLearnedHostsService(world, store, log)
  const matchLists: HostLearning["matchLists"] = (domain, registrable) =>
    lists.current().lists.pack.match(domain, registrable)
  const asked = createNetworkService(world, settings, { learnedHosts: learned.hosts, matchLists })
  const deep = createDeepChecksService(
    world,
    settings,
    skipDeepChecksUnderLoad(asked, observed),
    store,
    log,
    formatUserAgent(settings),
  )
  const customers = await createCustomersService(world, settings, store, log, together)
  const changes = { store, clock: world.clock, notify: customers.publishChanges }
  const state = { isStopping: false, url: "" }
  const mails = createMailService(world, settings, store, log, () => state.url)
  const signIn = createSignInService(world, settings, store, log, mails.sendNow)
  const metrics = observed.createGaugeWriter({ store, lists, outside: asked, customers })
  const app = createApp({
    ...createAppDeps(world, settings, lists, asked.isDnsUnavailable, log),
    ...customers,
    ...createLeakReportsService(world, settings, changes, log, formatUserAgent(settings)),
    changes,
    signIn,
    check: assembleCheck(
      world,
      () => lists.current().lists,
      asked.networkEvidence,
      deep.deepChecks,
      customers.corrections,
    ),
    ...clientAddressDeps(settings, observed, request => server.requestIP(request)?.address ?? null),
    baseUrl: () => state.url,
    isStopping: () => state.isStopping,
  })
  const port = together?.port ?? (place === "alone" ? null : settings.MAILKIND_PORT)
  const { first: server, all } = listenOnSockets(settings, port, app, place === "alone" ? 1 : place.socketCount)
  const address = listenerUrl(server)
  state.url = settings.MAILKIND_BASE_URL ?? address
  const endLooking = lists.start()
  // They end in the other order: what is under way may still need what was there before it.
  const works = [customers, learned, deep, mails, signIn, metrics]
  for (const { start } of works) start()
  return {
    address,
    baseUrl: state.url,
    port: server.port ?? 0,
    ensureBootstrapAccount: () => ensureBootstrapAccount(world, store),
    reloadLists: lists.reload,
    pollChanges: customers.pollChanges,
    drainForTakeover: leaving => drainForTakeover(world, all, app.fetch, leaving),
    stop: async () => {
      state.isStopping = true
      await drainAndClose(world, all, app.fetch)
      for (const end of [asked.stop, endLooking, ...works.toReversed().map(work => work.stop), store.close]) await end()
    },
  }
}

/** What goes by where requests come from. */
function clientAddressDeps(
  settings: Settings,
  { meter, loadShedder, readExposition }: Instrumentation,
  addressAt: (request: Request) => string | null,
) {
  const clientOf = createClientNetworkResolver(settings.MAILKIND_TRUSTED_PROXIES)
  return {
    clientOf: (request: Request) => clientOf(addressAt(request), request.headers),
    meter,
    loadShedder: loadShedder,
    metrics: { read: readExposition, mayRead: metricsReaderGuard(settings, addressAt) },
  }
}

/** What the face needs that no other part of the house makes. */
function createAppDeps(world: System, settings: Settings, lists: ListsService, isDnsAway: () => boolean, log: Log) {
  const isHttps = settings.MAILKIND_BASE_URL?.startsWith("https:") ?? false
  return {
    responses: createJsonResponses(requestIdGenerator(world), isHttps),
    isHttps,
    roleOf: (localPart: string) => findRoleWord(localPart, lists.current().lists.addressWords),
    clock: world.clock,
    random: world.random,
    nextTick: world.nextTick,
    stopwatch: world.stopwatch,
    logging: requestLogOptions(settings),
    log,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    health: createHealthReport(world, settings, lists.current, isDnsAway),
    asset: (name: AssetName) => world.files.bundled(`${name}.asset`),
    isAdmin: adminPredicate(settings),
    defaultTier: settings.MAILKIND_DEFAULT_TIER,
    hasMailServer: settings.MAILKIND_SMTP_URL !== null,
    lists: () => listsOverview(lists.current()),
    guide: guideFacts(world, settings),
  }
}

function adminPredicate({ MAILKIND_ADMINS: emails }: Settings): (email: string) => boolean {
  const isAdmin = createAdminCheck(emails)
  if (isAdmin === null)
    throw new StartupError("MAILKIND_ADMINS wants emails that accounts can have: `name@domain`, unquoted.")
  return isAdmin
}

const requestLogOptions = ({
  MAILKIND_SLOW_MS: slowMs,
  MAILKIND_LOG_SAMPLE: sampleEvery,
}: Settings): RequestLogging => ({
  slowMs: slowMs === "off" ? null : slowMs,
  sampleEvery: sampleEvery === "off" ? null : sampleEvery,
})

/** Tells the state of the house from memory, and how long it stands from now on. */
function createHealthReport(
  { stopwatch }: System,
  settings: Settings,
  known: () => LoadedLists,
  isDnsAway: () => boolean,
): () => Health {
  const startedAt = stopwatch()
  const isRefreshScheduled = settings.MAILKIND_LISTS_REFRESH_HOURS !== "off"
  return () =>
    healthReport({
      version: VERSION,
      activeLists: known(),
      isRefreshScheduled,
      isDnsUnavailable: isDnsAway(),
      uptimeMs: stopwatch() - startedAt,
    })
}

/** Creates the first account with its key where there is none. Whoever calls it shows the key: it is not told again. */
export async function ensureBootstrapAccount({ clock, random }: System, store: Store): Promise<FirstAccountResult> {
  return await createFirstAccount(store, clock, random, await currentTermsVersion(store))
}

/**
 * Does once what workers would all do when they start: brings the store up to date, unpacks the lists and finds the port
 * free, unless another server lets them in. Gives the store, open. Rejects as `startServer` does.
 */
export async function prepareForWorkers(world: System, settings: Settings, isLetIn: boolean): Promise<OpenStore> {
  const store = await openStore(world, settings, createLog(world, settings))
  await openActiveLists(world, settings, createLog(world, settings))
  if (settings.MAILKIND_PORT !== 0 && !isLetIn) assertPortFree(settings)
  return store
}
