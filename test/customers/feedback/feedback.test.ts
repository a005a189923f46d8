import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { LIMITS } from "../../../src/contract/limits.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { decideFeedback } from "../../../src/customers/feedback/decision.ts"
import {
  countFeedback,
  FEEDBACK_STATUSES,
  findFeedback,
  listFeedback,
  readOtherReports,
} from "../../../src/customers/feedback/feedback.ts"
import { latestChangeId } from "../../../src/customers/store/change-log/change-log.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { newAccount, tempLog, tempStore, writtenAt } from "../temp-store.ts"
import { openFeedback, submitReport } from "./open-feedback.ts"

setDefaultTimeout(300_000)

const DUPLICATE_MS = LIMITS.feedbackDuplicateDays * 24 * 60 * 60 * 1000

const everything = { status: null, after: null, countMax: 1000 } as const

test("a report is kept as it was sent, and its receipt says so", async () => {
  const { store, accountId, report } = await openFeedback()
  const sent = {
    roleWord: "support",
    currentCategory: "personal",
    reportedCategory: "relay",
    comment: "it is",
  } as const
  const receipt = await report(sent)
  expect(receipt).toEqual({
    id: expect.stringMatching(/^fb_[0-9A-Za-z]{20}$/),
    status: "received",
    domain: "example.com",
    currentCategory: "personal",
    reportedCategory: "relay",
  })
  expect(await findFeedback(store, receipt.id)).toEqual({
    id: receipt.id,
    accountId,
    domain: "example.com",
    ...sent,
    status: "received",
    createdAtMs: 5_000,
    decidedAtMs: null,
  })
  expect(await findFeedback(store, "fb_x")).toBeNull()
  expect(await latestChangeId(store)).toBe(0)
})

test("the same report again gives the first one's id and what a check says now, and writes nothing", async () => {
  const { store, report } = await openFeedback()
  const first = await report({ comment: "one" })
  const again = await report({ comment: "two", currentCategory: "personal", roleWord: "sales" })
  expect(again).toEqual({ ...first, status: "duplicate", currentCategory: "personal" })
  expect(await listFeedback(store, everything)).toMatchObject([{ comment: "one", roleWord: null }])
})

test("another account, domain or category makes another report", async () => {
  const { store, log, report } = await openFeedback()
  const other = await newAccount(log, "other@example.com")
  await report()
  for (const wanted of [
    { accountId: other },
    { domain: "www.example.com" },
    { reportedCategory: "disposable" },
  ] as const)
    expect(await report(wanted)).toMatchObject({ status: "received" })
  expect(await listFeedback(store, everything)).toHaveLength(4)
})

test("a report is a duplicate for 30 days to the millisecond, counted from the first one", async () => {
  const { log, report } = await openFeedback()
  const { id } = await report()
  for (const ageMs of [1, DUPLICATE_MS - 1]) {
    log.now = 5_000 + ageMs
    expect(await report()).toMatchObject({ id, status: "duplicate" })
  }
  log.now = 5_000 + DUPLICATE_MS
  const next = await report()
  expect(next.status).toBe("received")
  expect(next.id).not.toBe(id)
  log.now += DUPLICATE_MS - 1
  expect(await report()).toMatchObject({ id: next.id, status: "duplicate" })
  log.now += 2
  expect(await report()).toMatchObject({ status: "received" })
})

test("a report is a duplicate even when the clock went back since", async () => {
  const { log, report } = await openFeedback()
  const { id } = await report()
  log.now = 10
  expect(await report()).toMatchObject({ id, status: "duplicate" })
})

test("what became of the first report does not matter", async () => {
  const { log, report } = await openFeedback()
  const { id } = await report()
  await decideFeedback(log, id, "accepted")
  expect(await report()).toMatchObject({ id, status: "duplicate" })
  await decideFeedback(log, id, "rejected")
  expect(await report()).toMatchObject({ id, status: "duplicate" })
})

test("an account that is gone reports nothing, and its reports went with it", async () => {
  const { store, log, accountId, report } = await openFeedback()
  const { id } = await report()
  await removeAccount(log, accountId)
  expect(await outcomeOf(report())).toThrow("unknown_account")
  expect(await findFeedback(store, id)).toBeNull()
})

test("of the same reports at one moment, on two connections, one is kept and all receipts name it", async () => {
  const { path, store, log, accountId } = await openFeedback()
  const other = tempLog(await tempStore(path))
  const receipts = await Promise.all(
    Array.from({ length: 20 }, (_, at) => submitReport(at % 2 ? log : other, { accountId })),
  )
  expect(receipts.filter(({ status }) => status === "received")).toHaveLength(1)
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(1)
  expect(await listFeedback(store, everything)).toHaveLength(1)
})

