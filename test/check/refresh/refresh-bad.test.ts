import { describe, expect, test } from "bun:test"
import { isPublicSuffix } from "../../../src/check/lists/sources/normalized-name.ts"
import { bareServer } from "../fetch/loopback-web.ts"
import {
  FIRST_NAMES,
  listText,
  NEVER_NAMES,
  oldNames,
  type ResponseFor,
  refreshedFixture,
  setsOf,
  sourcesOf,
} from "./refresh-fixture.ts"

const DAY_MS = 86_400_000
const HUGE_BYTES = 16 * 1024 * 1024 + 1

/** Hundreds of public suffixes. */
const SUFFIXES = "ac ad ae ag ai al am ar at au az ba bb bd be bg bh bm bo br bs bt bw by bz ci ck cn cr cu cy do ec eg"
  .split(" ")
  .flatMap(country => ["com", "co", "net", "org", "edu", "gov", "mil", "ac"].map(kind => `${kind}.${country}`))
  .filter(isPublicSuffix)

const as =
  (text: string, headers: Readonly<Record<string, string>> = {}): ResponseFor =>
  () =>
    new Response(text, { headers })

const manyNames = (count: number): string => Array.from({ length: count }, (_, at) => `m${at}.com\n`).join("")

type Bad = { readonly answer: ResponseFor; readonly outcome: "refused" | "failed"; readonly says: RegExp }

const BAD: Readonly<Record<string, Bad>> = {
  "an error page": {
    answer: () => new Response("<html>down</html>", { status: 502, headers: { "content-type": "text/html" } }),
    outcome: "failed",
    says: /^The server answered 502 \(Bad Gateway\)\.$/,
  },
  "a page in place of the list": {
    answer: as("<!doctype html><title>Sign in</title>", { "content-type": "text/html; charset=utf-8" }),
    outcome: "failed",
    says: /HTML/,
  },
  "a page that says that it is text": {
    answer: as("<!doctype html><title>Sign in</title>", { "content-type": "text/plain" }),
    outcome: "failed",
    says: /begins with `<`/,
  },
  "a page without marks": {
    answer: as("We are down.\nPlease come back later.\nThe team\nof lists\n"),
    outcome: "refused",
    says: /no name/,
  },
  "more than may be": {
    answer: () => new Response(new Uint8Array(HUGE_BYTES)),
    outcome: "failed",
    says: new RegExp(`${HUGE_BYTES} bytes`),
  },
  "no UTF-8": { answer: () => new Response(new Uint8Array([0xff, 0xfe, 0])), outcome: "failed", says: /UTF-8/ },
  nothing: { answer: as(""), outcome: "refused", says: /^It has no names\./ },
  "a list without the end of its last line": {
    answer: as(listText(FIRST_NAMES).slice(0, -4)),
    outcome: "refused",
    says: /cut off/,
  },
  "a list with eleven names that are providers or never disposable": {
    answer: as(listText([...FIRST_NAMES, ...NEVER_NAMES, "GMail.com."])),
    outcome: "refused",
    says: /^11 of its 62 names cannot be on such a list: gmail\.com, never0\.com, .* and 6 more\.$/,
  },
  "hundreds of public suffixes": {
    answer: as(listText([...FIRST_NAMES, ...SUFFIXES])),
    outcome: "refused",
    says: new RegExp(
      `^${SUFFIXES.length} of its ${SUFFIXES.length + FIRST_NAMES.length} names are public suffixes\\.$`,
    ),
  },
  "a fifth less": {
    // 40 of 51 names are left; with 41 less than a fifth would be gone.
    answer: as(listText(oldNames(40))),
    outcome: "refused",
    says: /^It has 40 names, and had 51\.$/,
  },
  "more names than any source may have": {
    answer: as(manyNames(500_001)),
    outcome: "refused",
    says: /^It has 500001 entries, more than 500000\.$/,
  },
  "more lines and commas than any source may have": {
    answer: as(",\n".repeat(1_000_001)),
    outcome: "refused",
    says: /^It has more than 2000000 lines and commas\.$/,
  },
  "ten times as much": {
    answer: as(listText(oldNames(510))),
    outcome: "refused",
    says: /^It has 510 names, and had 51\.$/,
  },
}

