import manifest from "../package.json" with { type: "json" }
import { customersAtWork, type Shared } from "./assemble-customers.ts"
import { deepAtWork } from "./assemble-deep.ts"
import { leaksAtWork } from "./assemble-leaks.ts"
import { learnedAtWork } from "./assemble-learned.ts"
import { knownLists, type ListsAtWork, listsAtWork } from "./assemble-lists.ts"
import { mailsAtWork } from "./assemble-mails.ts"
import { mayReadMetrics, type Observing, observing, yielding } from "./assemble-metrics.ts"
import { type Learning, outsideAsked } from "./assemble-outside.ts"
import { signInAtWork } from "./assemble-sign-in.ts"
import { openStore } from "./assemble-store.ts"
import { guideFacts } from "./assemble-supply.ts"
import { type Log, type LogLevel, logger } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import { roleWord } from "./check/address/hints.ts"
import { type Check, type Corrections, checking } from "./check/check.ts"
import type { Deep } from "./check/deep.ts"
import type { KnownLists, Lists } from "./check/lists.ts"
import type { Outside } from "./check/outside.ts"
import type { Settings } from "./config/settings.ts"
import type { Health } from "./contract/schemas.ts"
import { adminsAmong } from "./customers/accounts/admins.ts"
import { type FirstAccount, firstAccount } from "./customers/keys/first-account.ts"
import type { OpenStore, Store } from "./customers/store/store.ts"
import { currentTermsVersion } from "./customers/terms/terms.ts"
import { answers } from "./http/answer.ts"
import { buildApp } from "./http/app.ts"
import { clientAddress } from "./http/client-address.ts"
import type { Build } from "./http/metrics/exposition.ts"
import { requestIds } from "./http/request-id.ts"
import type { CarriedName } from "./http/site/assets.ts"
import { shownLists } from "./http/site/lists-page.tsx"
import { healthOf } from "./http/v1/health.ts"
import type { Logging } from "./http/watch.ts"
import { addressOf, drained, type Leaving, leave, listenTimes, refuseTakenPort } from "./listening.ts"
import type { World } from "./world.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** What runs. */
export const BUILD: Build = { version: VERSION, bun: Bun.version }

/** The log of this process, as the settings want it; that of a worker names its seat in every line. */
export function logOf(world: World, settings: Settings, seat: number | null = null): Log {
  const from = (least: LogLevel): Log => logger(least, world.isTerminal, world.clock, world.err)
  const [usual, whole] = [from(settings.MAILKIND_LOG), from("debug")]
  const log: Log = (level, says, fields) => (world.detail.isWanted() ? whole : usual)(level, says, fields)
  return seat === null ? log : (level, says, fields) => log(level, says, { worker: seat, ...fields })
}

/** Builds the check over lists and what asks the outside world. */
export const checkOver = (
  { clock, stopwatch }: World,
  lists: () => Lists,
  outside: Outside,
  deep: Deep,
  corrections: Corrections,
): Check => checking({ lists, outside, deep, corrections, clock, stopwatch })

/** How we call ourselves to the servers of others: who we are, and where people find out more. */
export function agentOf({ MAILKIND_BASE_URL: baseUrl, MAILKIND_HOST: host, MAILKIND_PORT: port }: Settings): string {
  // Parsed, for a header is ASCII, and a name or path that an operator writes need not be.
  const base = baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  return `mailkind/${VERSION} (+${new URL(`${base}/docs`).href})`
}

/** Gives new request ids. */
export const newRequestIds = (world: World): (() => string) => requestIds(world.random)

/** A server that answers. */
export type Running = {
  /** Where it listens, as a URL. */
  readonly address: string
  readonly baseUrl: string
  readonly port: number
  /**
   * Creates the first account where there is none. It is asked of a server that listens: a start that fails must not use up
   * the one time that the key is shown.
   */
  readonly firstAccount: () => Promise<FirstAccount>
  /** Takes the pack that lies in the lists' place now, if it is whole; else keeps the lists in use and logs why. */
  readonly reloadLists: () => Promise<void>
  /** Learns at once what other processes changed, such as keys that were revoked. */
  readonly readChanges: () => void
  /** Has callers go to the server that listens beside this one, and resolves when they have; then it is to be stopped. */
  readonly leave: (leaving: Leaving) => Promise<void>
  /** Lets what is in flight finish, writes what is held, and closes. */
  readonly stop: () => Promise<void>
}

/** Whether a server has its port to itself, listens beside the one that it replaces, or is one of several workers. */
export type Place = "alone" | Beside | Together

/** How many sockets a process listens with on a port that it shares. */
export type Beside = { readonly listenersCount: number }

/** What a worker shares with the others, and where it sits among them. */
export type Together = Shared & Beside & { readonly seat: number; readonly port: number } & Columns

/** What each worker counts, by its seat. */
type Columns = { readonly columns: readonly Float64Array[] }

/**
 * Wires the whole house and listens. Rejects with `CannotStart` or a
 * `StoreFault`, each with its remedy in words.
 */
