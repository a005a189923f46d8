import { describe, expect } from "bun:test"
import fc from "fast-check"
import { LIMITS } from "../../../src/contract/limits.ts"
import type { FreeCheckRequest } from "../../../src/customers/free-checks/free-checks.ts"
import { trustedAt } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { openAt, tempPlace, tempStore } from "../temp-store.ts"
import { openFreeChecks, STRANGER, sent, solutionOf } from "./open-free-checks.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const PASS = LIMITS.passMinutes * 60_000

type Harness = Awaited<ReturnType<typeof openFreeChecks>>

/** What becomes of visits of a client, one after the other. */
async function kinds({ free }: Harness, count: number, visit: Partial<FreeCheckRequest> = {}) {
  const seen: string[] = []
  for (let done = 0; done < count; done++) seen.push((await free.grant({ ...STRANGER, ...visit })).kind)
  return seen
}

/** How many wrong things the only network that did any has done; 0: none. */
async function strikeCount({ store }: Harness): Promise<number> {
  const row = await store.one<{ strike_count: number }>("SELECT strike_count FROM free_check_bans")
  return row?.strike_count ?? 0
}

/** Uses up what a client has without a pass. */
const useDay = (harness: Harness, client: string = STRANGER.client) =>
  kinds(harness, LIMITS.freeChecksPerClientAndDay, { client })

/** What a client gets who has no pass and asks once too often. */
const FEW = [...Array<string>(LIMITS.freeChecksPerClientAndDay).fill("granted"), "pass_required"]

describe("without a pass", () => {
  test("a client has a few checks a day, and a new day brings new ones", async () => {
    const harness = await openFreeChecks()
    expect(await kinds(harness, FEW.length)).toEqual(FEW)
    expect(await kinds(harness, 1, { client: "192.0.2.2" })).toEqual(["granted"])
    await harness.time.tick(DAY - 1)
    expect(await kinds(harness, 1)).toEqual(["pass_required"])
    await harness.time.tick(1)
    expect(await kinds(harness, FEW.length)).toEqual(FEW)
    expect(await strikeCount(harness)).toBe(0)
  })

  test("many visits of a client at one moment get no more", async () => {
    const { free } = await openFreeChecks()
    const all = await Promise.all(Array.from({ length: FEW.length + 9 }, () => free.grant(STRANGER)))
    expect(all.filter(({ kind }) => kind === "granted")).toHaveLength(LIMITS.freeChecksPerClientAndDay)
  })

  test("no address stands in any row, and the same client is another name the next day", async () => {
    const harness = await openFreeChecks()
    const { store, free, time } = harness
    await free.grant(STRANGER)
    await harness.passOf()
    await time.tick(DAY)
    await free.grant(STRANGER)
    await free.grant({ ...STRANGER, pass: "forged" })
    const tables = ["free_check_days", "free_check_passes", "free_check_bans", "free_check_secret", "units"]
    const rows = await Promise.all(tables.map(table => store.all(`SELECT * FROM ${table}`)))
    expect(JSON.stringify(rows)).not.toContain("192.0")
    const clients = await store.all<{ client_hash: string }>("SELECT client_hash FROM free_check_days")
    expect(new Set(clients.map(row => row.client_hash)).size).toBe(2)
  })
})

