import { describe, expect, test } from "bun:test"
import { openCommands } from "./open-commands.ts"

const TIERS = [
  { unitsPerDay: 100, requestsPerSecond: 5, inFlight: 2 },
  { unitsPerDay: 1000, requestsPerSecond: 10, inFlight: 2 },
]

/** The commands over a store in which Jane has a secret key. */
async function opened() {
  const harness = await openCommands({ tiers: TIERS })
  await harness.run("account", "create", "jane@example.com")
  const key = await harness.runJson("key", "create", "--account", "jane@example.com", "--name", "Shop")
  const id: string = key.id
  const update = (...args: string[]) => harness.runJson("key", "update", id, ...args)
  return { ...harness, id, key, update }
}

describe("key update", () => {
  test("changes what it names, and leaves the rest as it is", async () => {
    const { key, update, runJson, id } = await opened()
    const limited = await update("--units-per-day", "500", "--network", "10.0.0.0/8", "--network", "::1")
    expect(limited).toMatchObject({ units_per_day: 500, networks: ["10.0.0.0/8", "::1/128"], name: "Shop" })
    expect(await update("--requests-per-second", "3", "--name", "Web")).toMatchObject({
      ...{ units_per_day: 500, requests_per_second: 3, networks: ["10.0.0.0/8", "::1/128"], name: "Web" },
    })
    expect(await update("--units-per-day", "none", "--network", "none", "--expires", "1970-02-01")).toMatchObject({
      ...{ units_per_day: null, requests_per_second: 3, networks: [], expires_at: "1970-02-02T00:00:00.000Z" },
    })
    const freed = await update("--requests-per-second", "none", "--expires", "never", "--name", "Shop")
    expect(freed).toEqual({ ...key, key: null })
    expect(await runJson("key", "show", id)).toEqual(freed)
  })

  test("of two administrators at the same moment changes what each of them names", async () => {
    const { run, runJson, id } = await opened()
    await Promise.all([
      run("key", "update", id, "--units-per-day", "7"),
      run("key", "update", id, "--network", "10.0.0.0/8"),
      run("key", "update", id, "--requests-per-second", "2"),
    ])
    expect(await runJson("key", "show", id)).toMatchObject({
      ...{ units_per_day: 7, networks: ["10.0.0.0/8"], requests_per_second: 2 },
    })
  })

  test("goes by the version that was seen, if it is named", async () => {
    const { key, run, update } = await opened()
    const { version } = await update("--network", "10.0.0.0/8", "--seen", key.version)
    const late = await run("key", "update", key.id, "--network", "192.168.0.0/16", "--seen", key.version, "--json")
    expect([late.code, JSON.parse(late.err).error.code]).toEqual([4, "changed_meanwhile"])
    expect(await update("--network", "none", "--seen", version)).toMatchObject({ networks: [] })
  })

  test("refuses what the account's limits, the kind and the state of the key forbid", async () => {
    const { id, run } = await opened()
    const code = async (...args: string[]) => (await run("key", "update", id, ...args)).code
    expect(await code("--units-per-day", "1000")).toBe(2)
    expect(await code("--network", "10.0.0.0/8", "--network", "none")).toBe(2)
    expect(await code("--origin", "https://a.example")).toBe(2)
    expect(await code()).toBe(2)
    await run("key", "revoke", id)
    expect(await code("--units-per-day", "5")).toBe(1)
    expect(await code("--name", "Old")).toBe(0)
    for (const command of ["show", "update"])
      expect((await run("key", command, "key_none", ...(command === "show" ? [] : ["--name", "x"]))).code).toBe(1)
  })

  test("is in the audit log with the command line and its user", async () => {
    const { id: key, run, runJson, update } = await opened()
    await update("--units-per-day", "5", "--name", "Web")
    const limited = async () => JSON.parse((await run("audit", "--json", "--by", "ada", "--act", "key_limited")).out)
    const details = `${key} units_per_day none → 5`
    expect(await limited()).toMatchObject({ actor: "operator", actor_id: "ada", source: "command", details })
    expect((await run("audit", "--by", "eve")).out).toBe("")
    const { id } = await runJson("account", "show", "jane@example.com")
    expect((await run("audit", "--by", id)).out).toBe("")
  })
})
