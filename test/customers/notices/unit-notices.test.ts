import { describe, expect, test } from "bun:test"
import { setWantedNotices } from "../../../src/customers/accounts/mail-switches.ts"
import { UnitNotices } from "../../../src/customers/notices/unit-notices.ts"
import { UNIT_QUOTA_BOUNDS, UnitQuota } from "../../../src/customers/quota/units/unit-quota.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../../src/customers/usage/usage-meter.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"

const PER_DAY = 1000
const UNKNOWN = { category: "unknown", recommendation: "review" } as const
const KEY = { id: "key_x", kind: "secret" } as const

/** Some processes over one store; each takes units, counts them as used, and looks. */
async function opened(processCount = 1) {
  const store = await tempStore()
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const { clock } = log
  const processes = Array.from({ length: processCount }, () => {
    const notices = new UnitNotices({ store, clock, unitsPerDayOf: tier => (tier === 0 ? PER_DAY : null) })
    const units = new UnitQuota(
      store,
      clock,
      UNIT_QUOTA_BOUNDS,
      () => undefined,
      leased => notices.noteLeased(leased),
    )
    const usage = new UsageMeter(
      store,
      clock,
      () => undefined,
      USAGE_METER_BOUNDS,
      () => units.today(),
    )
    const uses = async (count: number) => {
      const { isTaken, day } = await units.take(accountId, count, PER_DAY)
      if (isTaken) usage.record(accountId, KEY, { kind: "batch", verdicts: Array(count).fill(UNKNOWN) }, day)
      return isTaken
    }
    const look = async () => {
      await usage.flush()
      await notices.look(units.today())
    }
    return { notices, units, usage, uses, look }
  })
  const told = async () =>
    (
      await store.all<{ notice: string; subject: string; particulars: string }>(
        "SELECT notice, subject, particulars FROM outbox WHERE notice LIKE 'units%' ORDER BY notice, subject",
      )
    ).map(({ notice, subject, particulars }) => `${notice} ${subject} ${JSON.parse(particulars).used}`)
  const lookAll = async () => {
    for (const { look } of processes) await look()
  }
  return { store, log, accountId, processes, told, lookAll }
}

describe("an account", () => {
  test("is told at 80 % and at 100 % of its day, to the unit, and once", async () => {
    const { processes, told, lookAll } = await opened()
    const [only] = processes
    await only?.uses(799)
    await lookAll()
    expect(await told()).toEqual([])
    await only?.uses(1)
    for (let look = 0; look < 3; look++) await lookAll()
    expect(await told()).toEqual(["units_80 1970-01-01 800"])
    await only?.uses(199)
    await lookAll()
    expect(await told()).toEqual(["units_80 1970-01-01 800"])
    await only?.uses(1)
    for (let look = 0; look < 3; look++) await lookAll()
    expect(await only?.uses(1)).toBe(false)
    await lookAll()
    expect(await told()).toEqual(["units_100 1970-01-01 1000", "units_80 1970-01-01 800"])
  })

  test("that uses them all at once is told only that", async () => {
    const { processes, told, lookAll } = await opened()
    await processes[0]?.uses(PER_DAY)
    await lookAll()
    expect(await told()).toEqual(["units_100 1970-01-01 1000"])
  })

  test("is told by what all processes used together, and by one of them", async () => {
    const { processes, told } = await opened(3)
    for (let round = 0; round < 80; round++) await processes[round % 3]?.uses(10)
    await Promise.all(processes.map(({ look }) => look()))
    await Promise.all(processes.map(({ look }) => look()))
    expect(await told()).toEqual(["units_80 1970-01-01 800"])
    for (let round = 0; round < 20; round++) await processes[round % 3]?.uses(10)
    await Promise.all(processes.map(({ look }) => look()))
    await Promise.all(processes.map(({ look }) => look()))
    expect((await told()).map(line => line.split(" ")[0])).toEqual(["units_100", "units_80"])
  })

  test("is told anew on the next day", async () => {
    const { processes, told, lookAll, log } = await opened()
    await processes[0]?.uses(850)
    await lookAll()
    log.now += 86_400_000
    await processes[0]?.uses(801)
    await lookAll()
    expect(await told()).toEqual(["units_80 1970-01-01 850", "units_80 1970-01-02 801"])
  })

  test("whose last units were lost in a crash is told after a minute that nothing is left", async () => {
    const { processes, told, lookAll, log, store, accountId } = await opened()
    const [first] = processes
    await first?.uses(900)
    await lookAll()
    // Another process leased the rest and died.
    await store.run("UPDATE units SET leased = $2 WHERE subject = $1", [accountId, PER_DAY])
    log.now += 2_000
    while (await first?.uses(1));
    await lookAll()
    expect((await told()).length).toBe(1)
    log.now += 60_000
    await lookAll()
    expect((await told()).map(line => line.split(" ")[0])).toEqual(["units_100", "units_80"])
  })

  test("that switched a mail off does not get it", async () => {
    const { processes, told, lookAll, log, accountId } = await opened()
    await setWantedNotices(log, accountId, ["units_100"])
    await processes[0]?.uses(800)
    await lookAll()
    await processes[0]?.uses(200)
    await lookAll()
    expect((await told()).map(line => line.split(" ")[0])).toEqual(["units_100"])
  })

  test("without a limit, or that is deleted, is told nothing", async () => {
    const { processes, told, lookAll, store, accountId } = await opened()
    await processes[0]?.uses(900)
    await store.run("UPDATE accounts SET tier = 4 WHERE id = $1", [accountId])
    await lookAll()
    expect(await told()).toEqual([])
    await processes[0]?.uses(50)
    await store.run("DELETE FROM accounts WHERE id = $1", [accountId])
    await lookAll()
    expect(await told()).toEqual([])
  })
})
