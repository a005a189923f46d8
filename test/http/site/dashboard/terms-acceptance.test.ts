import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { acceptTerms, publishTerms } from "../../../../src/customers/terms/terms.ts"
import { testApp } from "../../../support/app.ts"
import { signedInBrowser } from "../../../support/html-browser.ts"
import { settled } from "../../../support/time.ts"

const HOUR_MS = 3_600_000
const NOTICE_MS = LIMITS.termsNoticeDays * 24 * HOUR_MS
const ACCEPT = "/dashboard/account/terms"
const PAGES = ["/dashboard/account", "/dashboard/lists", "/dashboard/feedback"]

async function opened() {
  const harness = await testApp()
  const publish = async (version: string, isMaterial = true) => {
    await publishTerms(harness.changes, { version, url: `https://mailkind.example/terms/${version}`, isMaterial })
    await settled()
  }
  /** A browser that signs in now: sessions end after as long as the notice of terms lasts. */
  const browser = () => signedInBrowser(harness)
  const status = async () => (await harness.ask("GET /v1/check?domain=stripe.com")).status
  return { ...harness, publish, browser, status }
}

type Banner = "none" | "grace" | "over"

function bannerIn(html: string): Banner {
  if (!html.includes("Terms to accept")) return "none"
  return html.includes("The terms have changed.") ? "grace" : "over"
}

const versionIn = (html: string): string | null => /name="version" value="([^"]*)"/.exec(html)?.[1] ?? null

type Harness = Awaited<ReturnType<typeof opened>>

/** What leads to each state of an account to the terms, and what its pages and keys say then. */
const STATES: readonly (readonly [name: string, lead: (harness: Harness) => Promise<void>, Banner, number])[] = [
  ["no terms are published", async () => undefined, "none", 200],
  ["terms were published that are not material", harness => harness.publish("1", false), "none", 200],
  ["terms were published just now", harness => harness.publish("1"), "grace", 200],
  [
    "29 days and 23 hours of the notice are over",
    async harness => {
      await harness.publish("1")
      await harness.time.tick(NOTICE_MS - HOUR_MS)
    },
    "grace",
    200,
  ],
  [
    "all but a millisecond of the notice is over",
    async harness => {
      await harness.publish("1")
      await harness.time.tick(NOTICE_MS - 1)
    },
    "grace",
    200,
  ],
  [
    "the 30 days are over",
    async harness => {
      await harness.publish("1")
      await harness.time.tick(NOTICE_MS)
    },
    "over",
    403,
  ],
  [
    "the terms were accepted",
    async harness => {
      await harness.publish("1")
      await acceptTerms(harness.changes, harness.accountId)
    },
    "none",
    200,
  ],
]

describe.each(STATES)("when %s", (_, lead, banner, status) => {
  test("every page says so, and keys do as it says", async () => {
    const harness = await opened()
    await lead(harness)
    const { get } = await harness.browser()
    for (const page of PAGES) expect(bannerIn((await get(page)).html)).toBe(banner)
    expect(await harness.status()).toBe(status)
  })

  test("to accept what is shown lets keys in, and no page asks again; a second click does no harm", async () => {
    const harness = await opened()
    await lead(harness)
    const { get, post } = await harness.browser()
    const version = versionIn((await get("/dashboard/lists")).html) ?? "1"
    for (let click = 0; click < 2; click++) {
      const answer = await post(ACCEPT, { version })
      expect(answer.status).toBe(303)
      expect(bannerIn((await get(answer.redirectPath ?? "")).html)).toBe("none")
    }
    expect(await harness.status()).toBe(200)
  })

  test("to accept a version that is not current accepts nothing, and the current one is shown", async () => {
    const harness = await opened()
    await lead(harness)
    const { get, post } = await harness.browser()
    for (const version of ["0", "", "<b>"]) {
      const { status: answered, html, redirectPath } = await post(ACCEPT, { version })
      expect(answered).toBe(banner === "none" ? 303 : 400)
      if (banner === "none") expect((await get(redirectPath ?? "")).html).toContain("no terms left to accept")
      else {
        expect(html).toContain("Nothing was accepted, because newer terms were published")
        expect([bannerIn(html), versionIn(html)]).toEqual([banner, "1"])
        expect(html).toContain('href="https://mailkind.example/terms/1"')
      }
    }
    expect(await harness.status()).toBe(status)
  })

  test("terms that come meanwhile are those to be accepted, by the time of the first", async () => {
    const harness = await opened()
    await lead(harness)
    const { get, post } = await harness.browser()
    const before = versionIn((await get("/dashboard/account")).html) ?? "1"
    await harness.publish("2")
    const { status: answered, html } = await post(ACCEPT, { version: before })
    expect([answered, versionIn(html)]).toEqual([400, "2"])
    expect(bannerIn(html)).toBe(banner === "over" ? "over" : "grace")
    expect((await post(ACCEPT, { version: "2" })).redirectPath).toBe("/dashboard/account?done=terms-accepted")
    expect(bannerIn((await get("/dashboard/account")).html)).toBe("none")
    expect(await harness.status()).toBe(200)
  })
})

test("the page tells the date, and since when keys are refused", async () => {
  const harness = await opened()
  await harness.publish("1")
  expect((await (await harness.browser()).get("/dashboard/account")).html).toContain("31 Jan 2026, 00:00 UTC")
  await harness.time.tick(NOTICE_MS + HOUR_MS)
  const { html } = await (await harness.browser()).get("/dashboard/account")
  expect(html).toContain("Requests with your keys are refused")
  expect(html).toContain("31 Jan 2026, 00:00 UTC")
})

test("what was accepted is told on the account's page", async () => {
  const harness = await opened()
  const { get, post } = await harness.browser()
  expect((await get("/dashboard/account")).html).toContain("none when you signed up")
  await harness.publish("2026-1")
  await harness.time.tick(HOUR_MS)
  await post(ACCEPT, { version: "2026-1" })
  expect((await get("/dashboard/account")).html).toMatch(/version 2026-1, accepted <time[^>]*>1 Jan 2026/)
})

test("terms are accepted for the own account alone, and by no form of another origin", async () => {
  const harness = await opened()
  await harness.publish("1")
  const { post } = await harness.browser()
  expect((await post(ACCEPT, { version: "1" }, { Origin: "null" })).status).toBe(403)
  expect((await post(ACCEPT, { version: "1" }, { Origin: "https://evil.example" })).status).toBe(403)
  const row = await harness.store.one("SELECT accepted_terms_version AS version FROM accounts")
  expect(row).toEqual({ version: null })
})

test("a process that has not read of the newest terms yet shows them all the same", async () => {
  const harness = await opened()
  await harness.publish("1")
  // Published by another process: nothing is heard of it here.
  await publishTerms(
    { ...harness.changes, notify: () => undefined },
    { version: "2", url: "https://mailkind.example/2", isMaterial: true },
  )
  const { post, get } = await harness.browser()
  const { status, html } = await post(ACCEPT, { version: "1" })
  expect([status, versionIn(html)]).toEqual([400, "2"])
  expect(html).toContain('href="https://mailkind.example/2"')
  expect((await post(ACCEPT, { version: "2" })).status).toBe(303)
  expect(bannerIn((await get("/dashboard/account")).html)).toBe("none")
})
