import { describe, expect, test } from "bun:test"
import { CorrectionCache } from "../../../src/customers/feedback/correction-cache.ts"
import { decideFeedback } from "../../../src/customers/feedback/decision.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { createFakeTime } from "../../support/time.ts"
import { tempStore } from "../temp-store.ts"
import { openFeedback, submitReport } from "./open-feedback.ts"

/** Corrections over a real store that counts what it is asked, can hold its answers back, and can fail. */
async function opened() {
  const harness = await openFeedback()
  const time = createFakeTime()
  const outside = { requests: [] as string[], gate: Promise.resolve(), isBroken: false, faults: 0 }
  const asking = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    outside.requests.push(what)
    if (outside.isBroken) throw new Error("the store is broken")
    const answer = await ask()
    await outside.gate
    return answer
  }
  const watched: Store = {
    ...harness.store,
    all: <Row>(sql: string, params?: Parameters<Store["all"]>[1]) =>
      asking("all", () => harness.store.all<Row>(sql, params)),
    one: <Row>(sql: string, params?: Parameters<Store["one"]>[1]) =>
      asking("one", () => harness.store.one<Row>(sql, params)),
  }
  const corrections = new CorrectionCache(watched, time.later, () => void outside.faults++)
  const log: AttributedLog = { ...harness.log, notify: changes => corrections.applyChanges(changes) }
  /** Writes a correction that nobody here is told of; null takes it back. */
  const write = (domain: string, category: string | null) =>
    category === null
      ? harness.store.run("DELETE FROM corrections WHERE domain = $1", [domain])
      : harness.store.run(
          `INSERT INTO corrections (domain, category, feedback_id, made_at_ms) VALUES ($1, $2, 'fb_x', 1)
           ON CONFLICT (domain) DO UPDATE SET category = $2`,
          [domain, category],
        )
  const facts = (...domains: string[]) =>
    corrections.applyChanges(domains.map(subject => ({ kind: "correction_changed", subject })))
  return { ...harness, time, outside, corrections, log, write, facts }
}

const of = (corrections: CorrectionCache, domain: string) => corrections.of(domain, null)

describe("which correction a domain has", () => {
  test("its own, else that of the nearest parent down to the registrable domain", async () => {
    const { corrections, write } = await opened()
    for (const [domain, category] of [
      ["com", "invalid"],
      ["example.com", "personal"],
      ["b.example.com", "education"],
      ["other.co.uk", "relay"],
    ] as const)
      await write(domain, category)
    await corrections.load()
    const cases: [domain: string, registrable: string | null, correction: string | null][] = [
      ["example.com", "example.com", "personal"],
      ["a.example.com", "example.com", "personal"],
      ["b.example.com", "example.com", "education"],
      ["x.y.b.example.com", "example.com", "education"],
      ["xb.example.com", "example.com", "personal"],
      ["notexample.com", "notexample.com", null],
      ["other.co.uk", "other.co.uk", "relay"],
      ["x.other.co.uk", "x.other.co.uk", null],
      ["a.example.com", null, null],
      ["b.example.com", null, "education"],
      ["com", "com", "invalid"],
      ["example.com", "longer.than.example.com", "personal"],
      ["", null, null],
    ]
    for (const [domain, registrable, correction] of cases)
      expect<unknown>([domain, registrable, corrections.of(domain, registrable)]).toEqual([
        domain,
        registrable,
        correction,
      ])
  })

  test("none before they are loaded", async () => {
    const { corrections, write } = await opened()
    await write("example.com", "relay")
    expect(of(corrections, "example.com")).toBeNull()
    await corrections.load()
    expect(of(corrections, "example.com")).toBe("relay")
  })

  test("none when it is to a category that only a later version knows", async () => {
    const { corrections, write, facts, time } = await opened()
    await write("example.com", "quantum")
    await write("other.com", "relay")
    await corrections.load()
    expect(of(corrections, "example.com")).toBeNull()
    await write("other.com", "toString")
    facts("other.com")
    await time.tick(0)
    expect(of(corrections, "other.com")).toBeNull()
  })
})