describe("a source that sends", () => {
  test.each(Object.entries(BAD))(
    "%s: its last valid download stays in use, and the state has the reason",
    async (_, bad) => {
      const fixture = await refreshedFixture()
      const version = fixture.inUse()?.version
      const firstMs = fixture.time.clock()
      await fixture.nextDay()
      fixture.serve("fresh", bad.answer)
      const { sources, activated, faults } = await fixture.refresh()
      expect([activated, faults]).toEqual([null, []])
      expect(sources["fresh"]).toEqual({
        url: `${fixture.serverUrl}fresh.conf`,
        outcome: bad.outcome,
        says: expect.stringMatching(bad.says),
        checked_at_ms: firstMs + DAY_MS,
        good_at_ms: firstMs,
        changed_at_ms: firstMs,
      })
      expect(sources["extra"]).toMatchObject({ outcome: "unchanged", says: "" })
      expect(fixture.state()).toMatchObject({ sources, refreshed_at_ms: firstMs + DAY_MS })
      expect(fixture.inUse()?.version).toBe(version)
      expect(setsOf(fixture, "first.com")).toEqual(["disposable"])
      fixture.serve("fresh", [...FIRST_NAMES, "second.com"])
      expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", says: "" })
      expect(sourcesOf(fixture, "second.com")).toEqual([["fresh", "2026-01-02"]])
    },
  )

  test("a download that shrinks by less than a fifth or grows by less than ten times is valid", async () => {
    for (const count of [41, 509]) {
      const fixture = await refreshedFixture()
      fixture.serve("fresh", oldNames(count))
      expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", says: "" })
    }
  })

  test("an invalid first download is ignored: the built-in source stays in use beside other downloads", async () => {
    const fixture = await refreshedFixture()
    fixture.folder.put("fresh.txt", "")
    fixture.serve("fresh", ["gmail.com", ...NEVER_NAMES, ...oldNames(50)])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "refused" })
    expect(sourcesOf(fixture, "old1.com")).toEqual([["bundled", null]])
    expect(setsOf(fixture, "extra.com")).toEqual(["disposable"])
  })
})

/** The settings of an operator who downloads `fresh` from another URL. */
const freshFrom = (url: string) => ({ sourceUrls: new Map([["fresh", url]]) })

describe("of a source that lists a few names that no such list may hold", () => {
  const LEFT_OUT = { count: 2, names: ["gmail.com", "stripe.com"] }
  const served = [...FIRST_NAMES, "gmail.com", "STRIPE.com.", "second.com"]

  test("those are left out and told, and the others are used", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("fresh", served)
    const { sources } = await fixture.refresh()
    expect(sources["fresh"]).toMatchObject({ outcome: "taken", says: "", left_out: LEFT_OUT })
    expect(fixture.state().sources).toEqual(sources)
    expect(sources["extra"]).not.toHaveProperty("left_out")
    expect(setsOf(fixture, "second.com")).toEqual(["disposable"])
    for (const name of LEFT_OUT.names) expect(sourcesOf(fixture, name)).not.toContainEqual(["fresh", null])
  })

  test("they are told for as long as that download is in use, and no longer", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("fresh", served)
    await fixture.refresh()
    fixture.serve("fresh", () => new Response(null, { status: 503 }))
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "failed", left_out: LEFT_OUT })
    fixture.serve("fresh", [...FIRST_NAMES, "second.com"])
    expect((await fixture.refresh()).sources["fresh"]).not.toHaveProperty("left_out")
  })
})

describe("the last valid download stays in use when a server", () => {
  test("closes the connection early", async () => {
    const fixture = await refreshedFixture()
    const version = fixture.inUse()?.version
    const server = bareServer()
    const work = fixture.refresh("fresh", freshFrom(`${server.url}fresh.conf`))
    await server.send(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${listText(FIRST_NAMES)}`)
    await server.hangUp()
    expect((await work).sources["fresh"]).toMatchObject({
      outcome: "failed",
      says: expect.stringMatching(/broke off|bytes/),
    })
    expect(fixture.inUse()?.version).toBe(version)
  })

  test("is unreachable", async () => {
    const fixture = await refreshedFixture()
    const version = fixture.inUse()?.version
    const refreshed = await fixture.refresh("fresh", freshFrom("http://127.0.0.1:1/fresh.conf"))
    expect(refreshed.sources["fresh"]).toMatchObject({
      outcome: "failed",
      says: expect.stringMatching(/^Nobody answered/),
    })
    expect(fixture.inUse()?.version).toBe(version)
  })

  test("sends nothing for 15 seconds", async () => {
    const fixture = await refreshedFixture()
    const version = fixture.inUse()?.version
    const server = bareServer()
    const before = fixture.time.begunSoFar()
    const work = fixture.refresh("fresh", freshFrom(`${server.url}fresh.conf`))
    // The complete time and the idle time.
    await fixture.time.begun(before + 2)
    await fixture.time.tick(15_000)
    expect((await work).sources["fresh"]).toMatchObject({ outcome: "failed", says: "No data arrived for 15 s." })
    expect(fixture.inUse()?.version).toBe(version)
  })
})

test("a request carries the validators of the last download, and 304 leaves it unchanged", async () => {
  const fixture = await refreshedFixture()
  const etags: (string | null)[] = []
  fixture.serve("fresh", ({ headers }) => {
    etags.push(headers.get("if-none-match"))
    const isHeld = headers.get("if-none-match") === '"v1"'
    return new Response(isHeld ? null : listText(FIRST_NAMES), {
      status: isHeld ? 304 : 200,
      headers: { etag: '"v1"' },
    })
  })
  for (const outcome of ["unchanged", "unchanged"]) {
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome, says: "" })
  }
  expect(etags).toEqual([null, '"v1"'])
  expect(setsOf(fixture, "first.com")).toEqual(["disposable"])
})
