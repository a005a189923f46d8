import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answersTo, calledDisposable, type MailWorld } from "../../bench/accuracy/answers.ts"
import { accuracyBench, accuracyMisses, accuracyWitnesses } from "../../bench/accuracy/bench.ts"
import { accusedNames, listsOf, stockOn, wellKnownNames } from "../../bench/accuracy/lists.ts"
import { outsideFigures } from "../../bench/accuracy/outside-tables.ts"
import type { SampleFile } from "../../bench/accuracy/sample.ts"
import { BUDGETS } from "../../bench/budgets.ts"
import { LISTING_RULES } from "../../src/check/lists/listing-rules.ts"
import type { SourceFiles } from "../../src/check/lists/sources/source-formats.ts"
import { NONE_LEFT_OUT } from "../../src/check/refresh/source-validation.ts"
import { formatDownload } from "../../src/check/refresh/stored-download.ts"
import { openRealPack } from "../check/lists/build/real-pack.ts"
import { type FakeSource, fakeSourceFiles } from "../check/lists/sources/fake-source-files.ts"
import { repositoryFiles } from "../check/lists/sources/repository-files.ts"
import { onTestEnd } from "../support/on-test-end.ts"

const LIMIT_MS = 120_000

const HEADER = "# says: A list.\n# columns: name, known from\n# origin: by hand\n# licence: MIT\n# date: 2026-11-20\n"

/**
 * The sample of this repository beside a few sources that say little. `sealed`, if given, are the rows of its sealed part, by
 * file, with `|` between cells; files that are not named have none.
 */
function smallShelf(
  sources: Readonly<Record<string, FakeSource>>,
  sealed: Partial<Record<SampleFile, string>> | null = null,
): SourceFiles {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  return {
    ...shelf,
    read: path => {
      const [, file] = /^data\/sample\/sealed\/(.+)\.tsv$/.exec(path) ?? []
      if (file !== undefined && sealed !== null)
        return HEADER + (sealed[file as SampleFile] ?? "").replaceAll("|", "\t") // the bench reads no others
      if (path.startsWith("data/sample/")) return repositoryFiles.read(path)
      return path === "data/catalogue.json" ? catalogue : shelf.read(path)
    },
  }
}

const SMALL = {
  relays: { set: "relay", trust: "curated", names: ["duck.com"] },
  known: { set: "popular", trust: "curated", names: ["acme.com", "example.com"] },
  providers: { set: "personal", trust: "curated", names: ["gmail.com"] },
  first: { set: "disposable", trust: "high", names: ["acme.com", "trashy.com", "yopmail.com"] },
  "disposable-email-domains-js": {
    set: "disposable",
    trust: "highest",
    names: ["acme.com", "gmail.com", "mailinator.com", "mx.trashy.com", "yopmail.com"],
  },
} as const satisfies Record<string, FakeSource>

test("the witnesses are told by what they share, and by who had it first where days are known", () => {
  const names = Array.from({ length: 20 }, (_, at) => `name${at}.com`)
  const folder = mkdtempSync(join(tmpdir(), "mailkind-lists-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const store = (id: string, entries: readonly string[], day: string) => {
    const addedOn = new Map(entries.map(name => [name, day]))
    const source = { entries, malformedCount: 0, date: day, addedOn }
    const origin = { url: "https://a.example", validators: { etag: null, lastModified: null }, endsWithNewline: true }
    const rest = { leftOut: NONE_LEFT_OUT, unreadable: null, window: null }
    writeFileSync(join(folder, `${id}.txt`), formatDownload({ source, ...origin, ...rest }))
  }
  store("first", names, "2026-11-01")
  store("copy", [...names, "more.com"], "2026-11-03")
  const shelf = smallShelf({
    first: { set: "disposable", trust: "high", names: [], isDownloaded: true },
    copy: { set: "disposable", trust: "low", names: [], isDownloaded: true, witness: "aggregator" },
    other: { set: "disposable", trust: "high", names: ["name1.com", "mine.com"] },
  })
  expect(accuracyWitnesses(shelf, folder).filter(line => !line.startsWith("personal"))).toEqual([
    "disposable: names, and names of this source alone",
    "other (independent)\t2\t1",
    "first (independent)\t20\t0",
    "copy (aggregator)\t21\t1",
    "disposable: share of the smaller in the larger, and who was first",
    "0.500\tother\tin\tfirst",
    "0.500\tother\tin\tcopy",
    "1.000\tfirst\tin\tcopy\t20 first here, 0 there, 0 on the same day",
  ])
})

test("tables from outside are measured by what they expect, and firms by what each policy does to them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailkind-tables-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const table = (...rows: readonly string[]) => `input\texpected\tsource\n${rows.join("\n")}\n`
  writeFileSync(
    join(folder, "firms.tsv"),
    table("nobodys-firm.com\tbusiness\tby hand", "trashy.com\tbusiness\tby hand"),
  )
  writeFileSync(join(folder, "local-parts.tsv"), table("postmaster\trole\tby hand", "jane\tno role\tby hand"))
  writeFileSync(
    join(folder, "others.tsv"),
    table(
      "gmial.com\tgmail.com\tby hand",
      "nearby.org\tno look-alike, no typo\tby hand",
      "coinbase-verify.com\tlook-alike\tby hand",
    ),
  )
  writeFileSync(join(folder, "notes.tsv"), "host\tkind\nmx.acme.com\town\n")
  const { figures, description } = await outsideFigures(folder, listsOf(stockOn(smallShelf(SMALL))))
  expect(figures.map(({ name, unit, value }) => [name, unit, value])).toEqual([
    ["firms.tsv", "(1 of 2)", 0.5],
    ["firms.tsv: block under b2b", "of 2", 1],
    ["firms.tsv: review under b2b", "of 2", 0],
    ["firms.tsv: block under strict", "of 2", 1],
    ["firms.tsv: review under strict", "of 2", 0],
    ["firms.tsv: block under lenient", "of 2", 1],
    ["firms.tsv: review under lenient", "of 2", 0],
    ["local-parts.tsv", "(1 of 2)", 0.5],
    ["others.tsv", "(3 of 3)", 1],
    ["confidence: reasons off by more than 0.05, tables", "of 0", 0],
  ])
  expect([description[0], description.length]).toEqual(["tables", 6])
  expect(description.slice(4)).toEqual([
    "form                 flagged  right, beside 3 honest names",
    "label                      1      1",
  ])
})

