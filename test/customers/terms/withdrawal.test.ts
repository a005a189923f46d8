import { describe, expect } from "bun:test"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { listActsSince } from "../../../src/customers/audit/audit.ts"
import {
  acceptTerms,
  countUnaccepted,
  currentTermsVersion,
  listTerms,
  publishTerms,
  withdrawTerms,
} from "../../../src/customers/terms/terms.ts"
import { TermsCache } from "../../../src/customers/terms/terms-cache.ts"
import { noticeEndsAtMs, notifyNextAccounts } from "../../../src/customers/terms/terms-notices.ts"
import { test } from "../engines.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"

const URL = "https://example.com/terms"

/** Two accounts that owe version 2, which is material; version 1 before it is not. */
async function opened() {
  const log = tempLog(await tempStore())
  const ids = [await newAccount(log, "a@example.com"), await newAccount(log, "b@example.com")]
  const publish = async (version: string, isMaterial: boolean) => {
    log.now += 1000
    const published = await publishTerms(log, { version, url: URL, isMaterial })
    if (published.kind !== "published") throw new Error(published.kind)
    return published.terms
  }
  await publish("1", false)
  const terms = await publish("2", true)
  const mails = () => log.store.all("SELECT subject FROM outbox WHERE notice = 'terms_change'")
  const stateOf = async () => {
    const cache = new TermsCache(log.store, log.clock, () => undefined)
    await cache.load()
    return cache.stateOf({ acceptedTermsVersion: null, acceptedTermsAtMs: null }).kind
  }
  return { log, ids, publish, terms, mails, stateOf }
}

describe("terms that are withdrawn", () => {
  test("are owed by nobody, are not current, and no mail about them that waits is sent", async () => {
    const { log, mails, stateOf } = await opened()
    expect([await countUnaccepted(log.store), await stateOf(), await mails()]).toMatchObject([2, "grace", [{}, {}]])
    // As after a crash before the first account was told.
    await log.store.run("UPDATE terms SET told_up_to = '' WHERE version = '2'")
    expect(await withdrawTerms(log, "2")).toMatchObject({ kind: "withdrawn", isNew: true, notifiedCount: 0 })
    expect([await countUnaccepted(log.store), await stateOf(), await mails()]).toEqual([0, "accepted", []])
    expect(await currentTermsVersion(log.store)).toBe("1")
    expect(await notifyNextAccounts(log.store, log.now)).toBe(false)
    expect(log.received.at(-1)).toEqual({ kind: "terms_published", subject: "2" })
    const acts = await listActsSince(log.store, { sinceMs: 0, accountId: null, kind: "terms_withdrawn" }, null, 9)
    expect(acts).toMatchObject([{ details: "2" }])
  })

  test("are withdrawn once, and how many accounts were mailed about them is known", async () => {
    const { log, ids } = await opened()
    await log.store.run("UPDATE outbox SET ending = 'sent', ended_at_ms = 1 WHERE account_id = $1", [ids[0] ?? ""])
    const first = await withdrawTerms(log, "2")
    log.now += 1000
    expect(first).toMatchObject({ isNew: true, notifiedCount: 1 })
    expect(await withdrawTerms(log, "2")).toEqual({ ...first, isNew: false } as never)
  })

  test("keep their version, which no other terms and not the same ones get again", async () => {
    const { log, publish } = await opened()
    await withdrawTerms(log, "2")
    for (const isMaterial of [true, false])
      expect((await publishTerms(log, { version: "2", url: URL, isMaterial })).kind).toBe("version_taken")
    const next = await publish("3", true)
    const [, withdrawn] = await listTerms(log.store)
    expect(withdrawn).toMatchObject({ version: "2", withdrawnAtMs: expect.any(Number) })
    expect(next.publishedAtMs).toBeGreaterThan(withdrawn?.publishedAtMs ?? Number.NaN)
  })

  test("count as an acceptance of those before them, and not of those after them", async () => {
    const { log, ids, publish } = await opened()
    await publish("3", true)
    await acceptTerms(log, ids[0] ?? "")
    await withdrawTerms(log, "3")
    expect(await countUnaccepted(log.store)).toBe(1)
    await publish("4", true)
    expect(await countUnaccepted(log.store)).toBe(2)
  })
})

describe("terms stay", () => {
  test("from the end of their notice on, and if they are not material", async () => {
    const { log, terms, publish } = await opened()
    log.now = noticeEndsAtMs(terms)
    expect(await withdrawTerms(log, "2")).toMatchObject({ kind: "in_force", terms: { version: "2" } })
    log.now -= 1
    expect((await withdrawTerms(log, "2")).kind).toBe("withdrawn")
    await publish("3", false)
    expect((await withdrawTerms(log, "3")).kind).toBe("in_force")
  })

  test("if others were published after them, and if there are none", async () => {
    const { log, publish, mails } = await opened()
    await publish("3", false)
    expect(await withdrawTerms(log, "2")).toMatchObject({ kind: "superseded", terms: { version: "3" } })
    expect(await withdrawTerms(log, "9")).toEqual({ kind: "unknown_version" })
    expect(await mails()).toHaveLength(2)
  })
})

test("terms are withdrawn while accounts are mailed about them, deleted and accept them: none waits for another for ever, and no mail is left", async () => {
  const { log, ids, mails } = await opened()
  await log.store.run("DELETE FROM outbox")
  await log.store.run("UPDATE terms SET told_up_to = '' WHERE version = '2'")
  await Promise.all([
    notifyNextAccounts(log.store, log.now),
    removeAccount(log, ids[0] ?? ""),
    acceptTerms(log, ids[1] ?? ""),
    withdrawTerms(log, "2"),
    notifyNextAccounts(log.store, log.now),
  ])
  while (await notifyNextAccounts(log.store, log.now));
  expect(await mails()).toEqual([])
})
