import { expect, test } from "bun:test"
import { Deadline } from "../../../src/base/concurrency.ts"
import { known, unknown } from "../../../src/base/finding.ts"
import { FETCH_ERROR_CAUSES, type FetchErrorCause } from "../../../src/check/fetch/fetch-target.ts"
import type { GuardedFetch, GuardedFetchResult } from "../../../src/check/fetch/guarded-fetch.ts"
import { createHomepageProbe, type HomepageProbeResult } from "../../../src/check/homepage/homepage-probe.ts"
import { createFakeTime } from "../../support/time.ts"

/** The result for a URL: a fetch error, or a page with its status, its body and its URL after redirects. */
type Told =
  | FetchErrorCause
  | { readonly status?: number; readonly body?: string; readonly at?: string; readonly type?: string | null }

const registrableOf = (name: string): string => name.split(".").slice(-2).join(".")

function fetchedOf(url: string, facts: Told): GuardedFetchResult {
  if (typeof facts === "string") return { known: false, cause: facts, redirectChain: [url] }
  const { status = 200, body = "<p>We mend pumps.</p>", at, type = "text/html" } = facts
  const redirectChain = at === undefined ? [url] : [url, at]
  return {
    known: true,
    redirectChain,
    value: { status, contentType: type, body: Buffer.from(body), isTruncated: false, isDowngraded: false },
  }
}

/** Probes acme.com. Every URL without a result refuses the connection. */
async function look(
  table: Readonly<Record<string, Told>>,
): Promise<HomepageProbeResult & { readonly queries: readonly string[] }> {
  const queries: string[] = []
  const { later: setTimer } = createFakeTime()
  const fetchPage: GuardedFetch = async url => {
    queries.push(url)
    return fetchedOf(url, table[url] ?? "refused")
  }
  const deadline = new Deadline(setTimer, 60_000)
  const result = await createHomepageProbe({ fetchPage, setTimer, registrableOf })("acme.com", deadline)
  deadline.cancel()
  return { ...result, queries }
}

test("a page by https is the homepage, and nothing else is requested", async () => {
  expect(await look({ "https://acme.com/": {} })).toEqual({
    homepage: known("found"),
    url: "https://acme.com/",
    movedTo: null,
    parkingSignal: null,
    isDowngraded: false,
    wasFetched: true,
    queries: ["https://acme.com/"],
  })
})

test("a server counts as contacted unless no name has a public address", async () => {
  for (const [cause, wasFetched] of [
    ["no_address", false],
    ["not_public", false],
    ["dns_unavailable", false],
    ["refused", true],
    ["timed_out", true],
    ["too_long", true],
  ] as const)
    expect(
      await look({
        "https://acme.com/": "no_address",
        "http://acme.com/": "no_address",
        "https://www.acme.com/": "no_address",
        "http://www.acme.com/": cause,
      }),
    ).toMatchObject({ wasFetched })
})

test("http follows https, and the name under www follows both", async () => {
  const all = ["https://acme.com/", "http://acme.com/", "https://www.acme.com/", "http://www.acme.com/"]
  for (const [at, url] of all.entries()) {
    const { homepage, queries } = await look({ [url]: {} })
    expect([homepage, queries]).toEqual([known("found"), all.slice(0, at + 1)])
  }
})

test("without any response there is no website", async () => {
  const { homepage, url, queries } = await look({})
  expect([homepage, url, queries.length]).toEqual([known("none"), null, 4])
})

test("a failure counts more than the lack of a page", async () => {
  const { homepage } = await look({ "https://acme.com/": "untrusted", "http://acme.com/": { status: 404 } })
  expect(homepage).toEqual(unknown("unavailable"))
  expect((await look({ "http://www.acme.com/": "timed_out" })).homepage).toEqual(unknown("timed_out"))
})

test("every failed fetch means no website, or an unknown one", async () => {
  const none: readonly string[] = ["no_address", "refused", "not_public", "bad_host"]
  for (const cause of Object.keys(FETCH_ERROR_CAUSES) as FetchErrorCause[]) {
    const { homepage } = await look({ "https://acme.com/": cause })
    const description = cause === "timed_out" ? unknown("timed_out") : unknown("unavailable")
    expect([cause, homepage]).toEqual([cause, none.includes(cause) ? known("none") : description])
  }
})

test("the status distinguishes a restricted website from one that is gone and one that is broken", async () => {
  for (const status of [200, 203, 401, 403, 429])
    expect([status, (await look({ "https://acme.com/": { status } })).homepage]).toEqual([status, known("found")])
  for (const status of [404, 410])
    expect([status, (await look({ "https://acme.com/": { status } })).homepage]).toEqual([status, known("none")])
  for (const status of [302, 400, 402, 421, 500, 502, 503])
    expect([status, (await look({ "https://acme.com/": { status } })).homepage]).toEqual([
      status,
      unknown("unavailable"),
    ])
})

