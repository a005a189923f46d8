import { derived } from "../base/lazy.ts"
import { findRoleWord } from "../check/address/address-hints.ts"
import { type CategoryCorrections, type Check, createCheck } from "../check/check.ts"
import { type DeepProbe, OFFLINE_DEEP_PROBE } from "../check/deep-evidence.ts"
import type { DomainLists } from "../check/domain-lookup.ts"
import { IGNORE_DEFECTS, type OnDefect } from "../check/evidence-defects.ts"
import { type NetworkProbe, offlineNetworkProbe } from "../check/network-evidence.ts"
import { contactUri, type Settings } from "../config/settings.ts"
import type { Health } from "../contract/schemas.ts"
import { createAdminCheck } from "../customers/accounts/account-email.ts"
import { createFirstAccount, type FirstAccountResult, hasKey } from "../customers/keys/first-account.ts"
import type { OpenStore, Store } from "../customers/store/core/store.ts"
import { isWriteUnsure } from "../customers/store/core/store-error.ts"
import { currentTermsVersion } from "../customers/terms/terms.ts"
import { createApp } from "../http/app.ts"
import type { RequestLogging } from "../http/metrics/request-observer.ts"
import { createClientAddressResolver, createClientNetworkResolver } from "../http/request/client-address.ts"
import { createJsonResponses } from "../http/response/json-responses.ts"
import { createRequestIds } from "../http/response/request-id.ts"
import type { AssetName } from "../http/site/assets.ts"
import { listsOverview } from "../http/site/public/lists-overview.tsx"
import { createSignUpCheck, type SignUpCheck } from "../http/site/sign-in/sign-up-check.ts"
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
import { recordDeletions } from "./backups.ts"
import { createListsService, type ListsService } from "./check/lists-service.ts"
import { createLookUps } from "./check/look-ups.ts"
import { refreshHours } from "./check/refresh.ts"
import type { AppContext, StoreContext } from "./context.ts"
import { createCallbacksService } from "./customers/callbacks.ts"
import { type CustomersService, createCustomersService, type SharedCallerState } from "./customers/customers.ts"
import { createLeakReportsService } from "./customers/leak-reports.ts"
import { createMailService } from "./customers/mails.ts"
import { createSignInService } from "./customers/sign-in.ts"
import { StartBudget, StartStopped } from "./customers/start-budget.ts"
import { openStore } from "./customers/store.ts"
import { createTrustedTimeService } from "./customers/trusted-time.ts"
import { createDescriptorWatch } from "./descriptors.ts"
import { createFirstKeyFile } from "./first-key-file.ts"
import { createJobsService } from "./jobs.ts"
import { guideFacts } from "./licences.ts"
import { createInstrumentation, type Instrumentation, metricsReaderGuard } from "./metrics.ts"
import { COMMIT, VERSION } from "./program.ts"
import { takeReloaded } from "./settings.ts"
import { createTrafficService } from "./traffic.ts"

/** A server that accepts requests. */
export type RunningServer = {
  /** The URL at which it listens. */
  readonly address: string
  readonly baseUrl: string
  readonly port: number
  /**
   * Creates the first account with its key if there is none. Call it after the server listens: a failed start must not use up
   * the only time that the key is shown.
   */
  readonly ensureBootstrapAccount: () => Promise<FirstAccountResult>
  /** Loads the lists that are in place now, if they are complete; otherwise keeps the current ones and logs why. */
  readonly reloadLists: () => Promise<void>
  /** Takes the new values of the settings that a running server takes. */
  readonly takeSettings: (next: Settings) => void
  /** Reads the changes of other processes now, such as revoked keys. */
  readonly pollChanges: () => void
  /** Resolves when the clients have moved to the server that takes over. Then `stop` must be called. */
  readonly drainForTakeover: (drainRequest: DrainRequest) => Promise<void>
  /** From now on `/v1/health` answers 503, and everything else is served. */
  readonly announceStop: () => void
  /** Finishes the requests in flight, writes buffered data and closes. */
  readonly stop: () => Promise<void>
}

/** How a server listens: alone on its port, beside the server that it replaces, or as one of several workers. */
export type ServeMode = "alone" | TakeoverMode | WorkerMode

/** The number of sockets that a process opens on a shared port. */
export type TakeoverMode = { readonly socketCount: number }

