import { join } from "node:path"
import { StartupError } from "../base/errors.ts"
import { createHeapCollector, createStartCollector, heapGrowthWithin } from "../base/heap-collector.ts"
import { derived } from "../base/lazy.ts"
import { createListsService, type ListsService } from "../check/active-lists/lists-service.ts"
import { findRoleWord } from "../check/address/address-hints.ts"
import { testDomainOf } from "../check/address/parse-subject.ts"
import { type Check, createCheck } from "../check/check.ts"
import type { DomainLists } from "../check/domain-lookup.ts"
import { LISTS_ALONE } from "../check/lists-alone.ts"
import { contactUri, isDnsOff, type Settings } from "../config/settings.ts"
import { createAdminCheck } from "../customers/accounts/account-email.ts"
import { type CustomersService, createCustomersService } from "../customers/customers.ts"
import type { FirstAccountResult } from "../customers/keys/first-account.ts"
import { createMailService } from "../customers/mails.ts"
import { createTrustedTimeService } from "../customers/nodes/trusted-time.ts"
import { createPruning } from "../customers/pruning.ts"
import { createSignInService } from "../customers/sign-in-service.ts"
import type { OpenStore } from "../customers/store/core/store.ts"
import type { Observation } from "../customers/store/poll/database-poll.ts"
import { createTrafficPart } from "../customers/usage/traffic.ts"
import type { LoadShedder } from "../http/admission/load-shedder.ts"
import { createApp } from "../http/app.ts"
import { createClientAddressResolver, createClientNetworkResolver } from "../http/request/client-address.ts"
import { createJsonResponses } from "../http/response/json-responses.ts"
import { createRequestIds } from "../http/response/request-id.ts"
import type { ReadEmbeddedAsset } from "../http/site/assets.ts"
import { listsOverview } from "../http/site/public/lists-overview.tsx"
import { createSignUpCheck, type SignUpCheck } from "../http/site/sign-in/sign-up-check.ts"
import { createJobsService } from "../jobs/jobs-part.ts"
import { createDescriptorWatch } from "../process/descriptor-watch.ts"
import {
  assertPortFree,
  type DrainRequest,
  drainAndClose,
  drainForTakeover,
  listenerUrl,
  listenOnSockets,
} from "../process/http-listener.ts"
import { StartBudget, StartStopped } from "../process/start-budget.ts"
import { createBackupsPart, recordDeletions } from "./backups.ts"
import { createNetworkCaches } from "./check/caches.ts"
import { createDeepChecksService } from "./check/deep-checks.ts"
import { createLearnedHostsService } from "./check/learned-hosts.ts"
import {
  createDnsOutageLog,
  createNetworkService,
  createOnDefect,
  dnsServerPlaces,
  type HostLearning,
  type NetworkService,
} from "./check/network.ts"
import { createSharedLists, takeSharedListsAtStart } from "./check/shared-lists.ts"
import { type AppContext, faultsOf, type StoreContext } from "./context.ts"
import { ensureBootstrapAccount } from "./customers/bootstrap-account.ts"
import { createCallbacksService } from "./customers/callbacks.ts"
import { createLeakReportsService } from "./customers/leak-reports.ts"
import { createDatabasePoll, createStorePart, openStore, timeOperations } from "./customers/store.ts"
import { createHealthReport, type HealthFaults } from "./health-report.ts"
import { guideFacts } from "./licences.ts"
import { createInstrumentation, type Instrumentation } from "./metrics.ts"
import { type Part, startParts, stopParts } from "./part.ts"
import { formatUserAgent } from "./program.ts"
import { isWorker, logResources, processMemoryBytes, type ServeMode, workerCountOf } from "./serve-mode.ts"
import { takeReloaded } from "./settings.ts"

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
  /** Takes what another process of the node found in the database; null: it could not ask. */
  readonly observe: (observation: Observation | null) => void
  /** Finds out now whether the DNS servers are dead, as another worker has found. */
  readonly suspectDns: NetworkService["suspectDns"]
  /** The mail server replies to another worker again. */
  readonly noteMailReply: () => void
  /** Resolves when the clients have moved to the server that takes over. Then `stop` must be called. */
  readonly drainForTakeover: (drainRequest: DrainRequest) => Promise<void>
  /** From now on `/v1/health` answers 503, and everything else is served. */
  readonly announceStop: () => void
  /** Finishes the requests in flight, writes buffered data and closes. */
  readonly stop: () => Promise<void>
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
  // Before clients may take all descriptors.
  await context.system.startFetching()
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
  const state = { isStopping: false, isDraining: false, isListening: false, baseUrl: "" }
  const instrumentation = createInstrumentation(context, mode)
  const timed = timeOperations(system, opened, instrumentation.meter)
  const store = budget.storeFor(timed, () => state.isListening)
  const wiring = { instrumentation, mode, baseUrl: () => state.baseUrl }
  const { appDeps, parts, lists, customers, poll, network, mails, stored } = await createParts(context, store, wiring)
  const app = createApp({
    ...appDeps,
    allowSilence: (request, seconds) => server.timeout(request, seconds),
    ...clientAddressDeps(settings, request => server.requestIP(request)?.address ?? null, instrumentation),
    baseUrl: () => state.baseUrl,
    isStopping: () => state.isStopping,
    isDraining: () => state.isDraining,
  })
  const { first: server, all } = listenOnSockets(listenPlace(settings, mode), app, socketCount(mode))
  const address = listenerUrl(server)
  Object.assign(state, { baseUrl: settings.MAILKIND_BASE_URL ?? address, isListening: true })
  startParts(parts)
  if (!isWorker(mode)) logResources(context, 1, store)
  return {
    address,
    baseUrl: state.baseUrl,
    port: server.port ?? 0,
    ensureBootstrapAccount: () => ensureBootstrapAccount(stored, budget.storeFor(opened)),
    reloadLists: lists.reload,
    takeSettings: next => {
      takeReloaded(settings, next)
      customers.takeTiers(settings)
    },
    ...{ pollChanges: customers.pollChanges, suspectDns: network.suspectDns, noteMailReply: mails.noteEnd },
    observe: observation => poll.observe(observation),
    drainForTakeover: drainRequest => {
      state.isDraining = true
      return drainForTakeover(system, all, app.fetch, drainRequest)
    },
    announceStop: () => void Object.assign(state, { isStopping: true }),
    stop: async () => {
      Object.assign(state, { isStopping: true, isDraining: true })
      await drainAndClose(system, all, app.fetch)
      await stopParts(parts)
    },
  }
}

