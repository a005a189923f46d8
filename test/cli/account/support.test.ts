import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createKey } from "../../../src/customers/keys/keys.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../../src/customers/usage/usage-meter.ts"
import { random } from "../../customers/temp-store.ts"
import { openCommands } from "../open-commands.ts"

const JANE = "jane@example.com"

/** The commands over a store with Jane's account. */
async function opened(given: Parameters<typeof openCommands>[0] = {}) {
  const harness = await openCommands(given)
  const { id } = await harness.runJson("account", "create", JANE)
  const accountId: string = id
  const acts = async () => {
    const { out } = await harness.run("audit", "--json", "--account", accountId)
    return out.split("\n").map(line => JSON.parse(line))
  }
  return { ...harness, accountId, acts }
}

describe("account suspend and resume", () => {
  test("change the state once, tell the owner, and are of the command line in the audit log", async () => {
    const { changes, run, runJson, accountId, acts } = await opened()
    const suspended = {
      id: accountId,
      email: JANE,
      state: "suspended",
      suspended_at: "1970-01-01T00:00:05.000Z",
      suspension_reason: "Spam.",
    }
    expect(await runJson("account", "suspend", JANE, "--reason", "Spam.")).toEqual({ ...suspended, changed: true })
    expect(await runJson("account", "suspend", accountId, "--reason", "Other.")).toEqual({
      ...suspended,
      changed: false,
    })
    expect(await runJson("account", "show", JANE)).toMatchObject({ state: "suspended", suspension_reason: "Spam." })
    changes.now += 1
    expect((await run("account", "resume", JANE)).out).toBe(`${JANE} is resumed. Its keys work again.`)
    expect((await run("account", "resume", JANE)).out).toBe(`${JANE} was not suspended. Nothing changed.`)
    expect(await changes.store.all("SELECT notice FROM outbox ORDER BY notice")).toEqual([
      { notice: "account_resumed" },
      { notice: "account_suspended" },
    ] as never)
    const made = { actor: "operator", actor_id: "ada", source: "command" }
    const [last, ...others] = (await acts()).toReversed()
    expect(last).toMatchObject({ act: "account_resumed", ...made })
    expect(others.map(({ act }) => act).toSorted()).toEqual(["account_created", "account_suspended"])
  })

  test("refuse a reason that is too long and an account that is not there, and change nothing", async () => {
    const { run, runJson } = await opened()
    const reason = "x".repeat(LIMITS.suspensionReasonLengthMax + 1)
    expect((await run("account", "suspend", JANE, "--reason", reason)).code).toBe(2)
    expect((await run("account", "resume", "acc_nobody")).code).toBe(1)
    expect(await runJson("account", "show", JANE)).toMatchObject({ state: "active" })
  })
})

describe("account note", () => {
  const note = ["account", "note", JANE] as const

  test("is written, added to, shown without addresses and taken away", async () => {
    const { run, runJson, acts } = await opened()
    expect((await run(...note)).out).toBe(`There is no note about ${JANE}.`)
    const { version } = await runJson(...note, "--set", "Paid until May, asked by sam@acme.com.")
    expect(await runJson(...note, "--add", "Called.")).toMatchObject({
      note: expect.stringMatching(/^Paid.*\nCalled\.$/),
    })
    expect((await run(...note)).out).not.toContain("sam@")
    expect((await run(...note, "--set", "", "--seen", version)).code).toBe(4)
    const { version: now } = await runJson(...note)
    expect(await runJson(...note, "--set", "", "--seen", now)).toMatchObject({ note: "" })
    expect((await acts()).map(({ act }) => act).filter(act => act === "note_changed")).toHaveLength(3)
  })

  test("of somebody else is replaced only by who has seen it", async () => {
    const { run, runJson } = await opened()
    await run(...note, "--set", "Mine.")
    const { code, err } = await run(...note, "--set", "Theirs.", "--json")
    expect([code, JSON.parse(err).error.code]).toEqual([4, "changed_meanwhile"])
    expect(await runJson(...note)).toMatchObject({ note: "Mine." })
    const { version } = await runJson(...note)
    expect(await runJson(...note, "--set", "Both.", "--seen", version)).toMatchObject({ note: "Both." })
  })

  test("has the lines of all who add one at the same moment", async () => {
    const { run, runJson } = await opened()
    await Promise.all(["a", "b", "c", "d"].map(line => run(...note, "--add", line)))
    const { note: text } = await runJson(...note)
    expect(text.split("\n").toSorted()).toEqual(["a", "b", "c", "d"])
  })

  test("is a wrong use if it is too long, or if options contradict each other", async () => {
    const { run } = await opened()
    for (const wrong of [
      ["--set", "x".repeat(LIMITS.operatorNoteLengthMax + 1)],
      ["--set", "a", "--add", "b"],
      ["--seen", "0123456789abcdef"],
    ])
      expect((await run(...note, ...wrong)).code).toBe(2)
  })
})

