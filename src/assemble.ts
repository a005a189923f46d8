import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { customersAtWork, type Shared } from "./assemble-customers.ts"
import { outsideAsked } from "./assemble-outside.ts"
import { type Log, logger } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import { roleWord } from "./check/address/hints.ts"
import { type Check, type Corrections, checking } from "./check/check.ts"
import type { Manifest } from "./check/lists/manifest.ts"
import { type Lists, ListsInUse, openLists } from "./check/lists.ts"
import type { Outside } from "./check/outside.ts"
import type { Settings } from "./config/settings.ts"
import { type FirstAccount, firstAccount } from "./customers/keys/first-account.ts"
import { openSqlite } from "./customers/store/sqlite.ts"
import type { OpenStore, Store } from "./customers/store/store.ts"
import { currentTermsVersion } from "./customers/terms/terms.ts"
import { answers } from "./http/answer.ts"
import { buildApp } from "./http/app.ts"
import { clientAddress } from "./http/client-address.ts"
import { requestIds } from "./http/request-id.ts"
import { shownLists } from "./http/site/lists-page.tsx"
import { healthOf } from "./http/v1/health.ts"
import { addressOf, drained, listen, refuseTakenPort } from "./listening.ts"
import { OWN_FILES, type World } from "./world.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

const NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** The log of this process, as the settings want it; that of a worker names its seat in every line. */
export function logOf(world: World, settings: Settings, seat: number | null = null): Log {
  const log = logger(settings.MAILKIND_LOG, world.isTerminal, world.clock, world.err)
  return seat === null ? log : (level, says, fields) => log(level, says, { worker: seat, ...fields })
}

/** Builds the check over lists and what asks the outside world. */
export const checkOver = (
  { clock, stopwatch }: World,
  lists: () => Lists,
  outside: Outside,
  corrections: Corrections,
): Check => checking({ lists, outside, corrections, clock, stopwatch })

/** Gives new request ids. */
export const newRequestIds = (world: World): (() => string) => requestIds(world.random)

/** Opens the store in the data directory, which is created when it is missing. Rejects with a `StoreFault`. */
export async function openStore(world: World, settings: Settings): Promise<OpenStore> {
  return await openSqlite(join(settings.MAILKIND_DATA_DIR, "mailkind.sqlite"), world.clock)
}

/** The lists that the executable carries or the checkout has built; the data directory is not touched. */
export const carriedLists = async (world: World): Promise<Lists> => ourLists(await carriedPack(world))

/** What the lists that the executable carries, or the checkout has built, were built from. */
export async function carriedManifest({ files }: World): Promise<Manifest> {
  const manifest = files.own("manifest.json")
  if (manifest === null) throw new CannotStart(NOT_BUILT)
  return await manifest.json() // written by our own build, and part of this executable or checkout
}

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
  /** Lets what is in flight finish, writes what is held, and closes. */
  readonly stop: () => Promise<void>
}

/** What a worker shares with the others, and where it sits among them. */
export type Together = Shared & { readonly seat: number; readonly port: number }

/**
 * Wires the whole house and listens. `together` null: the server is this process alone. Rejects with `CannotStart` or a
 * `StoreFault`, each with its remedy in words.
 */
