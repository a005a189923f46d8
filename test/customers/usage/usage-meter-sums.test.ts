import { expect } from "bun:test"
import { array, assert, asyncProperty, boolean, constantFrom, integer, oneof, record } from "fast-check"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { RECOMMENDATIONS } from "../../../src/contract/policies.ts"
import { MEASURES, type MeteredKey, type UsageEvent } from "../../../src/customers/usage/measures.ts"
import { test } from "../engines.ts"
import { DAY_MS, meteredStore, PUBLISHABLE, SECRET, TODAY } from "./metered-store.ts"

type Metered = Awaited<ReturnType<typeof meteredStore>>
type Note = { readonly do: "note"; readonly at: 0 | 1; readonly key: MeteredKey; readonly event: UsageEvent }
type Step =
  | Note
  | { readonly do: "flush"; readonly at: 0 | 1; readonly isAwaited: boolean }
  | { readonly do: "set"; readonly day: number }
  | { readonly do: "break"; readonly measure: string; readonly where: "statement" | "commit" }
  | { readonly do: "mend" }

const at = constantFrom(0, 1)
const verdict = record({ category: constantFrom(...CATEGORY_NAMES), recommendation: constantFrom(...RECOMMENDATIONS) })
const event = oneof(
  record({ kind: constantFrom("check", "deep_check"), verdict }),
  record({ kind: constantFrom("batch"), verdicts: array(verdict, { maxLength: 5 }) }),
  record({ kind: constantFrom("rate_limited", "feedback", "dry_run") }),
)
const steps = array(
  oneof(
    { arbitrary: record({ do: constantFrom("note"), at, key: constantFrom(SECRET, PUBLISHABLE), event }), weight: 6 },
    { arbitrary: record({ do: constantFrom("flush"), at, isAwaited: boolean() }), weight: 4 },
    record({ do: constantFrom("set"), day: integer({ min: TODAY - 1, max: TODAY + 1 }) }),
    record({
      do: constantFrom("break"),
      measure: constantFrom(...Object.keys(MEASURES)),
      where: constantFrom("statement", "commit"),
    }),
    record({ do: constantFrom("mend") }),
  ),
  { maxLength: 40 },
)

type Sums = Record<string, number>

const add = (sums: Sums, name: string, by: number): void => {
  if (by > 0) sums[name] = (sums[name] ?? 0) + by
}

/** Adds what an event comes to, worked out in the plainest way. */
function addEvent(sums: Sums, day: number, { key, event }: Note): void {
  const name = (measure: string): string => `${day} ${key.id} ${measure}`
  if (event.kind === "rate_limited") {
    add(sums, name("rate_limited"), 1)
    return
  }
  if (event.kind === "feedback" || event.kind === "dry_run") {
    add(sums, name(event.kind === "feedback" ? "feedback" : "dry_runs"), 1)
    add(sums, name(key.kind === "secret" ? "used" : "publishable_used"), 1)
    return
  }
  const verdicts = event.kind === "batch" ? event.verdicts : [event.verdict]
  for (const { category, recommendation } of verdicts) {
    add(sums, name(`category:${category}`), 1)
    add(sums, name(`recommendation:${recommendation}`), 1)
  }
  add(sums, name("checks"), event.kind === "check" ? 1 : 0)
  add(sums, name("deep_checks"), event.kind === "deep_check" ? 1 : 0)
  add(sums, name("batch_items"), event.kind === "batch" ? verdicts.length : 0)
  add(
    sums,
    name(key.kind === "secret" ? "used" : "publishable_used"),
    event.kind === "deep_check" ? 5 : verdicts.length,
  )
}

function expected(taken: readonly Step[]): Sums {
  const sums: Sums = {}
  let day = TODAY
  for (const step of taken) {
    if (step.do === "set") day = step.day
    if (step.do === "note") addEvent(sums, day, step)
  }
  return sums
}

/** Takes the steps, in the account of the first of the two; some flushes fail, which is among what is tried. */
async function take(taken: readonly Step[], both: readonly [Metered, Metered]): Promise<void> {
  const [{ accountId, refuse, accept }] = both
  const flushing: Promise<unknown>[] = []
  let isBroken = false
  const repair = async (): Promise<void> => {
    await Promise.allSettled(flushing)
    if (isBroken) await accept()
    isBroken = false
  }
  const set = (day: number): void => {
    for (const { log } of both) log.now = day * DAY_MS
  }
  const takeOne = async (step: Step): Promise<unknown> => {
    switch (step.do) {
      case "note":
        return both[step.at].meter.record(accountId, step.key, step.event)
      case "flush":
        flushing.push(both[step.at].meter.flush())
        return await Promise.allSettled(step.isAwaited ? flushing : [])
      case "set":
        return set(step.day)
      case "break":
        await repair()
        await refuse(step.measure, step.where)
        isBroken = true
        return
      case "mend":
        return await repair()
    }
  }
  set(TODAY)
  for (const step of taken) await takeOne(step)
  await repair()
}

/** What the meter says of the three days on which the steps happen. */
async function read({ meter, accountId }: Metered, ofAccount = accountId): Promise<Sums> {
  const sums: Sums = {}
  for (const toDay of [TODAY - 1, TODAY, TODAY + 1])
    for (const { day, keyId, measure, count } of await meter.counts(ofAccount, toDay, toDay))
      add(sums, `${day} ${keyId} ${measure}`, count)
  return sums
}

test("any order of events and flushes of two meters, some of which fail, sums exactly", async () => {
  const here = await meteredStore({ rowsMax: 3, countersMax: 5 })
  const there = await meteredStore({ rowsMax: 3, countersMax: 5 }, here.path)
  await assert(
    asyncProperty(steps, async (taken: readonly Step[]) => {
      await here.store.run("DELETE FROM usage")
      await take(taken, [here, there])
      await there.flushAll()
      // One has what the other wrote, besides what it has not written itself.
      expect(await read(here)).toEqual(expected(taken))
      await here.flushAll()
      const written = (await here.rows()).map(row => [`${row.day} ${row.key_id} ${row.measure}`, row.count])
      expect(Object.fromEntries(written)).toEqual(expected(taken))
      expect(await read(there, here.accountId)).toEqual(expected(taken))
    }),
    { numRuns: 80 },
  )
}, 300_000)
