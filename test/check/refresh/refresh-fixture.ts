import { openPack, type Pack } from "../../../src/check/lists/pack/pack.ts"
import { readSourceBundle, type SourceBundle } from "../../../src/check/lists/sources/source-bundle.ts"
import { type RefreshDeps, type RefreshResult, refresh } from "../../../src/check/refresh/refresh.ts"
import {
  decodeRefreshState,
  manifestFileName,
  packFileName,
  STATE_FILE,
} from "../../../src/check/refresh/refresh-state.ts"
import { createFiles } from "../../../src/system/files.ts"
import { memoryFolder } from "../../support/memory-folder.ts"
import { countedTime, loopbackFetch, webServer } from "../fetch/loopback-web.ts"
import { type FakeSource, fakeSourceFiles } from "../lists/sources/fake-source-files.ts"

/** Names `old0.com`, `old1.com` and so on. */
export const oldNames = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `old${at}.com`)

/** The number of names of the built-in source, which `fresh` renews. */
export const OLD_COUNT = 50

/** Ten names that are never disposable, besides two others. */
export const NEVER_NAMES: readonly string[] = Array.from({ length: 10 }, (_, at) => `never${at}.com`)

const SOURCES: Readonly<Record<string, FakeSource>> = {
  bundled: { set: "disposable", trust: "high", names: oldNames(OLD_COUNT) },
  fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true, renews: "bundled" },
  extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
  offices: { set: "government", trust: "high", names: [], isDownloaded: true },
  providers: { set: "personal", trust: "curated", names: ["gmail.com"] },
  known: { set: "never_disposable", trust: "curated", names: ["stripe.com", "nasa.gov", ...NEVER_NAMES] },
}

/** A source bundle of a few sources, three of which are downloaded. */
export function smallBundle(sources: Readonly<Record<string, FakeSource>> = SOURCES): SourceBundle {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const read = readSourceBundle(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.bundle
}

/** The text of a list, one name per line. */
export const listText = (names: readonly string[]): string => `${names.join("\n")}\n`

/** The response of the server for a path. */
export type ResponseFor = (request: Request) => Response | Promise<Response>

const DAY_MS = 86_400_000

/** A refresh with the small bundle, a folder in memory, and a loopback server whose responses the test sets. */
export function refreshFixture({ stock: bundle = smallBundle(), stockId: bundleId = "stock-1" } = {}) {
  const folder = memoryFolder()
  const time = countedTime()
  const { fetchUrl, requestedUrls } = loopbackFetch()
  const answers = new Map<string, ResponseFor>()
  const none: ResponseFor = () => new Response("nothing here", { status: 404 })
  const server = webServer(request => (answers.get(new URL(request.url).pathname) ?? none)(request))
  const sourceUrls = new Map(["fresh", "extra", "offices"].map(id => [id, `${server.url}${id}.conf`]))
  const needs: RefreshDeps = {
    ...time,
    setTimer: time.later,
    folder,
    bundle,
    bundleId,
    fetchUrl,
    resolver: null,
    userAgent: "mailkind",
    readTexts: createFiles().readTexts,
    readParts: createFiles().readParts,
    isOutsideOff: false,
    sourceUrls,
  }
  const state = () => decodeRefreshState(folder.held.get(STATE_FILE) ?? null)
  return {
    needs,
    folder,
    time,
    urls: sourceUrls,
    requests: requestedUrls,
    serverUrl: server.url,
    state,
    nextDay: () => time.tick(DAY_MS),
    /** Sets the response for `/id.conf`: a list of these names, or the result of the function. */
    serve: (id: string, answer: readonly string[] | ResponseFor) => {
      answers.set(`/${id}.conf`, typeof answer === "function" ? answer : () => new Response(listText(answer)))
    },
    refresh: async (only: string | null = null, changed: Partial<RefreshDeps> = {}): Promise<RefreshResult> => {
      const refreshed = await refresh({ ...needs, ...changed }, only)
      if (refreshed === "unknown") throw new Error(`${only} is no source`)
      return refreshed
    },
    /** The pack in use, which must be intact and have its manifest; null: the bundled one. */
    inUse: (): Pack | null => {
      const { in_use } = state()
      if (in_use === null) return null
      const opened = openPack(folder.held.get(packFileName(in_use)) ?? new Uint8Array())
      if (opened.kind === "refused") throw new Error(opened.message)
      const verified = opened.pack.verify()
      if (!verified.ok) throw new Error(verified.message)
      const manifest = JSON.parse(new TextDecoder().decode(folder.held.get(manifestFileName(in_use))))
      if (manifest.version !== opened.pack.version) throw new Error("the manifest is another pack's")
      return opened.pack
    },
  }
}

/** What `refreshFixture` builds. */
export type RefreshFixture = ReturnType<typeof refreshFixture>

/** The first names of `fresh`: all built-in ones and one more. */
export const FIRST_NAMES: readonly string[] = [...oldNames(OLD_COUNT), "first.com"]

/** A fixture with three valid sources that were refreshed once. */
export async function refreshedFixture() {
  const fixture = refreshFixture()
  fixture.serve("fresh", FIRST_NAMES)
  fixture.serve("extra", ["extra.com"])
  fixture.serve("offices", ["nasa.gov", "weather.gov"])
  const first = await fixture.refresh()
  return { ...fixture, first }
}

/** The sets that match a name in the pack in use; null: no pack is in use. */
export const setsOf = (fixture: Pick<RefreshFixture, "inUse">, name: string) =>
  fixture.inUse()?.match(name, name).sets ?? null

/** The sources that list a name in the pack in use, with the day on which it was added. */
export const sourcesOf = (fixture: RefreshFixture, name: string) =>
  fixture
    .inUse()
    ?.listingsOf(name)
    .map(({ source, since }) => [source, since]) ?? null
