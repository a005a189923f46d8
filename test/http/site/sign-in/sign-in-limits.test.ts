import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { createAccount } from "../../../../src/customers/accounts/accounts.ts"
import { issuePass } from "../../../../src/customers/free-checks/allowances.ts"
import type { RateLimit } from "../../../../src/customers/quota/rate/rate-limiter.ts"
import { createSignInLimits } from "../../../../src/http/site/sign-in/sign-in-limits.ts"
import { solutionOf } from "../../../customers/free-checks/open-free-checks.ts"
import { random } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { type BrowserPage, createBrowser } from "../../../support/html-browser.ts"
import { unescapeHtml } from "../../../support/open-site.ts"
import { settled } from "../../../support/time.ts"

/** A server, and how somebody of a network asks for a sign-in there. */
async function opened(nodesCount = 1) {
  const harness = await testApp({ nodesCount })
  const from = (peer: string) =>
    createBrowser(harness.app, { headers: { "x-test-peer": peer }, followsRedirects: true })
  const asks = (email: string, peer: string) => from(peer).post("/sign-in", { email })
  return { ...harness, from, asks }
}

test("one address is asked for three times at once, then once in five minutes, from wherever, with an account or without", async () => {
  const { asks, changes, time, mails } = await opened()
  await createAccount(changes, random, { email: "known@example.com", tier: 0, termsVersion: null })
  const facts = []
  for (const [at, email] of ["known@example.com", "nobody@example.com"].entries()) {
    for (let count = 0; count < 3; count++) expect((await asks(email, `192.0.2.${10 * at + count}`)).status).toBe(200)
    const refused = await asks(email.toUpperCase(), `192.0.2.${10 * at + 9}`)
    expect(refused.status).toBe(429)
    expect(refused.headers.get("retry-after")).toBe("300")
    expect(refused.text).toContain("Try again in 5 minutes.")
    expect(refused.text).not.toContain("example.com")
    facts.push(refused.text)
  }
  expect(facts[0]).toBe(facts[1] ?? "")
  await settled()
  expect(mails).toHaveLength(6)
  await time.tick(299_999)
  expect((await asks("known@example.com", "192.0.2.50")).status).toBe(429)
  await time.tick(1)
  expect((await asks("known@example.com", "192.0.2.50")).status).toBe(200)
  expect((await asks("known@example.com", "192.0.2.51")).status).toBe(429)
})

test("one client asks ten times at once, then once in a minute, whatever it asks for", async () => {
  const { asks, time } = await opened()
  for (let count = 0; count < 10; count++)
    expect((await asks(count % 2 === 0 ? `jane${count}@example.com` : "no address", "192.0.2.7")).status).not.toBe(429)
  const refused = await asks("another@example.com", "192.0.2.7")
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"])
  expect((await asks("another@example.com", "192.0.2.8")).status).toBe(200)
  await time.tick(60_000)
  expect((await asks("another@example.com", "192.0.2.7")).status).toBe(200)
})

/** The challenge that a page has its browser solve. */
const challengeIn = ({ html }: BrowserPage) =>
  JSON.parse(unescapeHtml(/<altcha-widget [^>]*challenge="([^"]*)"/.exec(html)?.[1] ?? ""))

const hiddenIn = ({ html }: BrowserPage, name: string): string =>
  unescapeHtml(new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "")

/** A visitor of a network of its own. */
const peerOf = (at: number): string => `10.${at >> 8}.${at & 255}.1`