describe("the accuracy bench", () => {
  test(
    "tells every promised figure, and what is wrong by name, of whatever the sources give",
    async () => {
      const { figures, description } = await accuracyBench(smallShelf(SMALL))
      const named = (name: string) => figures.find(figure => figure.name === name)
      expect(new Set(figures.map(({ name }) => name)).size).toBe(figures.length)
      expect(figures.flatMap(({ budget }) => budget ?? []).toSorted()).toEqual(
        (Object.keys(BUDGETS) as (keyof typeof BUDGETS)[]).filter(name => name.startsWith("accuracy_")).toSorted(),
      )
      // Hosts of relays have their mail at the relay, so the rest is seen by that.
      expect(named("relay: by lists alone, tuned")?.unit).toMatch(/^\(1 of \d+\)$/)
      expect(named("relay: precision, tuned")?.value).toBe(1)
      expect(named("well-known names in the disposable set")?.value).toBe(1)
      const missed = (await accuracyMisses(smallShelf(SMALL))).filter(line => line.startsWith("typo\t")).length
      const [, right = 0, input = 0] = /^\((\d+) of (\d+)\)$/.exec(named("typos: tuned")?.unit ?? "") ?? []
      expect(Number(input) - Number(right)).toBe(missed)
      // Sources that say little fall into few traps.
      expect(named("traps: given the wrong category that they are often given, by lists alone")?.value).toBeLessThan(30)
      expect(description.filter(line => line.startsWith("a trap is wrong: ")).length).toBe(21)
      expect(description.find(line => /^a trap is wrong: \d+ more$/.test(line))).toBeDefined()
      expect(description).toContain(
        "called disposable: acme.com by disposable-email-domains-js, first: it is disposable",
      )
    },
    LIMIT_MS,
  )

  test("names every miss with what was answered, and nothing that is right", async () => {
    const providers = { set: "personal", trust: "curated", names: ["gmail.com", "outlook.com"] } as const
    const role = { set: "role", trust: "curated", names: ["abuse", "webster"] } as const
    const misses = await accuracyMisses(smallShelf({ ...SMALL, providers, role }))
    const wrong = [
      "disposable\t0box.eu\tbusiness",
      "typo\twanado.fr\tnothing, not wanadoo.fr",
      "kept\toutlook.cl\toutlook.com",
      "role\tsales\tno role",
      "not a role\twebster\ta role",
    ]
    expect(wrong.filter(line => !misses.includes(line))).toEqual([])
    const right = ["duck.com", "gmial.com", "abuse", "boardman"]
    expect(misses.filter(line => right.includes(line.split("\t")[1] ?? ""))).toEqual([])
  })

  test("is told to list misses alone, or says how", () => {
    const query = Bun.spawnSync([process.execPath, join(import.meta.dir, "../../bench/main.ts"), "lists", "--misses"])
    expect([query.exitCode, query.stderr.toString().trim()]).toEqual([2, "--misses is for the bench accuracy alone"])
  })
})

