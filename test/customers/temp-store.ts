import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Clock, Random } from "../../src/base/outside-world.ts"
import { type AccountCreation, createAccount } from "../../src/customers/accounts/accounts.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import type { AttributedLog, Change } from "../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { openStoreAt } from "../../src/customers/store/open-store.ts"
import { later } from "../support/later.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { trackPending } from "../support/pending-work.ts"
import { dumpOf, takeDatabase, takeStore } from "../support/postgres-databases.ts"
import { placeSqlite } from "../support/sqlite-template.ts"
import { engineNow } from "./engines.ts"

/** The real random source. */
export const random: Random = count => crypto.getRandomValues(new Uint8Array(count))

/** A path in a directory of its own that is removed after the test. */
export function tempPath(name = "mailkind.db"): string {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-test-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, name)
}

/** Where a database of its own is, on the engine of the test: a file's path, or the URL of one that is dropped after the test. */
export function tempPlace(): string {
  if (engineNow() === "sqlite") return tempPath()
  const { url, drop } = takeDatabase()
  // It is emptied beside the next test.
  onTestEnd(() => void drop())
  return url
}

/** Opens the store at a place. */
export const openAt = (place: string, clock: Clock): Promise<OpenStore> =>
  openStoreAt(place, { clock, setTimer: later })

/** A store on a real database that is closed after the test. */
export async function tempStore(place = tempPlace()): Promise<OpenStore> {
  const store = trackedStore(await (place.startsWith("postgres:") ? takeStore(place) : openPlaced(place)))
  onTestEnd(store.close)
  return store
}

async function openPlaced(path: string): Promise<OpenStore> {
  await placeSqlite(path)
  return await openAt(path, () => 1_000)
}

/** A store with connections of its own, for tests of what opening, closing and losing them does. It is closed after the test. */
export async function ownStore(place = tempPlace()): Promise<OpenStore> {
  const store = await openAt(place, () => 1_000)
  onTestEnd(store.close)
  return store
}

/** A store on an empty database, which are free for others when it is disposed of: for what is done many times in one test. */
export async function freshStore(): Promise<AsyncDisposable & { readonly store: OpenStore }> {
  if (engineNow() === "sqlite") {
    const store = trackedStore(await openPlaced(tempPath()))
    return { store, [Symbol.asyncDispose]: store.close }
  }
  const { url, drop } = takeDatabase()
  const store = trackedStore(await takeStore(url))
  const giveBack = async (): Promise<void> => {
    await store.close()
    await drop()
  }
  return { store, [Symbol.asyncDispose]: giveBack }
}

/** A store whose work `settled` waits for. */
export const trackedStore = (store: OpenStore): OpenStore => ({
  ...store,
  all: <Row>(...requests: Parameters<OpenStore["all"]>) => trackPending(store.all<Row>(...requests)),
  one: <Row>(...requests: Parameters<OpenStore["one"]>) => trackPending(store.one<Row>(...requests)),
  run: (...requests) => trackPending(store.run(...requests)),
  transaction: (...requests) => trackPending(store.transaction(...requests)),
})

/** All that stands in the files of the database at a place, as text. */
export function writtenAt(place: string): string {
  if (place.startsWith("postgres:")) return dumpOf(place)
  return readdirSync(dirname(place))
    .map(name => readFileSync(join(dirname(place), name), "latin1"))
    .join("")
}

/** A change log whose clock can be set and whose changes can be read. */
export function tempLog(store: OpenStore): AttributedLog & { now: number; readonly received: Change[] } {
  const received: Change[] = []
  const log = {
    store,
    received,
    actor: SERVER_ACTOR,
    now: 5_000,
    clock: () => log.now,
    notify: (changes: readonly Change[]) => void received.push(...changes),
  }
  return log
}

/** The id of a new account. */
export async function newAccount(log: AttributedLog, email = "jane@example.com", tier = 0): Promise<string> {
  const creation: AccountCreation = await createAccount(log, random, { email, tier, termsVersion: null })
  if (creation.kind !== "created") throw new Error(creation.kind)
  return creation.account.id
}

type Ended = { readonly out: readonly string[]; readonly code: number }

/** Starts `child.ts` with these words in `count` processes, lets them go at the same moment, and gives what each printed. */
export async function runChildren(count: number, ...words: string[]): Promise<Ended[]> {
  const children = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, join(import.meta.dir, "child.ts"), ...words], { stdin: "pipe", stderr: "inherit" }),
  )
  const readers = children.map(child => child.stdout.getReader())
  for (const reader of readers) await reader.read()
  for (const child of children) {
    child.stdin.write("go\n")
    await child.stdin.end()
  }
  return await Promise.all(children.map((child, index) => ended(child, readers[index])))
}

type Reader = { readonly read: () => Promise<{ readonly value?: Uint8Array | undefined; readonly done: boolean }> }

async function ended(child: { readonly exited: Promise<number> }, reader: Reader | undefined): Promise<Ended> {
  let text = ""
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
    text += new TextDecoder().decode(part.value)
  return { out: text.trim().split("\n"), code: await child.exited }
}