describe("a pass", () => {
  test("is good for as many checks as the table says, the first included, from any network", async () => {
    const harness = await openFreeChecks()
    const pass = await harness.passOf()
    await useDay(harness)
    expect(await kinds(harness, LIMITS.passChecks, { pass, client: "192.0.2.1" })).toEqual([
      ...Array(LIMITS.passChecks - 1).fill("granted"),
      "pass_required",
    ])
    expect(await strikeCount(harness)).toBe(0)
  })

  test("is good for an hour", async () => {
    for (const [passedMs, kind] of [
      [PASS - 1, "granted"],
      [PASS, "pass_required"],
    ] as const) {
      const harness = await openFreeChecks()
      const pass = await harness.passOf()
      await useDay(harness)
      await harness.time.tick(passedMs)
      expect(await kinds(harness, 1, { pass })).toEqual([kind])
      expect(await strikeCount(harness)).toBe(0)
    }
  })

  test("whose last check many take at one moment gives one of them", async () => {
    const harness = await openFreeChecks()
    const pass = await harness.passOf()
    await useDay(harness)
    await kinds(harness, LIMITS.passChecks - 2, { pass })
    const all = await Promise.all(Array.from({ length: 8 }, () => harness.free.grant({ ...STRANGER, pass })))
    expect(all.filter(({ kind }) => kind === "granted")).toHaveLength(1)
  })

  test("holds across processes and a restart, and its secret is in no row", async () => {
    const path = tempPlace()
    const store = await openAt(path, () => 1)
    const pass = await (await openFreeChecks({ store })).passOf()
    await store.close()
    const again = await tempStore(path)
    const [one, other] = [await openFreeChecks({ store: again }), await openFreeChecks({ store: again })]
    await useDay(one)
    expect([...(await kinds(one, 10, { pass })), ...(await kinds(other, 10, { pass }))]).toEqual([
      ...Array(LIMITS.passChecks - 1).fill("granted"),
      "pass_required",
    ])
    expect(JSON.stringify(await again.all("SELECT * FROM free_check_passes"))).not.toContain(pass)
  })

  test("that is over is forgotten by the browser, and one that still holds is not", async () => {
    const harness = await openFreeChecks()
    const pass = await harness.passOf()
    expect((await harness.free.grant({ ...STRANGER, pass })).change).toBeNull()
    await harness.time.tick(PASS)
    const { kind, change } = await harness.free.grant({ ...STRANGER, pass })
    expect([kind, change]).toEqual(["granted", { secret: null }])
  })

  test("that is forged, or of another installation, is a strike each time, and its visitor has what anybody has", async () => {
    const harness = await openFreeChecks()
    const foreign = await (await openFreeChecks()).passOf()
    for (const pass of [foreign, "x", "0".repeat(32), "' OR 1=1 --"]) await harness.free.grant({ ...STRANGER, pass })
    expect(await strikeCount(harness)).toBe(4)
    await useDay(harness)
    expect((await harness.free.grant({ ...STRANGER, pass: foreign })).kind).toBe("pass_required")
  })

  test("that holds is used before a solution that comes along: who loads a page again loses nothing", async () => {
    const harness = await openFreeChecks()
    const solution = await solutionOf(await harness.free.challenge())
    const first = await harness.free.grant({ ...STRANGER, solution })
    const pass = first.change?.secret ?? ""
    const second = await harness.free.grant({ ...STRANGER, pass, solution })
    expect([second.kind, second.change, await strikeCount(harness)]).toEqual(["granted", null, 0])
  })
})

describe("a solution", () => {
  test("is worth one pass: sent again it is a strike and worth nothing, at one moment too", async () => {
    const harness = await openFreeChecks()
    await useDay(harness)
    const solution = await solutionOf(await harness.free.challenge())
    const all = await Promise.all(Array.from({ length: 5 }, () => harness.free.grant({ ...STRANGER, solution })))
    expect(all.map(({ kind }) => kind).toSorted()).toEqual(["granted", ...Array(4).fill("pass_required")])
    expect(await strikeCount(harness)).toBe(4)
    await harness.time.tick(LIMITS.challengeMinutes * 60_000 - 1)
    expect(await kinds(harness, 1, { solution })).toEqual(["pass_required"])
  })

  test("that came too late is no strike; a wrong one, and one of another installation, is", async () => {
    const harness = await openFreeChecks()
    await useDay(harness)
    const late = await solutionOf(await harness.free.challenge())
    await harness.time.tick(LIMITS.challengeMinutes * 60_000)
    expect(await kinds(harness, 1, { solution: late })).toEqual(["pass_required"])
    expect(await strikeCount(harness)).toBe(0)
    const foreign = await solutionOf(await (await openFreeChecks()).free.challenge())
    for (const solution of ["nonsense", sent({}), foreign]) await harness.free.grant({ ...STRANGER, solution })
    expect(await strikeCount(harness)).toBe(3)
  })
})