describe("the sealed part", () => {
  const rows = {
    disposable: "sub.trashy.com|a list\nzz-unlisted.com|a list\n",
    relay: "jane.duck.com|its own site\n",
    typos: "gmail.cpmm|gmail.com|made up\ngmalil.cmo|gmail.com|made up\n",
    kept: "gmzail.com|a company\n",
    roles: "zz-abuse|made up\n",
    "not-roles": "zz-webster|made up\n",
    complaints: "trashy.com|business|a thread\nzz-owner.com|not disposable|a thread\n",
    "open-suffix": "a.yopmail.com|seen\nzz-free.com|seen\n",
  } as const
  const bench = () => accuracyBench(smallShelf(SMALL, rows))

  test(
    "is told by shares and counts, with the gap to the tuned one, where every name has a mail host",
    async () => {
      const { figures } = await bench()
      const told = (name: string) => {
        const found = figures.find(figure => figure.name === name)
        return [found?.value, found?.unit]
      }
      expect(told("disposable: sealed")).toEqual([0.5, "(1 of 2)"])
      expect(told("relay: sealed")).toEqual([1, "(1 of 1)"])
      expect(told("complaints: blocked")).toEqual([1, "of 2"])
      expect(told("complaints: right category")).toEqual([0, "(0 of 1)"])
      expect(told("throw-aways under open suffixes: allowed")).toEqual([1, "of 2"])
      expect(told("throw-aways under open suffixes: blocked")).toEqual([1, "of 2"])
      expect(told("typos: wrong suggestion, sealed")).toEqual([0, "of 2"])
      expect(told("no typos: corrected, sealed")).toEqual([1, "of 1"])
      const [tuned = 0] = told("disposable: tuned")
      expect(told("disposable: gap")).toEqual([Number(tuned) - 0.5, ""])
    },
    LIMIT_MS,
  )

  test(
    "is never told by name, neither in the report nor among the misses",
    async () => {
      const shelf = smallShelf(SMALL, rows)
      const told = [JSON.stringify(await bench()), ...(await accuracyMisses(shelf))].join("\n")
      const names = Object.values(rows).flatMap(text => text.split("\n").map(row => row.split("|")[0] ?? ""))
      // Well-known names are told, and one complaint is of such a name.
      expect(names.filter(name => name !== "" && told.includes(name))).toEqual([])
    },
    LIMIT_MS,
  )

  test("holds no row of the tuned one, or the bench refuses to tell anything", async () => {
    const shelf = smallShelf(SMALL, { relay: "duck.com|its own site\n" })
    expect(await accuracyBench(shelf).catch(String)).toBe("Error: sealed rows that are tuned:\nduck.com")
  })
})

test("with mail hosts a name of which nothing is known is a business, and one that nobody has stays unknown", async () => {
  const lists = listsOf(stockOn(smallShelf(SMALL)))
  const atDomain = (text: string, label: "business" | "unknown") =>
    ({ text, label, requests: { kind: "email", text: `jane@${text}` } }) as const
  const sample = {
    ...{ labelled: [atDomain("zz-shop.com", "business"), atDomain("zz-nobody.com", "unknown")], traps: [], typos: [] },
    ...{ kept: [], roles: [], notRoles: [], complaints: [], openSuffix: [] },
  }
  const answered = async (world: MailWorld) =>
    (await answersTo(sample, lists, world)).labelled.map(({ answered }) => answered)
  expect(await answered("mail_hosts")).toEqual(["business", "unknown"])
  expect(await answered("lists_alone")).toEqual(["unknown", "unknown"])
})

test("called disposable are the names that the product says so of", async () => {
  const lists = listsOf(stockOn(smallShelf(SMALL)))
  expect(await calledDisposable(["gmail.com", "a.yopmail.com", "zz-shop.com"], lists)).toEqual(["a.yopmail.com"])
})

describe("well-known names", () => {
  test(
    "of this repository are ten thousand at least, and none of them is in the disposable set",
    () => {
      const stock = stockOn(repositoryFiles)
      expect(wellKnownNames(stock).size).toBeGreaterThanOrEqual(10_000)
      const accused = accusedNames(stock, openRealPack())
      expect(accused.length).toBeGreaterThan(0)
      expect(accused.filter(({ rule }) => rule === null)).toEqual([])
    },
    LIMIT_MS,
  )

  test("that a source calls disposable are told with the sources and the rule that dropped it", () => {
    const stock = stockOn(smallShelf(SMALL))
    expect(wellKnownNames(stock)).toEqual(new Set(["acme.com", "example.com", "gmail.com"]))
    expect(wellKnownNames({ ...stock, topProviders: ["first.com"] })).toContain("first.com")
    expect(accusedNames(stock, listsOf(stock).pack)).toEqual([
      { name: "acme.com", sources: ["disposable-email-domains-js", "first"], rule: null },
      { name: "gmail.com", sources: ["disposable-email-domains-js"], rule: "curated_personal_wins" },
    ])
    expect(Object.keys(LISTING_RULES)).toContain("curated_personal_wins")
  })
})
