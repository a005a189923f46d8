import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { customersAtWork } from "./assemble-customers.ts"
import { outsideAsked } from "./assemble-outside.ts"
import { assert } from "./base/assert.ts"
import { type Log, logger } from "./base/log.ts"
import { roleWord } from "./check/address/hints.ts"
import { type Check, type Corrections, checking } from "./check/check.ts"
import type { Manifest } from "./check/lists/manifest.ts"
import { type Lists, ListsInUse, openLists } from "./check/lists.ts"
import type { Outside } from "./check/outside.ts"
import type { Settings } from "./config/settings.ts"
import { type FirstAccount, firstAccount } from "./customers/keys/first-account.ts"
import { openSqlite } from "./customers/store/sqlite.ts"
import type { OpenStore } from "./customers/store/store.ts"
import { currentTermsVersion } from "./customers/terms/terms.ts"
import { answers } from "./http/answer.ts"
import { buildApp } from "./http/app.ts"
import { clientAddress } from "./http/client-address.ts"
import { requestIds } from "./http/request-id.ts"
import { shownLists } from "./http/site/lists-page.tsx"
import { healthOf } from "./http/v1/health.ts"
import { OWN_FILES, type World } from "./world.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** Why a part could not be built, and what to do about it. */
export class CannotStart extends Error {
  override readonly name = "CannotStart"
}

/** How long a stop waits for what is in flight, and how often it looks. */
const DRAIN_MS = 10_000
const DRAIN_LOOK_MS = 10
/**
 * What the server itself refuses, with an empty body. It is out of reach, so that our own refusal, which has a problem, is
 * what every caller gets; ours comes before the body is read, or at its first octet too many.
 */
const SERVER_BODY_BYTES_MAX = 2 ** 40

const NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** The log of this process, as the settings want it. */
export const logOf = (world: World, settings: Settings): Log =>
  logger(settings.MAILKIND_LOG, world.isTerminal, world.clock, world.err)

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
  /** The account that this start created, with its key; or that there was one. */
  readonly first: FirstAccount
  /** Takes the pack that lies in the lists' place now, if it is whole; else keeps the lists in use and logs why. */
  readonly reloadLists: () => Promise<void>
  /** Lets what is in flight finish, writes what is held, and closes. */
  readonly stop: () => Promise<void>
}

/** Wires the whole house and listens. Rejects with `CannotStart` or a `StoreFault`, each with its remedy in words. */
export async function startServer(world: World, settings: Settings): Promise<Running> {
  const log = logOf(world, settings)
  const startedAt = world.stopwatch()
  const store = await openStore(world, settings)
  const manifest = await carriedManifest(world)
  const packPath = packPathOf(world, settings, manifest)
  const lists = new ListsInUse(await mappedLists(world, packPath, log))
  const { outside, isDnsAway, end: endAsking } = outsideAsked(world, settings)
  const customers = await customersAtWork(world, settings, store, log)
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
    log,
    testDomain: settings.MAILKIND_TEST_DOMAIN,
    baseUrl: () => state.url,
    health: () => healthOf(VERSION, lists.now(), isDnsAway(), world.stopwatch() - startedAt),
    isStopping: () => state.isStopping,
    asset: name => (name === "scalar.js" ? world.files.own("scalar.js.asset") : null),
    lists: () => shownLists(lists.now(), manifest),
  })
  const server = listen(settings, app)
  const address = addressOf(server)
  state.url = settings.MAILKIND_BASE_URL ?? address
  // Only a server that listens makes the first key: a start that fails must not use up the one time that it is shown.
  const first = await firstAccount(store, world.clock, world.random, await currentTermsVersion(store))
  // The tables of look-alikes are made on the first question: this one, not a caller's (about 15 ms).
  lists.now().reputeOf("first.question", "first.question")
  customers.begin()
  const stop = async (): Promise<void> => {
    state.isStopping = true
    await drained(world, server)
    endAsking()
    await customers.end()
    await store.close()
  }
  return { address, baseUrl: state.url, first, stop, reloadLists: () => reload(world, packPath, lists, log) }
}

/** Takes no more connections, waits for the requests in flight, and closes: a connection that idles keeps nobody waiting. */
async function drained(world: World, server: ReturnType<typeof listen>): Promise<void> {
  void server.stop()
  const until = world.stopwatch() + DRAIN_MS
  while (server.pendingRequests > 0 && world.stopwatch() < until) await world.after(DRAIN_LOOK_MS)
  await server.stop(true)
}

/** Listens by way of Elysia, which gives its routes to Bun's own router: the path of a hot request is never cut out again. */
function listen(settings: Settings, app: ReturnType<typeof buildApp>) {
  const { MAILKIND_HOST: hostname, MAILKIND_PORT: port } = settings
  try {
    // Outside of development mode Bun would share the port with another process, which answers half of the requests.
    const options = { maxRequestBodySize: SERVER_BODY_BYTES_MAX, development: false, reusePort: false }
    const { server } = app.listen({ hostname, port, ...options })
    assert(server !== null, "an app that listens has a server")
    return server
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new CannotStart(
      `Cannot listen on ${hostname} port ${port}: ${error.message.replace(/\.$/, "")}. Set MAILKIND_HOST and MAILKIND_PORT.`,
    )
  }
}

/** Where people reach the server: an address that listens everywhere is reached as localhost. */
function addressOf(server: ReturnType<typeof listen>): string {
  const host = server.hostname ?? "localhost"
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host
  return `http://${name}:${server.port}`
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