describe("the budget", () => {
  test("is shared by all clients and passes, and never passed by two processes on one store", async () => {
    const store = await tempStore()
    const houses = [await openFreeChecks({ store, perDay: 7 }), await openFreeChecks({ store, perDay: 7 })] as const
    const solutions = await Promise.all(
      Array.from({ length: 20 }, async () => await solutionOf(await houses[0].free.challenge())),
    )
    const visits = solutions.map((solution, at) =>
      houses[at % 2 === 0 ? 0 : 1].free.grant({ ...STRANGER, client: `192.0.2.${at}`, solution }),
    )
    const all = (await Promise.all(visits)).map(({ kind }) => kind).toSorted()
    expect(all).toEqual([...Array(13).fill("busy"), ...Array(7).fill("granted")])
  })

  test("is whole again at 00:00 UTC, and says so", async () => {
    const harness = await openFreeChecks({ perDay: 1 })
    expect(await kinds(harness, 1)).toEqual(["granted"])
    const refused = await harness.free.grant(STRANGER)
    expect(refused).toEqual({ kind: "busy", change: null, resetsAtMs: Date.UTC(2026, 0, 2), waitS: DAY / 1000 })
    await harness.time.tick(DAY - 1)
    expect(await kinds(harness, 1)).toEqual(["busy"])
    await harness.time.tick(1)
    expect(await kinds(harness, 2)).toEqual(["granted", "busy"])
  })

  test("that is used up costs neither a pass nor the checks of the day, and leaves no row of a client", async () => {
    const harness = await openFreeChecks({ perDay: 1 })
    const pass = await harness.passOf()
    expect(await kinds(harness, LIMITS.passChecks + 5, { pass })).toEqual(Array(LIMITS.passChecks + 5).fill("busy"))
    expect(await kinds(harness, 5)).toEqual(Array(5).fill("busy"))
    expect(await harness.store.all("SELECT * FROM free_check_days")).toEqual([])
    expect(await harness.store.one<unknown>("SELECT checks_left FROM free_check_passes")).toEqual({
      checks_left: LIMITS.passChecks - 1,
    })
  })

  test("a new pass whose first check the budget refuses is whole, and the browser gets it", async () => {
    const harness = await openFreeChecks({ perDay: 1 })
    await kinds(harness, 1)
    const solution = await solutionOf(await harness.free.challenge())
    const { kind, change } = await harness.free.grant({ ...STRANGER, solution })
    expect([kind, change?.secret]).toEqual(["busy", expect.stringMatching(/^\w{32}$/)])
    expect(await harness.store.one<unknown>("SELECT checks_left FROM free_check_passes")).toEqual({
      checks_left: LIMITS.passChecks,
    })
  })

  test("and the pass get back what failed by our own fault", async () => {
    const harness = await openFreeChecks({ perDay: 4 })
    const pass = await harness.passOf()
    for (let count = 0; count < 40; count++) {
      const granted = await harness.free.grant({ ...STRANGER, pass })
      if (granted.kind !== "granted") throw new Error(granted.kind)
      await granted.refund()
    }
    expect(await kinds(harness, 4, { pass })).toEqual(["granted", "granted", "granted", "busy"])
  })

  test("that cannot be read costs the visitor nothing", async () => {
    const harness = await openFreeChecks()
    await harness.store.run("ALTER TABLE units RENAME TO away")
    expect(await outcomeOf(harness.free.grant(STRANGER))).toThrow()
    expect(await harness.store.all("SELECT * FROM free_check_days")).toEqual([])
    await harness.store.run("ALTER TABLE away RENAME TO units")
    expect(await kinds(harness, FEW.length)).toEqual(FEW)
  })
})