describe("changes", () => {
  test("an accepted report is live here once the change was read, and gone when it is taken back", async () => {
    const { corrections, log, accountId, time } = await opened()
    await corrections.load()
    const { id } = await submitReport(log, { accountId })
    await decideFeedback(log, id, "accepted")
    await time.tick(0)
    expect(of(corrections, "example.com")).toBe("business")
    await decideFeedback(log, id, "rejected")
    await time.tick(0)
    expect(of(corrections, "example.com")).toBeNull()
  })

  test("an accepted report is live in another process that reads of the change", async () => {
    const { path, log, report, time } = await opened()
    const elsewhere = await tempStore(path)
    const corrections = new CorrectionCache(elsewhere, time.later, () => undefined)
    await corrections.load()
    await decideFeedback(log, (await report()).id, "accepted")
    const read = await readChangesSince(elsewhere, 0)
    if (read.kind === "read") corrections.applyChanges(read.changes)
    await time.tick(0)
    expect(of(corrections, "example.com")).toBe("business")
  })

  test("only what changed is read again, and changes of other things read nothing", async () => {
    const { corrections, outside, facts, time } = await opened()
    await corrections.load()
    corrections.applyChanges([])
    corrections.applyChanges([{ kind: "key_revoked", subject: "key_x" }])
    await time.tick(0)
    expect(outside.requests).toEqual(["all"])
    facts("a.com", "b.com", "a.com")
    await time.tick(0)
    expect(outside.requests).toEqual(["all", "one", "one"])
  })

  test("a change of a kind that only a later version knows may be about any correction", async () => {
    const { corrections, write, time } = await opened()
    await corrections.load()
    await write("example.com", "relay")
    corrections.applyChanges([{ kind: "something_new", subject: "x" }])
    await time.tick(0)
    expect(of(corrections, "example.com")).toBe("relay")
  })

  test.each([
    [1000, 1001],
    [1001, 2],
  ])("%i changes at once take %i questions", async (count, expected) => {
    const { corrections, write, facts, outside, time } = await opened()
    await corrections.load()
    await write("d0.com", "relay")
    await write(`d${count - 1}.com`, "personal")
    facts(...Array.from({ length: count }, (_, at) => `d${at}.com`))
    for (let turn = 0; turn < 200; turn++) await time.tick(0)
    expect(outside.requests).toHaveLength(expected)
    expect([of(corrections, "d0.com"), of(corrections, `d${count - 1}.com`)]).toEqual(["relay", "personal"])
  })

  test("after a loss everything is read again, and until then look-ups answer as before", async () => {
    const { corrections, write, time } = await opened()
    await write("old.com", "relay")
    await corrections.load()
    await write("old.com", null)
    await write("new.com", "personal")
    corrections.invalidateAll()
    expect(of(corrections, "old.com")).toBe("relay")
    await time.tick(0)
    expect([of(corrections, "old.com"), of(corrections, "new.com")]).toEqual([null, "personal"])
  })

  test.each(["one", "all"])("a change that comes while %s is read is read afterwards", async what => {
    const { corrections, write, facts, outside, time } = await opened()
    await corrections.load()
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    await write("example.com", "relay")
    if (what === "one") facts("example.com")
    else corrections.invalidateAll()
    await time.tick(0)
    // What was read is on its way and already old.
    await write("example.com", "personal")
    facts("example.com")
    gate.resolve()
    await time.tick(0)
    expect(of(corrections, "example.com")).toBe("personal")
  })

  test("a change that comes while all are loaded at the start is not lost", async () => {
    const { corrections, write, facts, outside, time } = await opened()
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const loading = corrections.load()
    await time.tick(0)
    await write("example.com", "personal")
    facts("example.com")
    gate.resolve()
    await loading
    expect(of(corrections, "example.com")).toBe("personal")
  })

  test("a change that comes at the very end of a reading is read too", async () => {
    const { corrections, write, facts, time } = await opened()
    await corrections.load()
    await write("example.com", "relay")
    // One change at each of the first moments after a reading began: one of them is the moment after its last look.
    for (let moment = 0; moment < 40; moment++) {
      const category = moment % 2 ? "relay" : "personal"
      facts("other.com")
      for (let turn = 0; turn < moment; turn++) await Promise.resolve()
      await write("example.com", category)
      facts("example.com")
      await time.tick(0)
      expect(of(corrections, "example.com")).toBe(category)
    }
  })
})

