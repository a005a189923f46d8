import { expect, test as onSqlite } from "bun:test"
import { join } from "node:path"
import {
  createDomainFacts,
  DOMAIN_FACT_BOUNDS,
  type DomainFactBounds,
} from "../../../src/customers/evidence/domain-facts.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { stoppedClock, trustedAt } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { tempPlace, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const AGE = { registeredAtMs: Date.UTC(1997, 8, 15), checkedAtMs: NOW }
const PARKED = { state: "parked", evidence: "parking.net", checkedAtMs: NOW } as const

/** The facts over a store in a fresh file. */
async function factsOf(bounds: Partial<DomainFactBounds> = {}, store?: Store) {
  const clock = stoppedClock(NOW)
  const opened = store ?? (await tempStore())
  return { clock, store: opened, ...createDomainFacts(opened, clock, { ...DOMAIN_FACT_BOUNDS, ...bounds }) }
}

const domainsIn = async (store: Store): Promise<readonly string[]> =>
  (await store.all<{ domain: string }>("SELECT domain FROM domain_facts ORDER BY domain")).map(({ domain }) => domain)

test("what was written is read as it was, by others too, once it is stored", async () => {
  const { store, ages, homepages, flush } = await factsOf()
  ages.write("acme.com", AGE)
  ages.write("untold.com", { registeredAtMs: null, checkedAtMs: NOW })
  homepages.write("acme.com", PARKED)
  homepages.write("none.com", { state: "none", evidence: null, checkedAtMs: NOW })
  homepages.write("xn--bcher-kva.com", { state: "found", evidence: "bücher", checkedAtMs: NOW })
  expect(await ages.read("acme.com")).toBeNull()
  await flush()
  const other = await factsOf({}, store)
  expect(await other.ages.read("acme.com")).toEqual(AGE)
  expect(await other.ages.read("untold.com")).toEqual({ registeredAtMs: null, checkedAtMs: NOW })
  expect(await other.homepages.read("acme.com")).toEqual(PARKED)
  expect(await other.homepages.read("none.com")).toEqual({ state: "none", evidence: null, checkedAtMs: NOW })
  expect(await other.homepages.read("xn--bcher-kva.com")).toMatchObject({ state: "found", evidence: "bücher" })
})

test("what a clock more than a day ahead has found is not read, and gives way to what is written", async () => {
  const { store, ages, homepages, flush, prune, clock } = await factsOf()
  const [dayAhead, furtherAhead] = [NOW + DAY_MS, NOW + DAY_MS + 1]
  ages.write("ahead.com", { ...AGE, checkedAtMs: dayAhead })
  homepages.write("ahead.com", { ...PARKED, checkedAtMs: dayAhead })
  ages.write("wrong.com", { registeredAtMs: null, checkedAtMs: furtherAhead })
  homepages.write("wrong.com", { ...PARKED, checkedAtMs: furtherAhead })
  await flush()
  expect(await ages.read("ahead.com")).toMatchObject({ checkedAtMs: dayAhead })
  expect(await homepages.read("ahead.com")).toMatchObject({ checkedAtMs: dayAhead })
  expect([await ages.read("wrong.com"), await homepages.read("wrong.com")]).toEqual([null, null])
  for (const domain of ["ahead.com", "wrong.com"]) {
    ages.write(domain, AGE)
    homepages.write(domain, { ...PARKED, state: "found" })
  }
  await flush()
  expect(await ages.read("ahead.com")).toMatchObject({ checkedAtMs: dayAhead })
  expect(await ages.read("wrong.com")).toEqual(AGE)
  expect(await homepages.read("wrong.com")).toMatchObject({ state: "found", checkedAtMs: NOW })
  clock.tick(30 * DAY_MS + 1)
  expect(await prune(trustedAt(clock()))).toBe(1)
  expect(await domainsIn(store)).toEqual(["ahead.com"])
})

test("what is known of one kind says nothing of the other", async () => {
  const { ages, homepages, flush } = await factsOf()
  ages.write("age.com", AGE)
  homepages.write("page.com", PARKED)
  await flush()
  expect([await ages.read("page.com"), await homepages.read("age.com")]).toEqual([null, null])
  expect([await ages.read("other.com"), await homepages.read("other.com")]).toEqual([null, null])
})

test("a later fact takes an earlier one's place, and never the other way round, kind by kind", async () => {
  const { store, ages, homepages, flush } = await factsOf()
  const newer = { registeredAtMs: null, checkedAtMs: NOW + 1 }
  const found = { state: "found", evidence: null, checkedAtMs: NOW + 2 } as const
  ages.write("acme.com", AGE)
  homepages.write("acme.com", PARKED)
  await flush()
  ages.write("acme.com", newer)
  homepages.write("acme.com", found)
  await flush()
  ages.write("acme.com", AGE)
  homepages.write("acme.com", PARKED)
  await flush()
  expect([await ages.read("acme.com"), await homepages.read("acme.com")]).toEqual([newer, found])
  expect(await store.all<unknown>("SELECT found_at_ms FROM domain_facts")).toEqual([{ found_at_ms: NOW + 2 }])
})

