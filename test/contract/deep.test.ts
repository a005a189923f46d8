import { describe, expect, test } from "bun:test"
import { type Finding, known, unknown } from "../../src/base/finding.ts"
import { DAY_MS } from "../../src/base/time.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../src/check/age/age-probe.ts"
import { bundledBootstrap } from "../../src/check/age/rdap-bootstrap.ts"
import { createDeepProbe, type DeepProbe } from "../../src/check/deep-evidence.ts"
import { HomepageCache } from "../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../src/check/homepage/homepage-probe.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { testApp } from "../support/app.ts"
import { fakeNetwork } from "../support/fake-network.ts"
import type { FakeTime } from "../support/time.ts"

/** What registries and websites tell of every domain. */
type DeepFacts = {
  /** Whether the websites are contacted. Absent: if there is a homepage. */
  readonly isFetched?: boolean
  /** Days since the registration; null: the registry does not tell. */
  readonly age: Finding<number | null>
  readonly homepage: HomepageProbeResult["homepage"]
}

/** Deep checks whose registries and websites are made up, and who was asked: `age NAME` and `page NAME`, in order. */
function fakeDeepProbe(facts: DeepFacts) {
  const requests: string[] = []
  const { isFetched = facts.homepage.known } = facts
  const deep = ({ clock, later: setTimer }: FakeTime): DeepProbe => {
    const bootstrap = bundledBootstrap()
    const ageProbe = createAgeProbe(
      {
        lookupRegistration: async (_, domain) => {
          requests.push(`age ${domain}`)
          return {
            registration: facts.age.known ? known(registered(facts.age.value, clock())) : facts.age,
            wasQueried: true,
          }
        },
        bootstrap: { current: () => bootstrap, ready: async () => bootstrap },
        store: null,
        clock,
        onError: () => undefined,
      },
      AGE_PROBE_BOUNDS,
    )
    const probe = async (domain: string): Promise<HomepageProbeResult> => {
      requests.push(`page ${domain}`)
      return {
        homepage: facts.homepage,
        url: null,
        movedTo: null,
        parkingSignal: null,
        isDowngraded: false,
        wasFetched: isFetched,
      }
    }
    const homepageCache = new HomepageCache({ probe, store: null, clock, onError: () => undefined })
    return createDeepProbe({ ageProbe, homepageCache, isUnavailable: () => false, clock, setTimer })
  }
  return { deep, requests }
}

const registered = (days: number | null, nowMs: number) =>
  days === null ? null : { registeredAtMs: nowMs - days * DAY_MS }

const GROWN_UP: DeepFacts = { age: known(4000), homepage: known("found") }
const UNAVAILABLE = unknown("unavailable")

type Today = { used: number; deep_checks: number; by_key: readonly { used: number }[] }

/** A house in which any domain has mail, and registries and websites tell the same of every one. */
async function harness(facts: Partial<DeepFacts> = {}) {
  const { deep, requests } = fakeDeepProbe({ ...GROWN_UP, ...facts })
  const { outside } = fakeNetwork()
  const app = await testApp({ tier: 0, tiers: "0=-/-/1000", deep, outside })
  const check = async (body: object) => (await app.ask("POST /v1/check", { body })).body
  const used = async () => (await app.ask("GET /v1/usage")).body["today"] as Today
  return { ...app, requests, check, used }
}

