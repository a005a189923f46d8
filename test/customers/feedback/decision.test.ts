import { describe, expect, test } from "bun:test"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { CORRECTIONS_MAX } from "../../../src/customers/feedback/correction-cache.ts"
import { decideFeedback, findCorrection } from "../../../src/customers/feedback/decision.ts"
import { findFeedback } from "../../../src/customers/feedback/feedback.ts"
import { latestChangeId, readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"
import { openFeedback, submitReport } from "./open-feedback.ts"

type Harness = Awaited<ReturnType<typeof openFeedback>>

/** How a report comes to each state that it can be in; it says `business`, another one of its domain says `relay`. */
const STATES = {
  "never made": async () => "fb_none",
  received: async ({ report }: Harness) => (await report()).id,
  "accepted, and the domain's correction": async ({ log, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "accepted")
    return id
  },
  "accepted, in place of another accepted one": async ({ log, report }: Harness) => {
    await decideFeedback(log, (await report({ reportedCategory: "relay" })).id, "accepted")
    const { id } = await report()
    await decideFeedback(log, id, "accepted")
    return id
  },
  "accepted, and another one accepted since": async ({ log, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "accepted")
    await decideFeedback(log, (await report({ reportedCategory: "relay" })).id, "accepted")
    return id
  },
  "rejected at once": async ({ log, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "rejected")
    return id
  },
  "rejected after it was accepted": async ({ log, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "accepted")
    await decideFeedback(log, id, "rejected")
    return id
  },
  "rejected, and another one accepted since": async ({ log, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "rejected")
    await decideFeedback(log, (await report({ reportedCategory: "relay" })).id, "accepted")
    return id
  },
  "gone with its account, and the domain's correction": async ({ log, accountId, report }: Harness) => {
    const { id } = await report()
    await decideFeedback(log, id, "accepted")
    await removeAccount(log, accountId)
    return id
  },
  "gone with its account before it was decided": async ({ log, accountId, report }: Harness) => {
    const { id } = await report()
    await removeAccount(log, accountId)
    return id
  },
} as const

const EVENTS = {
  accept: async ({ log }: Harness, id: string) => facts(await decideFeedback(log, id, "accepted")),
  reject: async ({ log }: Harness, id: string) => facts(await decideFeedback(log, id, "rejected")),
  "the same report again": async ({ report }: Harness) => (await report()).status,
} as const

function facts(decision: Awaited<ReturnType<typeof decideFeedback>>): string {
  if (decision.kind !== "decided") return decision.kind
  return `${decision.isNew ? "now" : "already"} ${decision.feedback.status}`
}

/** What is said, the report's status afterwards, its domain's correction, and how many changes others are told of. */
type Expected = readonly [says: string, status: string | null, correction: string | null, changeCount: 0 | 1]

const EXPECTED: { readonly [S in keyof typeof STATES]: { readonly [E in keyof typeof EVENTS]: Expected } } = {
  "never made": {
    accept: ["unknown_feedback", null, null, 0],
    reject: ["unknown_feedback", null, null, 0],
    "the same report again": ["received", null, null, 0],
  },
  received: {
    accept: ["now accepted", "accepted", "business", 1],
    reject: ["now rejected", "rejected", null, 0],
    "the same report again": ["duplicate", "received", null, 0],
  },
  "accepted, and the domain's correction": {
    accept: ["already accepted", "accepted", "business", 0],
    reject: ["now rejected", "rejected", null, 1],
    "the same report again": ["duplicate", "accepted", "business", 0],
  },
  "accepted, in place of another accepted one": {
    accept: ["already accepted", "accepted", "business", 0],
    reject: ["now rejected", "rejected", "relay", 1],
    "the same report again": ["duplicate", "accepted", "business", 0],
  },
  "accepted, and another one accepted since": {
    accept: ["already accepted", "accepted", "relay", 0],
    reject: ["now rejected", "rejected", "relay", 0],
    "the same report again": ["duplicate", "accepted", "relay", 0],
  },
  "rejected at once": {
    accept: ["now accepted", "accepted", "business", 1],
    reject: ["already rejected", "rejected", null, 0],
    "the same report again": ["duplicate", "rejected", null, 0],
  },
  "rejected after it was accepted": {
    accept: ["now accepted", "accepted", "business", 1],
    reject: ["already rejected", "rejected", null, 0],
    "the same report again": ["duplicate", "rejected", null, 0],
  },
  "rejected, and another one accepted since": {
    accept: ["now accepted", "accepted", "business", 1],
    reject: ["already rejected", "rejected", "relay", 0],
    "the same report again": ["duplicate", "rejected", "relay", 0],
  },
  "gone with its account, and the domain's correction": {
    accept: ["unknown_feedback", null, "business", 0],
    reject: ["orphan_taken_back", null, null, 1],
    "the same report again": ["unknown_account", null, "business", 0],
  },
  "gone with its account before it was decided": {
    accept: ["unknown_feedback", null, null, 0],
    reject: ["unknown_feedback", null, null, 0],
    "the same report again": ["unknown_account", null, null, 0],
  },
}

describe("every state and every event", () => {
  const cases = Object.entries(STATES).flatMap(([state, arrive]) =>
    Object.entries(EVENTS).map(([event, happen]) => ({ state, event, arrive, happen })),
  )
  test.each(cases)("a report that is $state: $event", async ({ state, event, arrive, happen }) => {
    const harness = await openFeedback()
    const { store, log, corrections } = harness
    const id = await arrive(harness)
    const before = { report: await findFeedback(store, id), corrections: await corrections() }
    const heardBefore = log.received.length
    const changesBefore = await latestChangeId(store)
    log.now += 1000
    const description = await happen(harness, id).catch((error: Error) => error.message)
    const report = await findFeedback(store, id)
    const [correction] = await corrections()
    const changeCount = (await latestChangeId(store)) - changesBefore
    // The table's keys are those of the two tables above.
    const expected = Object.entries(EXPECTED).flatMap(([of, row]) => (of === state ? Object.entries(row) : []))
    const [, wanted] = expected.find(([on]) => on === event) ?? []
    expect<unknown>([description, report?.status ?? null, correction?.category ?? null, changeCount]).toEqual(wanted)
    const change = { kind: "correction_changed", subject: "example.com" }
    expect(log.received.slice(heardBefore)).toEqual(changeCount === 0 ? [] : [change])
    if (changeCount > 0)
      expect(await readChangesSince(store, changesBefore)).toMatchObject({ changes: [{ ...change, atMs: log.now }] })
    const isDecided = description === "now accepted" || description === "now rejected"
    if (isDecided) expect(report?.decidedAtMs).toBe(log.now)
    else expect(report).toEqual(before.report)
    if (!isDecided && changeCount === 0) expect(await corrections()).toEqual(before.corrections)
  })
})

test("a decision tells the report as it is now and the correction that its domain has", async () => {
  const { log, store, report } = await openFeedback()
  const { id } = await report()
  log.now = 9_000
  const accepted = { ...(await findFeedback(store, id)), status: "accepted", decidedAtMs: 9_000 }
  const decided = { kind: "decided", feedback: accepted, correction: "business" }
  expect<unknown>(await decideFeedback(log, id, "accepted")).toEqual({ ...decided, isNew: true })
  log.now = 10_000
  expect<unknown>(await decideFeedback(log, id, "accepted")).toEqual({ ...decided, isNew: false })
  expect(await decideFeedback(log, id, "rejected")).toMatchObject({ isNew: true, correction: null })
})

test("of several accepted reports the one accepted last rules, and those before it come back one by one", async () => {
  const { log, report, corrections } = await openFeedback()
  const ids: string[] = []
  for (const reportedCategory of ["business", "relay", "education"] as const) {
    log.now += 1
    const { id } = await report({ reportedCategory })
    await decideFeedback(log, id, "accepted")
    ids.unshift(id)
  }
  const ruling: string[] = []
  for (const id of ids) {
    ruling.push((await corrections())[0]?.category ?? "none")
    await decideFeedback(log, id, "rejected")
  }
  expect(ruling).toEqual(["education", "relay", "business"])
  expect(await corrections()).toEqual([])
})

test("an earlier report of another account comes back too, and one whose account is gone does not", async () => {
  const { log, accountId, report, corrections } = await openFeedback()
  const other = await newAccount(log, "other@example.com")
  const first = await submitReport(log, { accountId: other, reportedCategory: "relay" })
  const second = await report()
  await decideFeedback(log, first.id, "accepted")
  await decideFeedback(log, second.id, "accepted")
  await decideFeedback(log, second.id, "rejected")
  expect(await corrections()).toEqual([{ domain: "example.com", category: "relay", feedback_id: first.id }])
  await decideFeedback(log, second.id, "accepted")
  await removeAccount(log, other)
  await decideFeedback(log, second.id, "rejected")
  expect(await corrections()).toEqual([])
  expect(accountId).not.toBe(other)
})

test("a report of a subdomain corrects that subdomain alone", async () => {
  const { log, report, corrections } = await openFeedback()
  const { id } = await report({ domain: "mail.example.com" })
  await decideFeedback(log, (await report()).id, "accepted")
  await decideFeedback(log, id, "accepted")
  await decideFeedback(log, id, "rejected")
  expect(await corrections()).toMatchObject([{ domain: "example.com" }])
})

test("of decisions at one moment, on two connections, one is new, and report and correction agree", async () => {
  const { path, store, log, report, corrections } = await openFeedback()
  const other = tempLog(await tempStore(path))
  const { id } = await report()
  const accepted = await Promise.all([log, other, log, other].map(by => decideFeedback(by, id, "accepted")))
  expect(accepted.filter(decision => decision.kind === "decided" && decision.isNew)).toHaveLength(1)
  await Promise.all([
    decideFeedback(log, id, "rejected"),
    decideFeedback(other, id, "accepted"),
    decideFeedback(other, id, "rejected"),
  ])
  expect((await corrections()).length).toBe((await findFeedback(store, id))?.status === "accepted" ? 1 : 0)
})

test("there are no more corrections than can be kept in memory; a corrected domain can be corrected anew", async () => {
  const { store, log, report } = await openFeedback()
  const first = await report()
  const second = await report({ domain: "other.com" })
  await decideFeedback(log, first.id, "accepted")
  await store.run(
    `WITH RECURSIVE count (at) AS (SELECT 2 UNION ALL SELECT at + 1 FROM count WHERE at < $1)
     INSERT INTO corrections SELECT 'd' || at || '.com', 'personal', 'fb_x', 1 FROM count`,
    [CORRECTIONS_MAX],
  )
  expect(await decideFeedback(log, second.id, "accepted")).toEqual({ kind: "too_many_corrections" })
  expect(await findFeedback(store, second.id)).toMatchObject({ status: "received" })
  expect(await decideFeedback(log, (await report({ reportedCategory: "relay" })).id, "accepted")).toMatchObject({
    isNew: true,
  })
  await store.run("DELETE FROM corrections WHERE domain = 'd2.com'")
  expect(await decideFeedback(log, second.id, "accepted")).toMatchObject({ isNew: true, correction: "business" })
})

test("a decision that goes by what was seen is taken only while that is so, and repeats what is so already", async () => {
  const { store, log, report } = await openFeedback()
  const { id } = await report()
  expect(await decideFeedback(log, id, "rejected", "accepted")).toMatchObject({ kind: "decided_meanwhile" })
  expect(await decideFeedback(log, id, "accepted", "received")).toMatchObject({ kind: "decided", isNew: true })
  expect(await decideFeedback(log, id, "accepted", "received")).toMatchObject({ kind: "decided", isNew: false })
  const late = await decideFeedback(log, id, "rejected", "received")
  expect(late).toMatchObject({ kind: "decided_meanwhile", feedback: { id, status: "accepted" } })
  expect(await findCorrection(store, "example.com")).toEqual({ category: "business", feedbackId: id })
  expect(await decideFeedback(log, id, "rejected", "accepted")).toMatchObject({ kind: "decided", isNew: true })
  expect(await findCorrection(store, "example.com")).toBeNull()
  expect(await decideFeedback(log, "fb_none", "accepted", "received")).toEqual({ kind: "unknown_feedback" })
})

test("of decisions at one moment that go by the same sight, one is taken", async () => {
  const { log, report } = await openFeedback()
  const { id } = await report()
  const decisions = await Promise.all([
    decideFeedback(log, id, "accepted", "received"),
    decideFeedback(log, id, "rejected", "received"),
  ])
  expect(decisions.map(({ kind }) => kind).sort()).toEqual(["decided", "decided_meanwhile"])
})