test("a homepage of a state that this version does not know is none", async () => {
  const { store, homepages, flush } = await factsOf()
  homepages.write("acme.com", PARKED)
  await flush()
  await store.run("UPDATE domain_facts SET homepage = 'melted'")
  expect(await homepages.read("acme.com")).toBeNull()
})

test("a store that fails keeps what was written for the next time", async () => {
  const { store, ages, homepages, flush } = await factsOf()
  await store.run("CREATE UNIQUE INDEX one_age ON domain_facts (registered_at_ms)")
  for (const domain of ["a.com", "b.com"]) ages.write(domain, AGE)
  homepages.write("a.com", PARKED)
  expect(await outcomeOf(flush())).toThrow("UNIQUE")
  expect(await domainsIn(store)).toEqual([])
  await store.run("DROP INDEX one_age")
  await flush()
  expect(await domainsIn(store)).toEqual(["a.com", "b.com"])
  expect(await homepages.read("a.com")).toEqual(PARKED)
})

test("what is written while a flush is under way is not lost", async () => {
  const { store, ages, flush } = await factsOf()
  const newer = { ...AGE, checkedAtMs: NOW + 1 }
  ages.write("acme.com", AGE)
  const flushed = flush()
  ages.write("acme.com", newer)
  ages.write("other.com", AGE)
  await flushed
  await flush()
  expect(await ages.read("acme.com")).toEqual(newer)
  expect(await domainsIn(store)).toEqual(["acme.com", "other.com"])
})

test("a bounded number of facts waits to be stored, the ones that came last", async () => {
  const { store, ages, flush } = await factsOf({ unwrittenMax: 2 })
  for (const domain of ["a.com", "b.com", "a.com", "c.com"]) ages.write(domain, AGE)
  await flush()
  expect(await domainsIn(store)).toEqual(["a.com", "c.com"])
})

test("nothing to store touches no store", async () => {
  const store = await tempStore()
  const broken: Store = { ...store, transaction: () => Promise.reject(new Error("touched")) }
  await (await factsOf({}, broken)).flush()
})

test("rows are kept for 30 days after anything in them was found", async () => {
  const { store, ages, homepages, flush, prune, clock } = await factsOf()
  ages.write("age.com", AGE)
  ages.write("both.com", AGE)
  homepages.write("both.com", { ...PARKED, checkedAtMs: NOW + 1 })
  await flush()
  clock.tick(30 * DAY_MS)
  expect(await prune(trustedAt(clock()))).toBe(0)
  clock.tick(1)
  expect(await prune(trustedAt(clock()))).toBe(1)
  expect(await domainsIn(store)).toEqual(["both.com"])
  clock.tick(1)
  expect(await prune(trustedAt(clock()))).toBe(1)
})

test("of rows beyond the bound those go in which anything was found least recently, some at a time", async () => {
  const { store, ages, flush, prune, clock } = await factsOf({ rowsMax: 2, prunedMax: 2 })
  for (const [at, domain] of ["c.com", "a.com", "e.com", "b.com", "d.com"].entries())
    ages.write(domain, { ...AGE, checkedAtMs: NOW + at })
  await flush()
  expect([await prune(trustedAt(clock())), await prune(trustedAt(clock())), await prune(trustedAt(clock()))]).toEqual([
    2, 1, 0,
  ])
  expect(await domainsIn(store)).toEqual(["b.com", "d.com"])
})

onSqlite("to prune, the store goes by the order of finding and sorts nothing", async () => {
  const store = await tempStore()
  const plan = await store.all<{ detail: string }>(
    "EXPLAIN QUERY PLAN SELECT domain FROM domain_facts WHERE found_at_ms <= $1 ORDER BY found_at_ms LIMIT $2",
    [1, 1],
  )
  expect(plan.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^SEARCH domain_facts USING INDEX domain_facts_by_found/),
  ])
})

test("two processes share what each has found", async () => {
  const path = tempPlace()
  const store = await tempStore(path)
  const { ages, homepages, flush } = await factsOf({}, store)
  ages.write("ours.com", AGE)
  homepages.write("ours.com", PARKED)
  ages.write("both.com", AGE)
  await flush()
  const facts = (domain: string, checkedAtMs: number) => {
    const program = join(import.meta.dir, "domain-facts-child.ts")
    const child = Bun.spawnSync([process.execPath, program, path, domain, String(checkedAtMs)])
    return JSON.parse(child.stdout.toString())
  }
  expect(facts("theirs.com", NOW)).toEqual([AGE, PARKED])
  facts("both.com", NOW - 1)
  expect(await ages.read("theirs.com")).toEqual({ registeredAtMs: 7, checkedAtMs: NOW })
  expect(await homepages.read("theirs.com")).toEqual({ ...PARKED })
  expect(await ages.read("both.com")).toEqual(AGE)
  expect(await homepages.read("both.com")).toMatchObject({ checkedAtMs: NOW - 1 })
})