describe("the age", () => {
  test("makes a young domain new, which b2b reviews and strict blocks", async () => {
    for (const [policy, recommendation] of [
      ["lenient", "allow"],
      ["b2b", "review"],
      ["strict", "block"],
    ]) {
      const { check } = await harness({ age: known(LIMITS.newDomainDays - 1) })
      const result = await check({ email: "jane@young-anvil.com", deep: true, policy })
      expect(result).toMatchObject({ domain_age_days: 29, is_new_domain: true, category: "business", recommendation })
      expect(result["reasons"]).toContain("new_domain")
    }
  })

  test("is told of a domain that is new no more, and of one whose registry does not tell it is null", async () => {
    const { check } = await harness({ age: known(LIMITS.newDomainDays) })
    const result = await check({ domain: "grown-anvil.com", deep: true })
    expect(result).toMatchObject({ domain_age_days: 30, is_new_domain: false, recommendation: "allow" })
    const silent = await (await harness({ age: known(null) })).check({ domain: "mute-anvil.com", deep: true })
    expect(silent).toMatchObject({ domain_age_days: null, is_new_domain: false })
    expect(silent["reasons"]).not.toContain("deep_unavailable")
  })

  test("that a deep check found makes a young domain new to plain ones too, which do not tell it", async () => {
    const { check } = await harness({ age: known(3) })
    const plain = { email: "jane@young-anvil.com" }
    await check(plain)
    expect(await check(plain)).toMatchObject({ domain_age_days: null, is_new_domain: false, recommendation: "allow" })
    await check({ url: "https://www.young-anvil.com/about", deep: true })
    const result = await check(plain)
    expect(result).toMatchObject({ domain_age_days: null, is_new_domain: true, recommendation: "review" })
    expect(result["reasons"]).toContain("new_domain")
    expect(await check({ email: "joe@mail.young-anvil.com" })).toMatchObject({ is_new_domain: true })
  })

  test("is asked for whatever lists say of the domain, but never of a name that cannot exist", async () => {
    const { check, requests } = await harness()
    expect(await check({ email: "jane@gmail.com", deep: true })).toMatchObject({ domain_age_days: 4000 })
    expect(requests).toEqual(["age gmail.com", "page gmail.com"])
    for (const email of ["jane@@x.com", "jane@co.uk", "jane@[192.0.2.1]", "jane@x.invalid", "business@mailkind.test"])
      await check({ email, deep: true })
    expect(requests).toHaveLength(2)
  })
})

describe("the homepage", () => {
  test("that is parked leaves a business at half its confidence, so that b2b and strict review it", async () => {
    for (const [policy, recommendation] of [
      ["lenient", "allow"],
      ["b2b", "review"],
      ["strict", "review"],
    ]) {
      const { check } = await harness({ homepage: known("parked") })
      const result = await check({ email: "jane@parked-anvil.com", deep: true, policy })
      expect(result).toMatchObject({ category: "business", confidence: 0.5, recommendation })
      expect(result["reasons"]).toContain("parked_domain")
    }
  })

  test("that is missing is evidence and changes nothing", async () => {
    const [missing, found] = await Promise.all(
      (["none", "found"] as const).map(async homepage =>
        (await harness({ homepage: known(homepage) })).check({ email: "jane@quiet-anvil.com", deep: true }),
      ),
    )
    expect(missing?.["reasons"]).toContain("no_website")
    for (const member of ["category", "confidence", "recommendation"]) expect(missing?.[member]).toBe(found?.[member])
  })
})