export async function startServer(world: World, settings: Settings, place: Place): Promise<Running> {
  const together = typeof place === "object" && "seat" in place ? place : null
  const log = logOf(world, settings, together?.seat)
  const observed = observing(world, settings, log, place, BUILD)
  const store = await openStore(world, settings, log)
  const lists = await listsAtWork(world, settings, log)
  const learned = learnedAtWork(world, store, log)
  const listed: Learning["listed"] = (domain, registrable) => lists.now().lists.pack.listed(domain, registrable)
  const asked = outsideAsked(world, settings, { hosts: learned.hosts, listed })
  const deep = deepAtWork(world, settings, yielding(asked, observed), store, log, agentOf(settings))
  const customers = await customersAtWork(world, settings, store, log, together)
  const changes = { store, clock: world.clock, hear: customers.hear }
  const state = { isStopping: false, url: "" }
  const mails = mailsAtWork(world, settings, store, log, () => state.url)
  const signIn = signInAtWork(world, settings, store, log, mails.sendNow)
  const metrics = observed.over({ store, lists, outside: asked, customers })
  const app = buildApp({
    ...faceOver(world, settings, lists, asked.isDnsAway, log),
    ...customers,
    ...leaksAtWork(world, settings, changes, log, agentOf(settings)),
    changes,
    signIn,
    check: checkOver(world, () => lists.now().lists, asked.outside, deep.deep, customers.corrections),
    ...addressed(settings, observed, request => server.requestIP(request)?.address ?? null),
    baseUrl: () => state.url,
    isStopping: () => state.isStopping,
  })
  const port = together?.port ?? (place === "alone" ? null : settings.MAILKIND_PORT)
  const { first: server, all } = listenTimes(settings, port, app, place === "alone" ? 1 : place.listenersCount)
  const address = addressOf(server)
  state.url = settings.MAILKIND_BASE_URL ?? address
  const endLooking = lists.begin()
  // They end in the other order: what is under way may still need what was there before it.
  const works = [customers, learned, deep, mails, signIn, metrics]
  for (const { begin } of works) begin()
  return {
    address,
    baseUrl: state.url,
    port: server.port ?? 0,
    firstAccount: () => firstAccountIn(world, store),
    reloadLists: lists.reload,
    readChanges: customers.readChanges,
    leave: leaving => leave(world, all, app.fetch, leaving),
    stop: async () => {
      state.isStopping = true
      await drained(world, all, app.fetch)
      for (const end of [asked.end, endLooking, ...works.toReversed().map(work => work.end), store.close]) await end()
    },
  }
}

/** What goes by where requests come from. */
function addressed(
  settings: Settings,
  { meter, load, read }: Observing,
  addressAt: (request: Request) => string | null,
) {
  const clientOf = clientAddress(settings.MAILKIND_TRUSTED_PROXIES)
  return {
    clientOf: (request: Request) => clientOf(addressAt(request), request.headers),
    meter,
    load,
    metrics: { read, mayRead: mayReadMetrics(settings, addressAt) },
  }
}

/** What the face needs that no other part of the house makes. */
function faceOver(world: World, settings: Settings, lists: ListsAtWork, isDnsAway: () => boolean, log: Log) {
  const isHttps = settings.MAILKIND_BASE_URL?.startsWith("https:") ?? false
  return {
    answers: answers(newRequestIds(world), isHttps),
    isHttps,
    roleOf: (localPart: string) => roleWord(localPart, lists.now().lists.words),
    clock: world.clock,
    random: world.random,
    soon: world.soon,
    stopwatch: world.stopwatch,
    logging: loggingOf(settings),
    log,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    health: healthSince(world, settings, lists.now, isDnsAway),
    asset: (name: CarriedName) => world.files.own(`${name}.asset`),
    isAdmin: adminsOf(settings),
    defaultTier: settings.MAILKIND_DEFAULT_TIER,
    hasMailServer: settings.MAILKIND_SMTP_URL !== null,
    lists: () => shownLists(lists.now()),
    guide: guideFacts(world, settings),
  }
}

function adminsOf({ MAILKIND_ADMINS: emails }: Settings): (email: string) => boolean {
  const isAdmin = adminsAmong(emails)
  if (isAdmin === null)
    throw new CannotStart("MAILKIND_ADMINS wants emails that accounts can have: `name@domain`, unquoted.")
  return isAdmin
}

const loggingOf = ({ MAILKIND_SLOW_MS: slowMs, MAILKIND_LOG_SAMPLE: sampleEvery }: Settings): Logging => ({
  slowMs: slowMs === "off" ? null : slowMs,
  sampleEvery: sampleEvery === "off" ? null : sampleEvery,
})

/** Tells the state of the house from memory, and how long it stands from now on. */
function healthSince(
  { stopwatch }: World,
  settings: Settings,
  known: () => KnownLists,
  isDnsAway: () => boolean,
): () => Health {
  const startedAt = stopwatch()
  const refreshes = settings.MAILKIND_LISTS_REFRESH_HOURS !== "off"
  return () =>
    healthOf({
      version: VERSION,
      known: known(),
      refreshes,
      isDnsAway: isDnsAway(),
      uptimeMs: stopwatch() - startedAt,
    })
}

/** Creates the first account with its key where there is none. Whoever calls it shows the key: it is not told again. */
export async function firstAccountIn({ clock, random }: World, store: Store): Promise<FirstAccount> {
  return await firstAccount(store, clock, random, await currentTermsVersion(store))
}

/**
 * Does once what workers would all do when they start: brings the store up to date, unpacks the lists and finds the port
 * free, unless another server lets them in. Gives the store, open. Rejects as `startServer` does.
 */
export async function prepare(world: World, settings: Settings, isLetIn: boolean): Promise<OpenStore> {
  const store = await openStore(world, settings, logOf(world, settings))
  await knownLists(world, settings, logOf(world, settings))
  if (settings.MAILKIND_PORT !== 0 && !isLetIn) refuseTakenPort(settings)
  return store
}