/** What a worker shares with the others, and its index among them. */
export type WorkerMode = SharedCallerState &
  TakeoverMode & {
    readonly workerIndex: number
    readonly port: number
    /** What is left of the time to wait for the database, in milliseconds; null: all of it. */
    readonly databaseWaitMs: number | null
    /** The metric counters of all workers, by index. */
    readonly counterShards: readonly Float64Array[]
  }

/**
 * Wires the whole server and listens. Null: it was asked to stop while it waited for its database. Rejects with `StartupError` or
 * `StoreError`, which tell the operator what to do.
 */
export async function startServer(
  context: AppContext,
  mode: ServeMode,
  stopSignal: Promise<string>,
): Promise<RunningServer | null> {
  const budget = new StartBudget(context, stopSignal, isWorker(mode) ? mode.databaseWaitMs : null)
  try {
    return await startOver(context, mode, budget, await budget.run(() => openStore(context)))
  } catch (error) {
    if (error instanceof StartStopped) return null
    throw error
  }
}

async function startOver(
  context: AppContext,
  mode: ServeMode,
  budget: StartBudget,
  opened: OpenStore,
): Promise<RunningServer> {
  const { system, settings } = context
  const worker = isWorker(mode) ? mode : null
  const state = { isStopping: false, isDraining: false, isListening: false, baseUrl: "" }
  const store = budget.storeFor(opened, () => state.isListening)
  const instrumentation = createInstrumentation(context, mode)
  const services = await createServices(context, store, instrumentation, worker, () => state.baseUrl)
  const app = createApp({
    ...services.appDeps,
    allowSilence: (request, seconds) => server.timeout(request, seconds),
    ...clientAddressDeps(settings, instrumentation, request => server.requestIP(request)?.address ?? null),
    baseUrl: () => state.baseUrl,
    isStopping: () => state.isStopping,
    isDraining: () => state.isDraining,
  })
  const { MAILKIND_HOST: hostname, MAILKIND_PORT } = settings
  const place = { hostname, port: worker?.port ?? MAILKIND_PORT, isShared: mode !== "alone" }
  const { first: server, all } = listenOnSockets(place, app, mode === "alone" ? 1 : mode.socketCount)
  const address = listenerUrl(server)
  Object.assign(state, { baseUrl: settings.MAILKIND_BASE_URL ?? address, isListening: true })
  services.start()
  return {
    address,
    baseUrl: state.baseUrl,
    port: server.port ?? 0,
    ensureBootstrapAccount: () => ensureBootstrapAccount(context, budget.storeFor(opened)),
    reloadLists: services.reloadLists,
    takeSettings: next => {
      takeReloaded(settings, next)
      services.takeTiers(settings)
    },
    pollChanges: services.pollChanges,
    drainForTakeover: drainRequest => {
      state.isDraining = true
      return drainForTakeover(system, all, app.fetch, drainRequest)
    },
    announceStop: () => void Object.assign(state, { isStopping: true }),
    stop: async () => {
      Object.assign(state, { isStopping: true, isDraining: true })
      await drainAndClose(system, all, app.fetch)
      await services.stop()
      await store.close()
    },
  }
}

const isWorker = (mode: ServeMode): mode is WorkerMode => typeof mode === "object" && "workerIndex" in mode