describe("all together", () => {
  /** Asks from as many networks as all may ask from without a pass. */
  const useUp = async ({ asks }: Awaited<ReturnType<typeof opened>>): Promise<void> => {
    for (let count = 0; count < 150; count++)
      expect((await asks(`jane${count}@example.com`, peerOf(count))).status).toBe(200)
  }

  test("ask a hundred and fifty times at once, then need a pass, which a page gets without a word", async () => {
    const harness = await opened()
    const { asks, from, time, mails } = harness
    await useUp(harness)
    const visitor = from("203.0.113.1")
    const refused = await visitor.post("/sign-in", { email: "Late@example.com", next: "/dashboard/usage" })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([403, null])
    expect(refused.text).toContain("Many people are signing in.")
    expect(refused.html).not.toMatch(/\sstyle=|\son[a-z]+=|<script>|<style/)
    expect(/<noscript>(.*?)<\/noscript>/s.exec(refused.html)?.[1]).toContain("needs JavaScript")
    expect(refused.text).toContain("Try again in a few minutes")
    const fields = { email: hiddenIn(refused, "email"), next: hiddenIn(refused, "next") }
    expect(fields).toEqual({ email: "late@example.com", next: "/dashboard/usage" })
    const got = await visitor.post("/sign-in", { ...fields, solution: await solutionOf(challengeIn(refused)) })
    expect([got.path, visitor.cookies.has("mailkind_pass")]).toEqual(["/sign-in/code?next=%2Fdashboard%2Fusage", true])
    await settled()
    expect(mails.at(-1)?.to).toBe("late@example.com")
    expect(mails).toHaveLength(151)
    // The pass is good for more, and nobody else needs one when fewer people ask.
    expect((await visitor.post("/sign-in", { email: "other@example.com" })).path).toBe("/sign-in/code")
    expect((await asks("another@example.com", "203.0.113.2")).status).toBe(403)
    await time.tick(2000)
    expect((await asks("another@example.com", "203.0.113.2")).status).toBe(200)
  })

  test("with passes ask a hundred and fifty times more, then once in two seconds", async () => {
    const harness = await opened()
    const { asks, from, store, clock } = harness
    await useUp(harness)
    const withPass = async (email: string, peer: string) => {
      const secret = await issuePass(store, clock, random, `challenge of ${peer}`)
      const visitor = from(peer)
      visitor.cookies.set("mailkind_pass", secret ?? "")
      return await visitor.post("/sign-in", { email })
    }
    for (let count = 0; count < 150; count++)
      expect((await withPass(`joe${count}@example.com`, peerOf(1000 + count))).status).toBe(200)
    const refused = await withPass("late@example.com", "203.0.113.1")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"])
    expect((await asks("late@example.com", "203.0.113.2")).status).toBe(403)
    // What was refused used none of the pass.
    const left = await store.all("SELECT hash FROM free_check_passes WHERE checks_left = $1", [LIMITS.passChecks - 1])
    expect(left).toHaveLength(1)
  })

  test("are not kept from signing in by whoever asks without a pass or with a wrong one, how often and from wherever", async () => {
    const harness = await opened()
    const { asks, from, store, clock } = harness
    for (let at = 0; at < 31; at++)
      for (let count = 0; count < 10; count++) {
        const guesser = from(peerOf(at))
        guesser.cookies.set("mailkind_pass", "f".repeat(32))
        await guesser.post("/sign-in", { email: `x${at}-${count}@example.com`, solution: "nonsense" })
      }
    expect((await asks("jane@example.com", "203.0.113.1")).status).toBe(403)
    const jane = from("203.0.113.1")
    jane.cookies.set("mailkind_pass", (await issuePass(store, clock, random, "solved")) ?? "")
    expect((await jane.post("/sign-in", { email: "jane@example.com" })).path).toBe("/sign-in/code")
  })

  test("and a wrong, repeated or expired solution is no pass", async () => {
    const harness = await opened()
    const { from, time } = harness
    await useUp(harness)
    const visitor = from("203.0.113.1")
    const ask = (solution: string) => visitor.post("/sign-in", { email: "late@example.com", solution })
    expect((await ask("nonsense")).status).toBe(403)
    const solution = await solutionOf(challengeIn(await ask("")))
    expect((await ask(solution)).status).toBe(200)
    visitor.cookies.delete("mailkind_pass")
    expect((await ask(solution)).status).toBe(403)
    const late = await solutionOf(challengeIn(await ask("")))
    await time.tick(LIMITS.challengeMinutes * 60_000)
    await useUp(harness)
    expect((await ask(late)).status).toBe(403)
  })
})

