import { openPack, type Pack } from "../../../src/check/lists/domain-set.ts"
import { readStock, type Stock } from "../../../src/check/lists/stock.ts"
import { type Refreshed, type RefreshNeeds, refresh } from "../../../src/check/refresh/refresh.ts"
import { manifestFile, packFile, readState, STATE_FILE } from "../../../src/check/refresh/refresh-state.ts"
import { memoryFolder } from "../../world/memory-folder.ts"
import { type FakeSource, fakeShelf } from "../lists/fake-shelf.ts"
import { countedTime, loopbackWeb, webServer } from "./loopback-web.ts"

/** Names `old0.com`, `old1.com` and so on. */
export const oldNames = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `old${at}.com`)

/** How many names the source has that comes along with the program, and that `fresh` renews. */
export const OLD_COUNT = 50

const SOURCES: Readonly<Record<string, FakeSource>> = {
  bundled: { set: "disposable", trust: "high", names: oldNames(OLD_COUNT) },
  fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true, renews: "bundled" },
  extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
  offices: { set: "government", trust: "high", names: [], isDownloaded: true },
  providers: { set: "personal", trust: "curated", names: ["gmail.com"] },
  known: { set: "never_disposable", trust: "curated", names: ["stripe.com", "nasa.gov"] },
}

/** What a program carries of a few sources, three of which are downloaded. */
export function smallStock(sources: Readonly<Record<string, FakeSource>> = SOURCES): Stock {
  const { catalogue, shelf } = fakeShelf(sources)
  const read = readStock(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.stock
}

/** The text of a list, one name a line. */
export const listText = (names: readonly string[]): string => `${names.join("\n")}\n`

/** What a server answers for a path. */
export type Answering = (request: Request) => Response | Promise<Response>

const DAY_MS = 86_400_000

/** A refresh over the small stock, a folder in memory and a server on loopback whose answers the test sets. */
export function smallHouse({ stock = smallStock(), stockId = "stock-1" } = {}) {
  const folder = memoryFolder()
  const time = countedTime()
  const { web, asked } = loopbackWeb()
  const answers = new Map<string, Answering>()
  const none: Answering = () => new Response("nothing here", { status: 404 })
  const server = webServer(request => (answers.get(new URL(request.url).pathname) ?? none)(request))
  const urls = new Map(["fresh", "extra", "offices"].map(id => [id, `${server.url}${id}.conf`]))
  const needs: RefreshNeeds = { ...time, folder, stock, stockId, web, agent: "mailkind", urls }
  const state = () => readState(folder.held.get(STATE_FILE) ?? null)
  return {
    needs,
    folder,
    time,
    urls,
    asked,
    serverUrl: server.url,
    state,
    nextDay: () => time.tick(DAY_MS),
    /** Has the server answer for `/id.conf` with a list of these names, or as the function says. */
    serve: (id: string, answer: readonly string[] | Answering) => {
      answers.set(`/${id}.conf`, typeof answer === "function" ? answer : () => new Response(listText(answer)))
    },
    refresh: async (only: string | null = null, changed: Partial<RefreshNeeds> = {}): Promise<Refreshed> => {
      const refreshed = await refresh({ ...needs, ...changed }, only)
      if (refreshed === "unknown") throw new Error(`${only} is no source`)
      return refreshed
    },
    /** The pack that the state puts in use, which must be whole, and have its manifest beside it. */
    inUse: (): Pack | null => {
      const { in_use } = state()
      if (in_use === null) return null
      const opened = openPack(folder.held.get(packFile(in_use)) ?? new Uint8Array())
      if (opened.kind === "refused") throw new Error(opened.says)
      const verified = opened.pack.verify()
      if (!verified.ok) throw new Error(verified.says)
      const manifest = JSON.parse(new TextDecoder().decode(folder.held.get(manifestFile(in_use))))
      if (manifest.version !== opened.pack.version) throw new Error("the manifest is another pack's")
      return opened.pack
    },
  }
}

/** What `smallHouse` builds. */
export type House = ReturnType<typeof smallHouse>

/** What `fresh` lists at first: all that came along and one more. */
export const FIRST: readonly string[] = [...oldNames(OLD_COUNT), "first.com"]

/** A house whose three sources are good and were refreshed once. */
export async function refreshedHouse() {
  const house = smallHouse()
  house.serve("fresh", FIRST)
  house.serve("extra", ["extra.com"])
  house.serve("offices", ["nasa.gov", "weather.gov"])
  const first = await house.refresh()
  return { ...house, first }
}

/** The sets that hold a name in the pack in use; null: there is none. */
export const setsOf = (house: House, name: string) => house.inUse()?.listed(name, name).sets ?? null

/** The sources that list a name there, with the day on which each did. */
export const sourcesOf = (house: House, name: string) =>
  house
    .inUse()
    ?.listings(name)
    .map(({ source, since }) => [source, since]) ?? null