describe("the second half of the budget", () => {
  test("is for visitors with a pass, whoever they are, and a check that is refused costs nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 30 }), async perDay => {
        const harness = await openFreeChecks({ perDay })
        const open = Math.ceil(perDay / 2)
        const granted: string[] = []
        for (let at = 0; at < perDay + 5; at++)
          granted.push(...(await kinds(harness, 1, { client: `2001:db8:${at.toString(16)}:1` })))
        expect(granted).toEqual([...Array(open).fill("granted"), ...Array(perDay + 5 - open).fill("pass_required")])
        const solution = await solutionOf(await harness.free.challenge())
        const first = await harness.free.grant({ ...STRANGER, solution })
        const rest = await kinds(harness, perDay - open - 1, { pass: first.change?.secret ?? "" })
        expect([first.kind, ...rest]).toEqual(Array(perDay - open).fill("granted"))
        expect(await kinds(harness, 1, { client: "192.0.2.77" })).toEqual(["busy"])
        expect(await harness.store.all("SELECT * FROM free_check_days")).toHaveLength(2 * open)
      }),
      { numRuns: 5 },
    )
  })

  test("is open to nobody without a pass until 00:00 UTC", async () => {
    const harness = await openFreeChecks({ perDay: 4 })
    await kinds(harness, 2)
    await harness.time.tick(DAY - 1)
    expect(await kinds(harness, 1, { client: "192.0.2.77" })).toEqual(["pass_required"])
    await harness.time.tick(1)
    expect(await kinds(harness, 1, { client: "192.0.2.77" })).toEqual(["granted"])
  })
})

describe("the clients of an IPv6 /48", () => {
  const clientIn = (site: string, at: number) => ({ client: `2001:db8:${site}:${at.toString(16)}` })
  const SITE_MAX = LIMITS.freeChecksPerSiteAndDay

  test("share an allowance, so that no site uses up what all visitors share", async () => {
    const harness = await openFreeChecks({ perDay: 5000 })
    const granted: string[] = []
    for (let at = 0; at < 400; at++) granted.push(...(await kinds(harness, 1, clientIn("1", at))))
    expect(granted.filter(kind => kind === "granted")).toHaveLength(SITE_MAX)
    expect(granted.at(-1)).toBe("pass_required")
    expect(await kinds(harness, 3, clientIn("2", 0))).toEqual(Array(3).fill("granted"))
    expect(await kinds(harness, 1)).toEqual(["granted"])
    const pass = await harness.passOf("2001:db8:1:0")
    expect(await kinds(harness, 1, { ...clientIn("1", 0), pass })).toEqual(["granted"])
    await harness.time.tick(DAY)
    expect(await kinds(harness, 1, clientIn("1", 0))).toEqual(["granted"])
  })

  test("that come at one moment get no more, and each no more than any client", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(40), { minLength: 1, maxLength: 120 }), async visits => {
        const { free } = await openFreeChecks({ perDay: 5000 })
        const all = await Promise.all(visits.map(at => free.grant({ ...STRANGER, ...clientIn("1", at) })))
        const counts = Map.groupBy(
          visits.filter((_, at) => all[at]?.kind === "granted"),
          at => at,
        )
        const granted = [...counts.values()].map(each => each.length)
        const asked = [...Map.groupBy(visits, at => at).values()].map(each =>
          Math.min(each.length, LIMITS.freeChecksPerClientAndDay),
        )
        const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
        expect(Math.max(...granted)).toBeLessThanOrEqual(LIMITS.freeChecksPerClientAndDay)
        expect(sum(granted)).toBe(Math.min(sum(asked), SITE_MAX))
      }),
      { numRuns: 10 },
    )
  })

  test("write nothing when their allowance is used up", async () => {
    const { free, store } = await openFreeChecks({ perDay: 5000 })
    for (let at = 0; at < SITE_MAX; at++) await free.grant({ ...STRANGER, ...clientIn("1", at) })
    const before = await store.all("SELECT * FROM free_check_days ORDER BY client_hash")
    const written: string[] = []
    const run: typeof store.run = store.run.bind(store)
    Object.assign(store, {
      run: (...statement: Parameters<typeof run>) => {
        written.push(statement[0])
        return run(...statement)
      },
    })
    for (let at = 0; at < 100; at++) await free.grant({ ...STRANGER, ...clientIn("1", 1000 + at) })
    Object.assign(store, { run })
    expect([written, await store.all("SELECT * FROM free_check_days ORDER BY client_hash")]).toEqual([[], before])
  })
})