test("of the same reports by processes at one moment one is kept, and none that was acknowledged dies with its process", async () => {
  const { path, store, accountId } = await openFeedback()
  const count = 50
  const printed = await runReporters(3, path, accountId, String(count))
  const received = printed.flat().filter(line => line.startsWith("received "))
  expect(printed.map(lines => lines.length)).toEqual([count, count, count])
  expect(received).toHaveLength(count)
  expect(new Set(printed.flat().map(line => line.split(" ")[1])).size).toBe(count)
  const kept = (await listFeedback(store, everything)).map(({ id }) => `received ${id}`)
  expect(kept.sort()).toEqual(received.sort())
})

test("no part of an address that a comment holds reaches the disk", async () => {
  const { path, store, report } = await openFeedback()
  const comment = `I am "zaphod beeblebrox"@example.com, or trillian.astra@example.com`
  const { id } = await report({ comment })
  expect((await findFeedback(store, id))?.comment).toBe("I am …@example.com, or …@example.com")
  const written = writtenAt(path)
  expect(written).toContain(id)
  for (const part of ["zaphod", "beeblebrox", "trillian", "astra"]) expect(written.toLowerCase()).not.toContain(part)
})

test("reports are listed by status, the newest first, page by page", async () => {
  const { store, log, report } = await openFeedback()
  const ids: string[] = []
  // Two of a moment each: pages part them without losing one.
  for (const now of [1, 1, 2, 2, 3]) {
    log.now = now
    ids.push((await report({ domain: `d${ids.length}.com` })).id)
  }
  const [first = "", second = ""] = ids
  await decideFeedback(log, first, "accepted")
  await decideFeedback(log, second, "rejected")
  const pages: string[] = []
  for (let after: { id: string; createdAtMs: number } | null = null; ; ) {
    const page = await listFeedback(store, { status: null, after, countMax: 2 })
    pages.push(...page.map(({ id }) => id))
    const last = page.at(-1)
    if (last === undefined) break
    after = last
  }
  const newestFirst = [ids.slice(4), ids.slice(2, 4).sort().reverse(), ids.slice(0, 2).sort().reverse()].flat()
  expect(pages).toEqual(newestFirst)
  const byStatus = await Promise.all(
    FEEDBACK_STATUSES.map(status => listFeedback(store, { status, after: null, countMax: 10 })),
  )
  expect(byStatus.map(page => page.map(({ id }) => id))).toEqual([newestFirst.slice(0, 3), [first], [second]])
  const [newest] = await listFeedback(store, { ...everything, countMax: 1 })
  expect(newest?.id).toBe(ids[4])
  expect(
    (await listFeedback(store, { status: "received", after: newest ?? null, countMax: 10 })).map(({ id }) => id),
  ).toEqual(newestFirst.slice(1, 3))
})

/** Starts `reporting-child.ts` in `count` processes, lets them go at the same moment, and gives the lines of each. */
async function runReporters(count: number, ...words: string[]): Promise<string[][]> {
  const children = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, join(import.meta.dir, "reporting-child.ts"), ...words], {
      stdin: "pipe",
      stderr: "inherit",
    }),
  )
  const outputs = children.map(child => child.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]())
  for (const output of outputs) expect((await output.next()).value).toStartWith("ready")
  for (const child of children) {
    child.stdin.write("go\n")
    await child.stdin.end()
  }
  return await Promise.all(
    outputs.map(async output => {
      let text = ""
      for (let part = await output.next(); !part.done; part = await output.next()) text += part.value
      return text.trim().split("\n")
    }),
  )
}

test("reports are counted by their status", async () => {
  const { store, log, report } = await openFeedback()
  const [first] = [await report(), await report({ domain: "b.com" }), await report({ domain: "c.com" })]
  await decideFeedback(log, first?.id ?? "", "accepted")
  const counts = await Promise.all(FEEDBACK_STATUSES.map(status => countFeedback(store, status)))
  expect(counts).toEqual([2, 1, 0])
})

test("what other accounts report of a domain is counted by account, and not what the account itself does", async () => {
  const { store, log, accountId, report } = await openFeedback()
  const others = [await newAccount(log, "b@example.com"), await newAccount(log, "c@example.com")]
  await report()
  await report({ reportedCategory: "personal" })
  expect(await readOtherReports(store, { accountId, domain: "example.com" })).toEqual([])
  for (const id of others) {
    await report({ accountId: id })
    await report({ accountId: id, domain: "sub.example.com" })
    log.now += LIMITS.feedbackDuplicateDays * 86_400_000
    await report({ accountId: id })
  }
  await report({ accountId: others[0] ?? "", reportedCategory: "relay" })
  expect(await readOtherReports(store, { accountId, domain: "example.com" })).toEqual([
    { category: "business", accountCount: 2 },
    { category: "relay", accountCount: 1 },
  ])
})