describe("version", () => {
  test("it rises when any correction changes, and only then", async () => {
    const { corrections, write, facts, time } = await opened()
    const seen: number[] = []
    const step = async (change: () => unknown) => {
      await change()
      await time.tick(0)
      seen.push(corrections.version)
    }
    await step(() => corrections.load())
    await step(() => write("a.com", "relay"))
    await step(() => facts("a.com"))
    await step(() => facts("a.com", "b.com"))
    await step(() => corrections.invalidateAll())
    await write("a.com", "personal")
    await step(() => corrections.invalidateAll())
    await write("a.com", "relay")
    await step(() => facts("a.com"))
    await write("a.com", null)
    await step(() => facts("a.com"))
    await write("c.com", "relay")
    await step(() => corrections.invalidateAll())
    await write("c.com", null)
    await step(() => corrections.invalidateAll())
    expect(seen).toEqual([0, 0, 1, 1, 1, 2, 3, 4, 5, 6])
  })
})

describe("a store that fails", () => {
  test("ends the start", async () => {
    const { corrections, outside, time } = await opened()
    outside.isBroken = true
    expect(await outcomeOf(corrections.load())).toThrow("broken")
    expect({ faults: outside.faults, waiting: time.waiting() }).toEqual({ faults: 0, waiting: 0 })
  })

  test.each(["one", "all"])(
    "is told once for each reading of %s, and is asked again after five seconds",
    async what => {
      const { corrections, write, facts, outside, time } = await opened()
      await write("example.com", "relay")
      await corrections.load()
      await write("example.com", "personal")
      outside.isBroken = true
      if (what === "one") facts("example.com")
      else corrections.invalidateAll()
      await time.tick(4_999)
      expect([of(corrections, "example.com"), outside.faults]).toEqual(["relay", 1])
      await time.tick(1)
      expect(outside.faults).toBe(2)
      outside.isBroken = false
      await time.tick(5_000)
      expect([of(corrections, "example.com"), outside.faults]).toEqual(["personal", 2])
      expect(time.waiting()).toBe(0)
    },
  )

  test("is asked again at the next change, whatever it is about", async () => {
    const { corrections, write, facts, outside, time } = await opened()
    await corrections.load()
    await write("example.com", "personal")
    outside.isBroken = true
    facts("example.com")
    await time.tick(0)
    outside.isBroken = false
    corrections.applyChanges([{ kind: "key_revoked", subject: "key_x" }])
    await time.tick(0)
    expect(of(corrections, "example.com")).toBe("personal")
    expect(time.waiting()).toBe(0)
  })

  test("is not asked any more after the end", async () => {
    const { corrections, facts, outside, time } = await opened()
    await corrections.load()
    outside.isBroken = true
    facts("example.com")
    await time.tick(0)
    corrections.stop()
    expect(time.waiting()).toBe(0)
    facts("example.com")
    corrections.invalidateAll()
    await time.tick(10_000)
    expect({ faults: outside.faults, requests: outside.requests, waiting: time.waiting() }).toEqual({
      faults: 1,
      requests: ["all", "one"],
      waiting: 0,
    })
  })

  test("is not asked again when a reading that the end overtook fails", async () => {
    const { corrections, facts, outside, time } = await opened()
    await corrections.load()
    outside.isBroken = true
    facts("example.com")
    corrections.stop()
    await time.tick(10_000)
    expect({ faults: outside.faults, waiting: time.waiting() }).toEqual({ faults: 0, waiting: 0 })
  })
})