describe("a client", () => {
  test("may burst, then come once a second; what is faster is a strike", async () => {
    const harness = await openFreeChecks()
    const { free, time } = harness
    for (let count = 0; count < LIMITS.freeRequestsBurst; count++)
      expect(await free.admit("192.0.2.1")).toEqual({ kind: "welcome" })
    expect(await free.admit("192.0.2.1")).toEqual({ kind: "too_fast", waitS: 1 })
    expect(await strikeCount(harness)).toBe(1)
    await time.tick(1000)
    expect(await free.admit("192.0.2.1")).toEqual({ kind: "welcome" })
  })

  test("that is too fast too often has its network banned, in every process, and nobody else's", async () => {
    const store = await tempStore()
    const { free, time } = await openFreeChecks({ store })
    for (let count = 0; count < LIMITS.freeRequestsBurst + LIMITS.strikesMax; count++) await free.admit("192.0.2.1")
    const elsewhere = await openFreeChecks({ store })
    for (const each of [free, elsewhere.free]) {
      expect(await each.admit("192.0.2.99")).toEqual({ kind: "banned", waitS: HOUR / 1000 })
      expect(await each.admit("192.0.3.1")).toEqual({ kind: "welcome" })
      expect(await each.admit("2001:db8:0:1")).toEqual({ kind: "welcome" })
    }
    await time.tick(HOUR)
    expect(await free.admit("192.0.2.99")).toEqual({ kind: "welcome" })
  })
})

test("of networks without number no more wrong things are noted than a server can write, and later ones are again", async () => {
  const harness = await openFreeChecks()
  const rowCount = async () => (await harness.store.all("SELECT network_hash FROM free_check_bans")).length
  const forged = "A".repeat(32)
  const visit = (at: number) =>
    harness.free.grant({ ...STRANGER, client: `2001:db8:${at.toString(16)}:1`, pass: forged })
  for (let at = 0; at < 320; at++) await visit(at)
  expect(await rowCount()).toBe(300)
  await harness.time.tick(1000)
  for (let at = 1000; at < 1040; at++) await visit(at)
  expect(await rowCount()).toBe(320)
})

test("what is over is deleted, and what is not is kept", async () => {
  const harness = await openFreeChecks()
  const { store, free, time } = harness
  const countOf = async (table: string) => (await store.all(`SELECT * FROM ${table}`)).length
  const counts = () => Promise.all(["free_check_days", "free_check_passes", "free_check_bans"].map(countOf))
  await free.grant({ ...STRANGER, pass: "forged" })
  await harness.passOf()
  await free.prune(trustedAt(time.clock()), 1000)
  expect(await counts()).toEqual([1, 1, 1])
  await time.tick(2 * PASS)
  await free.prune(trustedAt(time.clock()), 1000)
  expect(await counts()).toEqual([1, 0, 0])
  await time.tick(2 * DAY - 2 * PASS)
  await free.prune(trustedAt(time.clock()), 1000)
  expect(await counts()).toEqual([0, 0, 0])
})
