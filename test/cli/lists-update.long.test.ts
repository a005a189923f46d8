import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { isDownloaded, parseCatalogue } from "../../src/check/lists/sources/catalogue.ts"
import { repositoryFiles } from "../check/lists/sources/repository-files.ts"
import { environment } from "../e2e/workers/workers-server.ts"
import { askLoopback } from "../support/loopback.ts"
import { startProgram } from "../support/program.ts"

/** The time limit of the one test. It runs many commands, and on a busy machine an update takes a minute. */
const LIMIT_MS = 900_000
const GONE = "http://127.0.0.1:1/"
const TODAY = () => new Date().toISOString().slice(0, 10)

const directory = mkdtempSync(join(tmpdir(), "mailkind-lists-"))
const lists = listServer()
const env = {
  ...environment(directory),
  MAILKIND_LISTS_REFRESH_HOURS: "off",
  MAILKIND_LISTS_SOURCES: sourcesAt(lists.url),
}
const start = (...words: readonly string[]) => startProgram([...PROGRAM, ...words], directory, env)
const server = start("serve")

afterAll(async () => {
  await server.kill()
  lists.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A server of lists, which can hold its answers back. */
function listServer() {
  const texts = new Map<string, string>()
  let query = Promise.withResolvers<void>()
  let isLetGo: Promise<unknown> = Promise.resolve()
  const served = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async ({ url }) => {
      query.resolve()
      await isLetGo
      const text = texts.get(new URL(url).pathname)
      return text === undefined ? new Response("<html>gone</html>", { status: 404 }) : new Response(text)
    },
  })
  return {
    url: served.url.href,
    serve: (path: string, names: readonly string[]) => void texts.set(path, `${names.join("\n")}\n`),
    /** Lets no answer go until the returned function is called; `isAsked` resolves when one was asked for. */
    holdBack: () => {
      query = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      isLetGo = held.promise
      return { isAsked: query.promise, letGo: held.resolve }
    },
    stop: () => void served.stop(true),
  }
}

/** Every download of the catalogue on this machine: one at the server, the others where nobody answers. */
function sourcesAt(url: string): string {
  const catalogue = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  if (catalogue.kind === "refused") throw new Error(catalogue.faults.join("\n"))
  const downloads = catalogue.sources.filter(isDownloaded).map(({ id }) => id)
  return downloads.map(id => `${id}=${id === "disposable-email-domains" ? `${url}names` : GONE}`).join(",")
}

/** Runs a command to its end, and reads what it printed. */
async function run(...words: readonly string[]) {
  const { code, out, err } = await start(...words, "--json").ended()
  return { code, err, facts: out === "" ? null : JSON.parse(out) }
}

/** The version of the lists that the server answers by. */
async function versionInUse(url: string): Promise<string> {
  return JSON.parse((await askLoopback(`${url}/v1/health`)).body).lists.version
}

const logLine = (version: string): RegExp => new RegExp(`the lists were reloaded[^\n]*"${version}"`)

test(
  "lists are updated from the sources that answer, a running server takes them, and one can go back",
  async () => {
    const [, url = ""] = /listens on (\S+)/.exec(await server.printed(/curl [^\n]*\n/)) ?? []
    const carried = await versionInUse(url)
    const bundled: readonly string[] = JSON.parse(
      readFileSync("node_modules/disposable-email-domains-js/dist/dict/disposable_email_blocklist.json", "utf8"),
    )

    // A first update, and a second one at once.
    lists.serve("/names", [...bundled, "mailkind-first.com"])
    const { isAsked, letGo } = lists.holdBack()
    const updating = run("lists", "update")
    await isAsked
    expect(await run("lists", "update")).toMatchObject({
      code: 1,
      facts: { is_busy: true },
      err: expect.stringMatching(/Another process refreshes/),
    })
    letGo()
    const first = await updating
    expect(first).toMatchObject({
      code: 0,
      facts: {
        sources: { "disposable-email-domains": { outcome: "taken" }, dotgov: { outcome: "failed" } },
        faults: [],
      },
    })
    const { version } = first.facts
    await server.complained(logLine(version))
    expect(await versionInUse(url)).toBe(version)

    // A second, with a new name and an own list.
    lists.serve("/names", [...bundled, "mailkind-first.com", "mailkind-second.com"])
    expect((await run("lists", "update")).facts.sources["disposable-email-domains"]).toMatchObject({ outcome: "taken" })
    lists.serve("/my-list.txt", ["mailkind-own.com"])
    const own = await run("lists", "update", "--source", `${lists.url}my-list.txt`)
    const [ownId = ""] = Object.keys(own.facts.sources)
    expect(own).toMatchObject({ code: 0, facts: { sources: { [ownId]: { outcome: "taken", says: "" } } } })

    const { facts: state } = await run("lists", "info")
    expect(state).toMatchObject({ version: own.facts.version, refresh: { pinned: null } })
    expect(state.packs.map((pack: { readonly version: string }) => pack.version)).toContain(version)
    expect(state.sources[ownId]).toMatchObject({ read: 1, kept: 1, date: TODAY() })
    expect(state.refresh.sources["dotgov"]).toMatchObject({ outcome: "failed", url: GONE })

    const { facts: found } = await run("lists", "lookup", "mailkind-second.com")
    expect(found).toMatchObject({ category: "disposable", sets: ["disposable"] })
    expect(found.levels[0].listings).toMatchObject([{ source: "disposable-email-domains", since: TODAY() }])
    for (const name of ["mailkind-second.com", "mailkind-own.com"])
      expect((await run("check", "--offline", `jane@${name}`)).facts).toMatchObject({ category: "disposable" })

    // Back, step by step.
    const versions: unknown[] = state.packs.map((pack: { readonly version: string }) => pack.version)
    for (const back of [...versions.slice(1), "built_in"])
      expect(await run("lists", "rollback")).toMatchObject({ code: 0, facts: { version: back } })
    expect(await run("lists", "rollback")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/There are no older ones/),
    })
    await server.complained(logLine(carried))
    expect(await versionInUse(url)).toBe(carried)
    expect((await server.stop()).code).toBe(0)
  },
  LIMIT_MS,
)
