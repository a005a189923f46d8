import { describe, expect, test } from "bun:test"
import { isPublicSuffix } from "../../../src/check/lists/sources/normalized-name.ts"
import { bareServer } from "../fetch/loopback-web.ts"
import {
  FIRST_NAMES,
  listText,
  oldNames,
  type ResponseFor,
  refreshedFixture,
  setsOf,
  sourcesOf,
} from "./refresh-fixture.ts"

const DAY_MS = 86_400_000
const HUGE_BYTES = 64 * 1024 * 1024 + 1

/** Registries under which strangers register: hundreds of them. */
const SUFFIXES = "ac ad ae ag ai al am ar at au az ba bb bd be bg bh bm bo br bs bt bw by bz ci ck cn cr cu cy do ec eg"
  .split(" ")
  .flatMap(country => ["com", "co", "net", "org", "edu", "gov", "mil", "ac"].map(kind => `${kind}.${country}`))
  .filter(isPublicSuffix)

const as =
  (text: string, headers: Readonly<Record<string, string>> = {}): ResponseFor =>
  () =>
    new Response(text, { headers })

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
  nothing: { answer: as(""), outcome: "refused", says: /^It holds no name\./ },
  "a list without the end of its last line": {
    answer: as(listText(FIRST_NAMES).slice(0, -4)),
    outcome: "refused",
    says: /cut off/,
  },
  "a list with a foremost provider": {
    answer: as(listText([...FIRST_NAMES, "gmail.com"])),
    outcome: "refused",
    says: /^It lists gmail\.com, which no such list may hold\.$/,
  },
  "a list with a name that is never disposable, in capitals": {
    answer: as(listText([...FIRST_NAMES, "STRIPE.com."])),
    outcome: "refused",
    says: /stripe\.com/,
  },
  "hundreds of public suffixes": {
    answer: as(listText([...FIRST_NAMES, ...SUFFIXES])),
    outcome: "refused",
    says: new RegExp(
      `^${SUFFIXES.length} of its ${SUFFIXES.length + FIRST_NAMES.length} names are public suffixes\\.$`,
    ),
  },
  "a fifth less": {
    // Of 51 names 40 are left; with 41 it would be less than a fifth.
    answer: as(listText(oldNames(40))),
    outcome: "refused",
    says: /^It has 40 names, and had 51\.$/,
  },
  "ten times as much": {
    answer: as(listText(oldNames(510))),
    outcome: "refused",
    says: /^It has 510 names, and had 51\.$/,
  },
}

describe("a source that answers with", () => {
  test.each(Object.entries(BAD))("%s: its last good copy serves, and the state says why", async (_, bad) => {
    const house = await refreshedFixture()
    const version = house.inUse()?.version
    const firstMs = house.time.clock()
    await house.nextDay()
    house.serve("fresh", bad.answer)
    const { sources, activated, faults } = await house.refresh()
    expect([activated, faults]).toEqual([null, []])
    expect(sources["fresh"]).toEqual({
      url: `${house.serverUrl}fresh.conf`,
      outcome: bad.outcome,
      says: expect.stringMatching(bad.says),
      checked_at_ms: firstMs + DAY_MS,
      changed_at_ms: firstMs,
    })
    expect(sources["extra"]).toMatchObject({ outcome: "unchanged", says: "" })
    expect(house.state()).toMatchObject({ sources, refreshed_at_ms: firstMs + DAY_MS })
    expect(house.inUse()?.version).toBe(version)
    expect(setsOf(house, "first.com")).toEqual(["disposable"])
    house.serve("fresh", [...FIRST_NAMES, "second.com"])
    expect((await house.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", says: "" })
    expect(sourcesOf(house, "second.com")).toEqual([["fresh", "2026-01-02"]])
  })

  test("just less than a fifth less, or than ten times as much, is taken", async () => {
    for (const count of [41, 509]) {
      const house = await refreshedFixture()
      house.serve("fresh", oldNames(count))
      expect((await house.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", says: "" })
    }
  })

  test("a bad first list is none: what came along stays in use, beside the good copies of others", async () => {
    const house = await refreshedFixture()
    house.folder.put("fresh.txt", "")
    house.serve("fresh", ["gmail.com", ...oldNames(50)])
    expect((await house.refresh()).sources["fresh"]).toMatchObject({ outcome: "refused" })
    expect(sourcesOf(house, "old1.com")).toEqual([["bundled", null]])
    expect(setsOf(house, "extra.com")).toEqual(["disposable"])
  })
})

/** A refresh of `fresh` alone from another address, as an operator's settings would have it. */
const freshFrom = (url: string) => ({ sourceUrls: new Map([["fresh", url]]) })

describe("the last good copy serves when a server", () => {
  test("breaks off", async () => {
    const house = await refreshedFixture()
    const version = house.inUse()?.version
    const server = bareServer()
    const work = house.refresh("fresh", freshFrom(`${server.url}fresh.conf`))
    await server.send(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${listText(FIRST_NAMES)}`)
    await server.hangUp()
    expect((await work).sources["fresh"]).toMatchObject({
      outcome: "failed",
      says: expect.stringMatching(/broke off|bytes/),
    })
    expect(house.inUse()?.version).toBe(version)
  })

  test("is gone", async () => {
    const house = await refreshedFixture()
    const version = house.inUse()?.version
    const refreshed = await house.refresh("fresh", freshFrom("http://127.0.0.1:1/fresh.conf"))
    expect(refreshed.sources["fresh"]).toMatchObject({
      outcome: "failed",
      says: expect.stringMatching(/^Nobody answered/),
    })
    expect(house.inUse()?.version).toBe(version)
  })

  test("says nothing for a quarter of a minute", async () => {
    const house = await refreshedFixture()
    const version = house.inUse()?.version
    const server = bareServer()
    const before = house.time.begunSoFar()
    const work = house.refresh("fresh", freshFrom(`${server.url}fresh.conf`))
    // The whole time and the time until the next part.
    await house.time.begun(before + 2)
    await house.time.tick(15_000)
    expect((await work).sources["fresh"]).toMatchObject({ outcome: "failed", says: "Nothing came for 15 s." })
    expect(house.inUse()?.version).toBe(version)
  })
})

test("a server that says that nothing changed is believed, and was asked with what it said before", async () => {
  const house = await refreshedFixture()
  const etags: (string | null)[] = []
  house.serve("fresh", ({ headers }) => {
    etags.push(headers.get("if-none-match"))
    const isHeld = headers.get("if-none-match") === '"v1"'
    return new Response(isHeld ? null : listText(FIRST_NAMES), {
      status: isHeld ? 304 : 200,
      headers: { etag: '"v1"' },
    })
  })
  for (const outcome of ["unchanged", "unchanged"]) {
    expect((await house.refresh()).sources["fresh"]).toMatchObject({ outcome, says: "" })
  }
  expect(etags).toEqual([null, '"v1"'])
  expect(setsOf(house, "first.com")).toEqual(["disposable"])
})