const socketCount = (mode: ServeMode): number => (mode === "alone" ? 1 : mode.socketCount)

const listenPlace = ({ MAILKIND_HOST: hostname, MAILKIND_PORT }: Settings, mode: ServeMode) => ({
  hostname,
  port: isWorker(mode) ? mode.port : MAILKIND_PORT,
  isShared: mode !== "alone",
})

type Wiring = {
  readonly instrumentation: Instrumentation
  readonly mode: ServeMode
  /** Known once the server listens. */
  readonly baseUrl: () => string
}

/** Creates the parts, in the order in which they start, and what the app needs of them. */
async function createParts(hostContext: AppContext, opened: OpenStore, { instrumentation, mode, baseUrl }: Wiring) {
  const { meter, loadShedder } = instrumentation
  const [faults, memoryBytes] = [faultsOf(hostContext), processMemoryBytes(hostContext)]
  const { poll, claims, store } = createDatabasePoll(hostContext, opened, mode)
  const trusted = await createTrustedTimeService(hostContext, faults, store, poll)
  const system = { ...hostContext.system, clock: trusted.time.rowClock }
  const context: StoreContext = { ...hostContext, system, store, trustedTime: trusted.time, poll, claims }
  const { lists, shared } = await createLists(context, mode)
  const activeLists = () => lists.current().lists
  const { learned, network, deep, onDefect, verdictsMax } = createLookUps(context, activeLists, instrumentation, mode)
  const customers = await createCustomersService(
    { ...context, userAgent: formatUserAgent(context.settings) },
    isWorker(mode) ? mode : null,
  )
  const { corrections, freeChecks, publishChanges } = customers
  const notify = recordDeletions(context, publishChanges)
  const changes = { store, clock: system.clock, today: () => customers.units.today(), notify }
  const mails = createMailService(context, faults, baseUrl, isWorker(mode) ? mode.shareMailReply : undefined)
  const signIn = createSignInService(context, mails.sendNow)
  const { networkProbe, isDnsUnavailable } = network
  const probes = { networkProbe, deepProbe: deep.deepProbe }
  const check = createCheck({ ...system, ...probes, activeLists, corrections, onDefect, verdictsMax })
  const listsCheck = createCheck({ ...system, ...LISTS_ALONE, activeLists, corrections, verdictsMax: 0 })
  const { jobs, part: jobsPart } = createJobsService({ ...context, memoryBytes }, check, customers, loadShedder)
  const parts: readonly Part[] = [
    ...[createStorePart(store), trusted, customers, learned, deep, mails],
    ...[createCallbacksService(context, network), signIn],
    createPruning({ ...context, runInterval: system.runInterval, pruneMails: mails.prune, freeChecks }),
    createTrafficPart(context, customers.usage, meter),
    createBackupsPart(hostContext), // whose files have the time of the host
    instrumentation.createMetricsPart(() => parts),
    createDescriptorWatch(system, faults),
    createStartCollector({ ...system, collectGarbage: () => system.collectGarbage(true) }),
    ...[lists, shared, network],
    // Rows of jobs are not checked without the network.
    jobsPart,
    // Last: it calls the parts before it.
    { start: () => poll.start(), stop: () => poll.stop() },
  ]
  return {
    ...{ lists, customers, parts, poll, network, mails, stored: context },
    appDeps: {
      ...createAppDeps(context, lists, { ...customers, ...trusted, ...shared, isDnsUnavailable }),
      ...customers,
      ...createLeakReportsService(context, changes),
      ...{ changes, signIn, check, listsCheck, jobs },
      signUpCheck: assembleSignUpCheck(context, customers.ownLists, { check, listsCheck }),
    },
  }
}