export async function startServer(world: World, settings: Settings, together: Together | null): Promise<Running> {
  const log = logOf(world, settings, together?.seat)
  const startedAt = world.stopwatch()
  const store = await openStore(world, settings)
  const manifest = await carriedManifest(world)
  const packPath = packPathOf(world, settings, manifest)
  const lists = new ListsInUse(await mappedLists(world, packPath, log))
  const { outside, isDnsAway, end: endAsking } = outsideAsked(world, settings)
  const customers = await customersAtWork(world, settings, store, log, together)
  const state = { isStopping: false, url: "" }
  const clientOf = clientAddress(settings.MAILKIND_TRUSTED_PROXIES)
  const isHttps = settings.MAILKIND_BASE_URL?.startsWith("https:") ?? false
  const app = buildApp({
    answers: answers(newRequestIds(world), isHttps),
    isHttps,
    ...customers,
    check: checkOver(world, lists.now, outside, customers.corrections),
    roleOf: localPart => roleWord(localPart, lists.now().words),
    clientOf: request => clientOf(server.requestIP(request)?.address ?? null, request.headers),
    clock: world.clock,
    soon: world.soon,
    log,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    baseUrl: () => state.url,
    health: () => healthOf(VERSION, lists.now(), isDnsAway(), world.stopwatch() - startedAt),
    isStopping: () => state.isStopping,
    asset: name => (name === "scalar.js" ? world.files.own("scalar.js.asset") : null),
    lists: () => shownLists(lists.now(), manifest),
  })
  const server = listen(settings, together?.port ?? null, app)
  const address = addressOf(server)
  state.url = settings.MAILKIND_BASE_URL ?? address
  askFirst(lists.now())
  customers.begin()
  return {
    address,
    baseUrl: state.url,
    port: server.port ?? 0,
    firstAccount: () => firstAccountIn(world, store),
    reloadLists: () => reload(world, packPath, lists, log),
    readChanges: customers.readChanges,
    stop: async () => {
      state.isStopping = true
      await drained(world, server)
      endAsking()
      await customers.end()
      await store.close()
    },
  }
}

/** Creates the first account with its key where there is none. Whoever calls it shows the key: it is not told again. */
export async function firstAccountIn({ clock, random }: World, store: Store): Promise<FirstAccount> {
  return await firstAccount(store, clock, random, await currentTermsVersion(store))
}

/**
 * Does once what workers would all do when they start: brings the store up to date, unpacks the lists and finds the port
 * free. Gives the store, open. Rejects as `startServer` does.
 */
export async function prepare(world: World, settings: Settings): Promise<OpenStore> {
  const store = await openStore(world, settings)
  await mappedLists(world, packPathOf(world, settings, await carriedManifest(world)), logOf(world, settings))
  if (settings.MAILKIND_PORT !== 0) refuseTakenPort(settings)
  return store
}

/** Tables of look-alikes are made on the first question: this one, not a caller's (about 15 ms). */
function askFirst({ reputeOf }: Lists): void {
  reputeOf("first.question", "first.question")
}

async function carriedPack(world: World): Promise<Uint8Array> {
  const pack = world.files.own("lists.pack")
  if (pack === null) throw new CannotStart(NOT_BUILT)
  return await pack.bytes()
}

/**
 * The lists, mapped from a file that is never written again: in a checkout the one that was built, else the one that the
 * executable carries, unpacked once into the data directory under its checksum.
 */
async function mappedLists(world: World, path: string, log: Log): Promise<Lists> {
  const mapped = world.files.map(path)
  const opened = mapped === null ? null : openLists(mapped, true)
  if (opened?.kind === "open") return opened.lists
  if (opened?.kind === "refused") log("warn", "the lists are damaged and taken anew", { path, why: opened.says })
  if (world.files.isExecutable) await world.files.replace(path, await carriedPack(world))
  return ourLists(world.files.map(path) ?? new Uint8Array())
}

/** The lists in bytes that we wrote; a failure in words when they are damaged. */
function ourLists(bytes: Uint8Array): Lists {
  const opened = openLists(bytes, true)
  if (opened.kind === "refused") throw new CannotStart(`${opened.says} ${opened.remedy}`)
  return opened.lists
}

function packPathOf({ files }: World, settings: Settings, { pack }: Manifest): string {
  if (!files.isExecutable) return join(files.root, OWN_FILES["lists.pack"])
  return join(settings.MAILKIND_DATA_DIR, "lists", `${pack.sha256.slice(0, 16)}.pack`)
}

async function reload(world: World, path: string, lists: ListsInUse, log: Log): Promise<void> {
  const offered = lists.offer(world.files.map(path) ?? new Uint8Array())
  if (offered.kind === "taken") log("info", "the lists were taken anew", { version: offered.version })
  else log("error", "the lists in use are kept", { why: offered.says, remedy: offered.remedy })
}