/** Creates the services, and what the app needs of them. `baseUrl` is known once the server listens. */
async function createServices(
  appContext: AppContext,
  store: OpenStore,
  instrumentation: Instrumentation,
  worker: WorkerMode | null,
  baseUrl: () => string,
) {
  const trusted = await createTrustedTimeService(appContext, store)
  const context: StoreContext = { ...appContext, store, trustedTime: trusted.time }
  const lists = await createListsService(context)
  const activeLists = () => lists.current().lists
  const { learned, network, deep, onDefect } = createLookUps(context, activeLists, instrumentation)
  const customers = await createCustomersService(context, worker)
  const today = () => customers.units.today()
  const { system } = context
  const changes = { store, clock: system.clock, today, notify: recordDeletions(context, customers.publishChanges) }
  const mails = createMailService(context, baseUrl)
  const callbacks = createCallbacksService(context, network)
  const signIn = createSignInService(context, mails.sendNow)
  const { networkProbe } = network
  const check = assembleCheck(system, activeLists, networkProbe, deep.deepProbe, customers.corrections, onDefect)
  const { jobs, service: jobService } = createJobsService(context, check, customers, instrumentation.loadShedder)
  const traffic = createTrafficService(context, customers.usage, instrumentation.meter)
  const { isInDoubt: isClockInDoubt } = trusted
  const gauges = instrumentation.createGaugeWriter({ store, lists, network, customers, isClockInDoubt })
  const own = [traffic, gauges, createDescriptorWatch(context)]
  const services = [trusted, customers, learned, deep, mails, callbacks, signIn, ...own]
  return {
    appDeps: {
      ...createAppDeps(context, lists, network.isDnsUnavailable, isClockInDoubt),
      ...customers,
      ...createLeakReportsService(context, changes),
      changes,
      signIn,
      check,
      jobs,
      signUpCheck: assembleSignUpCheck(context, activeLists, customers, check),
    },
    reloadLists: lists.reload,
    takeTiers: customers.takeTiers,
    pollChanges: customers.pollChanges,
    ...lifetimeOf(services, lists, jobService, network),
  }
}

type Service = { readonly start: () => unknown; readonly stop: () => unknown }

/** Starts services, and stops them in reverse order: a service may need those before it until its work is done. */
function lifetimeOf(
  services: readonly Service[],
  lists: ListsService,
  jobs: Service,
  network: Pick<Service, "stop">,
): { readonly start: () => void; readonly stop: () => Promise<void> } {
  let stopLists = (): void => undefined
  return {
    start: () => {
      stopLists = lists.start()
      for (const { start } of services) start()
      jobs.start()
    },
    stop: async () => {
      // Rows of jobs are not checked without the network.
      await jobs.stop()
      for (const stop of [network.stop, stopLists, ...services.toReversed().map(service => service.stop)]) await stop()
    },
  }
}

/** Wires a check over lists and look-ups. */
export const assembleCheck = (
  { clock, stopwatch }: System,
  activeLists: () => DomainLists,
  networkProbe: NetworkProbe,
  deepProbe: DeepProbe,
  corrections: CategoryCorrections,
  onDefect: OnDefect = IGNORE_DEFECTS,
): Check => createCheck({ activeLists, networkProbe, deepProbe, corrections, onDefect, clock, stopwatch })

/** Wires the check of addresses that sign in. */
export const assembleSignUpCheck = (
  { system, settings, log }: AppContext,
  activeLists: () => DomainLists,
  { corrections, ownLists }: Pick<CustomersService, "corrections" | "ownLists">,
  check: Check,
): SignUpCheck =>
  createSignUpCheck({
    policy: settings.MAILKIND_SIGN_UP_POLICY,
    check,
    listsCheck: assembleCheck(system, activeLists, offlineNetworkProbe, OFFLINE_DEEP_PROBE, corrections),
    ownLists,
    setTimer: system.setTimer,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    log,
  })

/** The dependencies of the app that concern the client's address. */
function clientAddressDeps(
  settings: Settings,
  { meter, loadShedder, readExposition }: Instrumentation,
  peerAddress: (request: Request) => string | null,
) {
  const clientOf = derived(() => settings.MAILKIND_TRUSTED_PROXIES, createClientNetworkResolver)
  const addressOf = derived(() => settings.MAILKIND_TRUSTED_PROXIES, createClientAddressResolver)
  return {
    clientOf: (request: Request) => clientOf()(peerAddress(request), request.headers),
    addressOf: (request: Request) => addressOf()(peerAddress(request), request.headers),
    meter,
    loadShedder,
    metrics: { read: readExposition, mayRead: metricsReaderGuard(settings, peerAddress) },
  }
}