/** Opens the lists, after the start has taken those that nodes share: workers find what their supervisor took. */
async function createLists(context: StoreContext, mode: ServeMode) {
  if (!isWorker(mode)) await takeSharedListsAtStart(context, context.store)
  const lists = await createListsService(context)
  return { lists, shared: createSharedLists(context, mode, lists.current) }
}

/** Wires the network look-ups of checks, and what is learned from them. */
function createLookUps(
  context: StoreContext,
  activeLists: () => DomainLists,
  instrumentation: Instrumentation,
  mode: ServeMode,
) {
  const { system, settings } = context
  const memoryBytes = processMemoryBytes(context)
  const onDefect = createOnDefect(context, instrumentation.meter)
  const learned = createLearnedHostsService(context, () => activeLists().pack)
  const matchLists: HostLearning["matchLists"] = (domain, registrable) => activeLists().pack.match(domain, registrable)
  const learning = { learnedHosts: learned.hosts, matchLists, listsVersion: () => activeLists().pack.version }
  const caches = createNetworkCaches(settings.MAILKIND_CACHE_BYTES_MAX, memoryBytes)
  const network = createNetworkService(context, learning, {
    outages: createDnsOutageLog(context, () => dnsServerPlaces(context)),
    onDnsDead: isWorker(mode) ? mode.shareDnsDead : undefined,
    ...{ onDefect, caches },
    collector: createHeapCollector(
      { ...system, ...system.memory, collectGarbage: () => system.collectGarbage(true) },
      heapGrowthWithin(memoryBytes),
    ),
  })
  const quiet = skipDeepChecksUnderLoad(network, instrumentation.loadShedder)
  const deep = createDeepChecksService(context, quiet, context, onDefect, caches.factsMax)
  return { learned, network, deep, onDefect, verdictsMax: caches.verdictsMax }
}