test("account usage is what the server answers of the units and checks that are stored", async () => {
  const { changes, run, runJson, accountId } = await opened({
    tiers: [null, 1000].map(unitsPerDay => ({ unitsPerDay, requestsPerSecond: 5, inFlight: 2 })),
  })
  const made = await createKey(changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const meter = new UsageMeter(changes.store, changes.clock, () => undefined, USAGE_METER_BOUNDS)
  for (const kind of ["check", "deep_check"] as const)
    meter.record(accountId, made.key, { kind, verdict: { category: "personal", recommendation: "review" } })
  await meter.flush()
  await changes.store.run("INSERT INTO units (subject, day, leased) VALUES ($1, 0, 100)", [accountId])
  const used = 1 + LIMITS.deepCheckUnits
  expect(await runJson("account", "usage", JANE)).toMatchObject({
    ...{ id: accountId, email: JANE, tier: 1 },
    limits: { requests_per_second: 5, daily_units: 1000 },
    today: { used, remaining: 900, lost: 100 - used, checks: 1, deep_checks: 1, by_key: [{ id: made.key.id, used }] },
  })
  expect((await run("account", "usage", JANE)).out).toContain(
    `${used} used, 900 left, ${100 - used} held by servers or lost`,
  )
  // Reading takes nothing.
  expect(await changes.store.all("SELECT leased FROM units")).toEqual([{ leased: 100 }] as never)
})

test("account export is one JSON text with all that is stored about the account", async () => {
  const { run, runJson, accountId } = await opened()
  await run("account", "note", JANE, "--set", "\u001b[2JA note.")
  await run("key", "create", "--account", JANE, "--name", "web")
  const { code, out } = await run("account", "export", JANE)
  expect(code).toBe(0)
  expect(out).not.toContain("\u001b")
  const exported = JSON.parse(out)
  expect(exported).toMatchObject({ account: { id: accountId, email: JANE }, keys: [{ name: "web" }] })
  expect(await runJson("account", "export", accountId)).toEqual({ ...exported, exported_at: expect.any(String) })
})

describe("account delete", () => {
  test("asks for the email, and deletes nothing on another answer or if nobody can be asked", async () => {
    for (const [answer, code] of [
      ["yes", 1],
      ["", 1],
      [null, 2],
    ] as const) {
      const { run, runJson, questions } = await opened({ answer })
      expect([answer, (await run("account", "delete", JANE)).code]).toEqual([answer, code])
      expect(questions).toEqual([expect.stringContaining(JANE)])
      expect(await runJson("account", "list")).toHaveLength(1)
    }
    const { run, runJson } = await opened({ answer: " Jane@Example.com" })
    expect(await run("account", "delete", JANE)).toMatchObject({ code: 0, out: `${JANE} and its keys are deleted.` })
    expect(await runJson("account", "list")).toEqual([])
  })

  test("does not ask with --yes", async () => {
    const { runJson, questions, accountId } = await opened()
    expect(await runJson("account", "delete", JANE, "--yes")).toEqual({ id: accountId, deleted: true })
    expect(questions).toEqual([])
  })
})

test("account show has the state, the terms that are owed, sessions, rules and the note", async () => {
  const { changes, run, runJson, accountId } = await opened()
  changes.now += 1
  await run("terms", "publish", "--version", "1", "--url", "https://a.example/", "--material")
  await run("account", "rules", JANE, "personal=block")
  expect(await runJson("account", "show", JANE)).toEqual({
    ...{
      id: accountId,
      email: JANE,
      tier: 1,
      state: "active",
      created_at: "1970-01-01T00:00:05.000Z",
      last_used_at: null,
    },
    ...{ keys: { active: 0, revoked: 0 }, suspended_at: null, suspension_reason: null, sessions: 0 },
    rules: { personal: "block" },
    terms: {
      ...{ state: "grace", accepted_version: null, accepted_at: "1970-01-01T00:00:05.000Z" },
      ...{ due_version: "1", due_at: "1970-01-31T00:00:05.001Z" },
    },
    ...{ note: "", note_version: expect.stringMatching(/^[0-9a-f]{16}$/) },
  })
  expect((await run("account", "show", JANE)).out).toContain("must accept version 1 before 1970-01-31T00:00:05.001Z")
})