/** The dependencies of the app that no service provides. */
function createAppDeps(
  context: StoreContext,
  lists: ListsService,
  isDnsUnavailable: () => boolean,
  isClockInDoubt: () => boolean,
) {
  const { system, settings, log } = context
  const isHttps = settings.MAILKIND_BASE_URL?.startsWith("https:") ?? false
  return {
    responses: createJsonResponses(createRequestIds(system.random), isHttps),
    isHttps,
    roleOf: (localPart: string) => findRoleWord(localPart, lists.current().lists.addressWords),
    clock: system.clock,
    random: system.random,
    nextTick: system.nextTick,
    setTimer: system.setTimer,
    stopwatch: system.stopwatch,
    logging: requestLogOptions(context),
    log,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    health: createHealthReport(context, lists, isDnsUnavailable, isClockInDoubt),
    asset: (name: AssetName) => system.files.bundled(`${name}.asset`),
    isAdmin: createIsAdmin(settings),
    defaultTier: settings.MAILKIND_DEFAULT_TIER,
    hasMailServer: settings.MAILKIND_SMTP_URL !== null,
    pricing: settings.MAILKIND_PRICING,
    securityContacts: settings.MAILKIND_SECURITY_CONTACT.map(contactUri),
    isDnsOff: settings.MAILKIND_DNS_SERVERS.includes("off"),
    lists: () => listsOverview(lists.current()),
    guide: guideFacts(context),
  }
}

function createIsAdmin(settings: Settings): (email: string) => boolean {
  const check = derived(() => settings.MAILKIND_ADMINS, createAdminCheck)
  if (check() === null)
    throw new StartupError("MAILKIND_ADMINS wants emails that accounts can have: `name@domain`, unquoted.")
  return email => check()?.(email) ?? false
}

const requestLogOptions = ({ system: { verbose }, settings }: AppContext): RequestLogging => ({
  slowMs: () => (settings.MAILKIND_SLOW_MS === "off" ? null : settings.MAILKIND_SLOW_MS),
  sampleEvery: () => (settings.MAILKIND_LOG_SAMPLE === "off" ? null : settings.MAILKIND_LOG_SAMPLE),
  logsEveryRefusal: () => settings.MAILKIND_LOG === "debug" || verbose.isOn(),
})

/** Reports health from memory. The uptime counts from this call on. */
function createHealthReport(
  { system: { stopwatch, clock }, settings, store }: StoreContext,
  lists: ListsService,
  isDnsUnavailable: () => boolean,
  isClockInDoubt: () => boolean,
): () => Health {
  const startedAtMs = stopwatch()
  return () =>
    healthReport({
      version: VERSION,
      commit: COMMIT,
      activeLists: lists.current(),
      listsDamage: lists.damage(),
      isRefreshScheduled: refreshHours(settings) !== null,
      isDnsUnavailable: isDnsUnavailable(),
      isDatabaseAway: store.isUnavailable(),
      isClockInDoubt: isClockInDoubt(),
      uptimeMs: stopwatch() - startedAtMs,
      nowMs: clock(),
    })
}

/** Creates the first account with its key if there is none. The caller must show the key, which cannot be read again. */
export async function ensureBootstrapAccount(
  { system: { clock, random }, settings, log }: AppContext,
  store: Store,
): Promise<FirstAccountResult> {
  const { MAILKIND_FIRST_KEY: preset, MAILKIND_FIRST_KEY_TO: path } = settings
  const file = path === null ? null : createFirstKeyFile(path)
  const options = { text: preset?.reveal() ?? null, keep: async (text: string) => file?.write(text) }
  try {
    const result = await createFirstAccount(store, clock, random, await currentTermsVersion(store), options)
    if (result.kind === "created") return result
    const isUnused = file === null ? preset !== null && !(await hasKey(store, preset.reveal())) : !file.isThere()
    if (isUnused) log("info", "the first key is not used, since there are accounts")
    return result
  } catch (error) {
    if (error instanceof StartStopped) return { kind: "exists" }
    // The account may have been created all the same, and its key is nowhere else.
    if (!isWriteUnsure(error)) file?.remove()
    throw error
  }
}

/**
 * Does once what every worker would do at its start: migrates the store, and checks that the port is free
 * unless it is shared with a server that is replaced. Returns the open store and what is left of the budget, or null and rejects like
 * `startServer`.
 */
export async function prepareForWorkers(
  context: AppContext,
  isTakeover: boolean,
  stopSignal: Promise<string>,
): Promise<{ readonly store: OpenStore; readonly budget: StartBudget } | null> {
  const { MAILKIND_HOST: hostname, MAILKIND_PORT: port } = context.settings
  const budget = new StartBudget(context, stopSignal)
  try {
    const store = budget.storeFor(await budget.run(() => openStore(context)))
    if (port !== 0 && !isTakeover) assertPortFree(hostname, port)
    return { store, budget }
  } catch (error) {
    if (error instanceof StartStopped) return null
    throw error
  }
}