/** Skips deep checks under load as it does while DNS is unavailable. */
export const skipDeepChecksUnderLoad = (
  { queryDns, isDnsUnavailable }: Pick<NetworkService, "queryDns" | "isDnsUnavailable">,
  loadShedder: Pick<LoadShedder, "isUnderPressure">,
): Pick<NetworkService, "queryDns" | "isDnsUnavailable"> => ({
  queryDns,
  isDnsUnavailable: () => isDnsUnavailable() || loadShedder.isUnderPressure(),
})

/** Wires the check of addresses that sign in. */
export const assembleSignUpCheck = (
  { system, settings, log }: AppContext,
  ownLists: CustomersService["ownLists"],
  checks: { readonly check: Check; readonly listsCheck: Check },
): SignUpCheck =>
  createSignUpCheck({
    ...checks,
    policy: settings.MAILKIND_SIGN_UP_POLICY,
    ownLists,
    setTimer: system.setTimer,
    testDomain: testDomainOf(settings.MAILKIND_TEST_DOMAIN),
    log,
  })

/** The dependencies of the app that concern the client's address. */
function clientAddressDeps(
  settings: Settings,
  peerAddress: (request: Request) => string | null,
  { meter, loadShedder }: Instrumentation,
) {
  const clientOf = derived(() => settings.MAILKIND_TRUSTED_PROXIES, createClientNetworkResolver)
  const resolve = derived(() => settings.MAILKIND_TRUSTED_PROXIES, createClientAddressResolver)
  const addressOf = (request: Request) => resolve()(peerAddress(request), request.headers)
  return {
    ...{ meter, loadShedder, addressOf },
    clientOf: (request: Request) => clientOf()(peerAddress(request), request.headers),
  }
}

/** The dependencies of the app that no part provides. */
function createAppDeps(context: StoreContext, lists: ListsService, faults: HealthFaults) {
  const { system, settings, log } = context
  const isHttps = settings.MAILKIND_BASE_URL?.startsWith("https:") ?? false
  return {
    ...system,
    responses: createJsonResponses(createRequestIds(system.random), isHttps),
    isHttps,
    roleOf: (localPart: string) => findRoleWord(localPart, lists.current().lists.addressWords),
    slowMs: () => (settings.MAILKIND_SLOW_MS === "off" ? null : settings.MAILKIND_SLOW_MS),
    logsEveryResponse: () => settings.MAILKIND_LOG === "debug" || system.verbose.isOn(),
    log,
    testDomain: testDomainOf(settings.MAILKIND_TEST_DOMAIN),
    health: createHealthReport(context, lists, faults),
    asset: (name: Parameters<ReadEmbeddedAsset>[0]) => system.files.bundled(`${name}.asset`),
    isAdmin: createIsAdmin(settings),
    defaultTier: settings.MAILKIND_DEFAULT_TIER,
    hasMailServer: settings.MAILKIND_SMTP_URL !== null,
    pricing: readPricing(context),
    securityContacts: settings.MAILKIND_SECURITY_CONTACT.map(contactUri),
    isDnsOff: isDnsOff(settings),
    lists: () => listsOverview(lists.current()),
    guide: guideFacts(context),
  }
}

/** What the operator says about prices: the Markdown of a file in the data directory; null: nothing. */
function readPricing({ system: { files }, settings }: AppContext): string | null {
  const path = join(settings.MAILKIND_DATA_DIR, PRICING_FILE)
  if (files.modifiedAtMs(path) === null) return null
  const file = files.readSmall(path)
  if (file.kind === "unreadable") throw new StartupError(`${path} cannot be read: ${file.why}.`)
  return file.text.trim() === "" ? null : file.text
}

const PRICING_FILE = "pricing.md"

function createIsAdmin(settings: Settings): (email: string) => boolean {
  const check = derived(() => settings.MAILKIND_ADMINS, createAdminCheck)
  if (check() === null)
    throw new StartupError("MAILKIND_ADMINS wants emails that accounts can have: `name@domain`, unquoted.")
  return email => check()?.(email) ?? false
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
    logResources(context, workerCountOf(context), store)
    await takeSharedListsAtStart(context, store)
    return { store, budget }
  } catch (error) {
    if (error instanceof StartStopped) return null
    throw error
  }
}