describe("what could not be asked", () => {
  test("is told by `deep_unavailable` and changes nothing else", async () => {
    for (const facts of [
      { age: UNAVAILABLE },
      { homepage: UNAVAILABLE },
      { age: UNAVAILABLE, homepage: UNAVAILABLE },
    ]) {
      const { check } = await harness(facts)
      const [deep, plain] = [
        await check({ domain: "far-anvil.com", deep: true }),
        await check({ domain: "far-anvil.com" }),
      ]
      expect(deep["reasons"]).toContain("deep_unavailable")
      for (const member of ["category", "confidence", "recommendation", "is_new_domain"])
        expect(deep[member]).toBe(plain[member])
    }
  })

  test("costs like a plain check where nothing was told or fetched, and like a deep one where something was", async () => {
    for (const [facts, used, deepChecks] of [
      // That the registry does not tell is often known without asking it.
      [{ age: known(null), homepage: UNAVAILABLE }, 1, 0],
      [{ age: known(null) }, LIMITS.deepCheckUnits, 1],
      [{ age: UNAVAILABLE, homepage: UNAVAILABLE }, 1, 0],
      [{ age: UNAVAILABLE, homepage: unknown("timed_out"), isFetched: true }, LIMITS.deepCheckUnits, 1],
      [{ age: UNAVAILABLE, homepage: UNAVAILABLE, isFetched: true }, LIMITS.deepCheckUnits, 1],
      [{ age: UNAVAILABLE }, LIMITS.deepCheckUnits, 1],
      [{ homepage: UNAVAILABLE }, LIMITS.deepCheckUnits, 1],
      [{}, LIMITS.deepCheckUnits, 1],
    ] as const) {
      const there = await harness(facts)
      await there.check({ domain: "far-anvil.com", deep: true })
      expect(await there.used()).toMatchObject({ used, deep_checks: deepChecks })
    }
  })

  test("has the answer tell what is left when the rest was given back", async () => {
    const { ask } = await harness({ age: UNAVAILABLE, homepage: UNAVAILABLE })
    const { headers } = await ask("POST /v1/check", { body: { domain: "far-anvil.com", deep: true } })
    expect(headers.get("ratelimit")).toContain('"day";r=999;')
    expect((await ask("POST /v1/check", { body: { domain: "far-anvil.com" } })).headers.get("ratelimit")).toContain(
      "r=998;",
    )
  })

  test("is never asked for a publishable key, to which any check is a plain one", async () => {
    const { requests, newKey, ask, used } = await harness()
    const origin = "https://www.shop.example"
    const { text: key } = await newKey([origin])
    const { status } = await ask("POST /v1/check", {
      key,
      headers: { Origin: origin },
      body: { domain: "far-anvil.com", deep: true },
    })
    expect([status, requests]).toEqual([200, []])
    const { by_key, ...today } = await used()
    expect(today).toMatchObject({ checks: 1, deep_checks: 0 })
    expect(by_key.map(({ used: units }) => units)).toEqual(expect.arrayContaining([0, 1]))
  })

  test("needs the units of a deep check at first: without them it is refused", async () => {
    const { deep } = fakeDeepProbe({ age: UNAVAILABLE, homepage: UNAVAILABLE })
    const { ask } = await testApp({ tier: 0, tiers: "0=-/-/4", deep })
    const { body } = await ask("POST /v1/check", { body: { domain: "far-anvil.com", deep: true } })
    expect(body["code"]).toBe("quota_exceeded")
  })
})

describe("a second deep check", () => {
  test("of the domain within a day asks nobody, and says that it is cached", async () => {
    const { check, requests, time } = await harness()
    const body = { email: "jane@known-anvil.com", deep: true }
    expect(await check(body)).toMatchObject({ cached: false })
    expect(await check(body)).toMatchObject({ cached: true, domain_age_days: 4000 })
    await check({ url: "https://www.known-anvil.com/about", deep: true })
    await time.tick(DAY_MS - 1000)
    await check(body)
    expect(requests).toEqual(["age known-anvil.com", "page known-anvil.com"])
    await time.tick(2000)
    await check(body)
    expect(requests).toEqual(["age known-anvil.com", "page known-anvil.com", "page known-anvil.com"])
  })

  test("counts the days that passed meanwhile", async () => {
    const { check, time } = await harness({ age: known(27) })
    const body = { domain: "young-anvil.com", deep: true }
    expect(await check(body)).toMatchObject({ domain_age_days: 27, is_new_domain: true })
    await time.tick(3 * DAY_MS)
    expect(await check(body)).toMatchObject({ domain_age_days: 30, is_new_domain: false })
  })

  test("of the same moment shares the questions of the first", async () => {
    const { check, requests } = await harness()
    await Promise.all(Array.from({ length: 20 }, () => check({ domain: "shared-anvil.com", deep: true })))
    expect(requests).toEqual(["age shared-anvil.com", "page shared-anvil.com"])
  })
})