test("an empty page is none, and a document or an image is a page", async () => {
  for (const body of ["", " \n", "<html><head><title>acme.com</title></head><body></body></html>", "<!-- nothing -->"])
    expect([body, (await look({ "https://acme.com/": { body } })).homepage]).toEqual([body, known("none")])
  for (const type of ["application/pdf", "image/png", "application/json"]) {
    expect((await look({ "https://acme.com/": { body: "%PDF", type } })).homepage).toEqual(known("found"))
    expect((await look({ "https://acme.com/": { body: "", type } })).homepage).toEqual(known("none"))
  }
  expect((await look({ "https://acme.com/": { body: "hello", type: null } })).homepage).toEqual(known("found"))
})

test("another registrable domain is reported, and another host of the same one is not", async () => {
  expect((await look({ "https://acme.com/": { at: "https://acme-group.com/en" } })).movedTo).toBe("acme-group.com")
  expect((await look({ "https://acme.com/": { at: "https://shop.acme.com/" } })).movedTo).toBeNull()
})

test("a redirect to a marketplace's page of the domain is parked, even if that page is refused", async () => {
  const offer = "https://www.hugedomains.com/domain_profile.cfm?d=acme.com"
  for (const status of [200, 403]) {
    const { homepage, parkingSignal, movedTo } = await look({ "https://acme.com/": { at: offer, status } })
    expect([homepage, parkingSignal, movedTo]).toEqual([
      known("parked"),
      { key: "hugedomains", kind: "marketplace" },
      "hugedomains.com",
    ])
  }
  const { later: setTimer } = createFakeTime()
  const fetchPage: GuardedFetch = async url => ({ known: false, cause: "timed_out", redirectChain: [url, offer] })
  const { homepage } = await createHomepageProbe({ fetchPage, setTimer, registrableOf })(
    "acme.com",
    new Deadline(setTimer, 1000),
  )
  expect(homepage).toEqual(known("parked"))
})

test("a last redirect that is refused and has no host name is reported as no other domain", async () => {
  const offer = "https://www.hugedomains.com/domain_profile.cfm?d=acme.com"
  const { later: setTimer } = createFakeTime()
  for (const last of ["http://127.0.0.1/", "http://[::1]/", "data:,x", `https://${"a".repeat(5000)}.com/`]) {
    const fetchPage: GuardedFetch = async url => ({ known: false, cause: "ip_host", redirectChain: [url, offer, last] })
    const { homepage, movedTo } = await createHomepageProbe({ fetchPage, setTimer, registrableOf })(
      "acme.com",
      new Deadline(setTimer, 1000),
    )
    expect([last, homepage, movedTo]).toEqual([last, known("parked"), null])
  }
})

test("a marketplace's own homepage is a website, and so is a company's that moved to one's homepage", async () => {
  const { later: setTimer } = createFakeTime()
  const fetchPage: GuardedFetch = async url => fetchedOf(url, { at: "https://www.hugedomains.com/domain_profile.cfm" })
  const { homepage } = await createHomepageProbe({ fetchPage, setTimer, registrableOf })(
    "hugedomains.com",
    new Deadline(setTimer, 1000),
  )
  expect(homepage).toEqual(known("found"))
  expect((await look({ "https://acme.com/": { at: "https://dan.com/" } })).homepage).toEqual(known("found"))
})

test("the path of a parking page matches complete words only", async () => {
  expect((await look({ "https://acme.com/": { at: "https://acme.com/lander?x=1" } })).homepage).toEqual(known("parked"))
  expect((await look({ "https://acme.com/": { at: "https://acme.com/landerneau" } })).homepage).toEqual(known("found"))
})

test("all requests for a domain share one timeout", async () => {
  const time = createFakeTime()
  const fetchPage: GuardedFetch = () => new Promise(() => undefined)
  const deadline = new Deadline(time.later, 60_000)
  let result: HomepageProbeResult | null = null
  void createHomepageProbe({ fetchPage, setTimer: time.later, registrableOf })("acme.com", deadline).then(all => {
    result = all
  })
  await time.tick(4999)
  expect(result).toBeNull()
  await time.tick(1)
  expect(result).toMatchObject({ homepage: unknown("timed_out"), url: null, parkingSignal: null })
  deadline.cancel()
  expect(time.waiting()).toBe(0)
})