describe("the clients of a network together", () => {
  const NETWORKS = [
    ["an IPv4 /24", (at: number) => `198.51.100.${at}`, "198.51.101.1", 30, 20],
    [
      "an IPv6 /56",
      (at: number) => `2001:db8:0:12${at.toString(16).padStart(2, "0")}::1`,
      "2001:db8:0:1300::1",
      30,
      20,
    ],
    ["an IPv6 /48", (at: number) => `2001:db8:0:${at.toString(16)}00::1`, "2001:db8:1::1", 60, 10],
  ] as const

  test.each(NETWORKS)("of %s ask no more often than a network may", async (_, peer, outside, burst, seconds) => {
    const { asks, time } = await opened()
    for (let count = 0; count < burst; count++)
      expect((await asks(`jane${count}@example.com`, peer(count))).status).toBe(200)
    const refused = await asks("late@example.com", peer(burst))
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, String(seconds)])
    expect((await asks("late@example.com", outside)).status).toBe(200)
    await time.tick(seconds * 1000)
    expect((await asks("other@example.com", peer(burst + 1))).status).toBe(200)
    expect((await asks("another@example.com", peer(burst + 2))).status).toBe(429)
  })

  test.each(NETWORKS)("of %s bring no more links and codes than a network may", async (_, peer, outside, burst) => {
    const { from } = await opened()
    const bring = (address: string) => from(address).post("/sign-in/link", { token: "x" })
    for (let count = 0; count < 3 * burst; count++) expect((await bring(peer(count % 64))).status).toBe(400)
    expect((await bring(peer(65))).status).toBe(429)
    expect((await bring(outside)).status).toBe(400)
  })
})

test("a mailbox is mailed three times at once and then once in five minutes, whatever the tags of its address", async () => {
  const { asks, time, mails } = await opened()
  const flood = async (round: number): Promise<void> => {
    for (let count = 0; count < 60; count++)
      await asks(
        count % 3 === 0 ? "victim@example.com" : `Victim+${round}${count}@Example.com`,
        peerOf(100 * round + count),
      )
    await settled()
  }
  await flood(0)
  expect(mails).toHaveLength(3)
  for (let round = 1; round <= 5; round++) {
    await time.tick(300_000)
    await flood(round)
    expect(mails).toHaveLength(3 + round)
  }
  expect((await asks("victim2@example.com", "203.0.113.1")).status).toBe(200)
})

test("one client brings thirty links and codes at once, then one in ten seconds", async () => {
  const { from, time } = await opened()
  const guesser = from("192.0.2.7")
  for (let count = 0; count < 30; count++)
    expect(
      (await guesser.post(count % 2 === 0 ? "/sign-in/code" : "/sign-in/link", { code: "1", token: "1" })).status,
    ).toBe(400)
  for (const path of ["/sign-in/code", "/sign-in/link"]) {
    const refused = await guesser.post(path, { code: "123456", token: "x" })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"])
  }
  expect((await from("192.0.2.8").post("/sign-in/link", { token: "x" })).status).toBe(400)
  await time.tick(10_000)
  expect((await guesser.post("/sign-in/link", { token: "x" })).status).toBe(400)
})

test("no address is held in clear by what limits", () => {
  const subjects: string[] = []
  const rates = {
    admit: (subject: string, { burst }: RateLimit) => {
      subjects.push(subject)
      return { waitS: 0, remaining: burst }
    },
  }
  createSignInLimits(rates, () => "192.0.2.1").admitEmail("jane@example.com")
  expect(subjects).toHaveLength(2)
  expect(subjects.join()).not.toMatch(/jane|example/)
})

test("one of three nodes mails an address as often at once as one server would, since a person may come to one alone", async () => {
  const { asks, time } = await opened(3)
  for (let count = 0; count < 3; count++) expect((await asks("jane@example.com", `192.0.2.${count}`)).status).toBe(200)
  await time.tick(899_999)
  expect((await asks("jane@example.com", "192.0.2.9")).status).toBe(429)
  await time.tick(1)
  expect((await asks("jane@example.com", "192.0.2.9")).status).toBe(200)
})
