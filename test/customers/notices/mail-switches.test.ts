import { describe, expect, test } from "bun:test"
import { setWantedNotices } from "../../../src/customers/accounts/mail-switches.ts"
import { decideFeedback } from "../../../src/customers/feedback/decision.ts"
import { NOTICE_KINDS, NOTICES } from "../../../src/customers/notices/notices.ts"
import { claimMails, enqueueNotice } from "../../../src/customers/notices/outbox.ts"
import { openFeedback } from "../feedback/open-feedback.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"
import { GOLDEN_NOTICES } from "./golden-notices.ts"

/** An account, and how each kind of mail is added to its outbox. */
async function opened() {
  const store = await tempStore()
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const enqueue = (kind: (typeof NOTICE_KINDS)[number], subject = "one") =>
    store.transaction(inner => enqueueNotice(inner, 1, { ...GOLDEN_NOTICES[kind], accountId, subject }))
  const wants = (...wanted: readonly string[]) => setWantedNotices(log, accountId, wanted)
  return { store, log, accountId, enqueue, wants }
}

const isOptional = (kind: (typeof NOTICE_KINDS)[number]): boolean => NOTICES[kind].isOptional

describe("a mail that is switched off", () => {
  test("is not added, and every mail that cannot be switched off is", async () => {
    const { enqueue, wants } = await opened()
    expect(await wants()).toBe(true)
    for (const kind of NOTICE_KINDS) expect([kind, await enqueue(kind)]).toEqual([kind, !isOptional(kind)])
    await wants(...NOTICE_KINDS)
    for (const kind of NOTICE_KINDS) expect([kind, await enqueue(kind, "two")]).toEqual([kind, true])
  })

  test("and waits is taken out, but for one that a process is sending", async () => {
    const { store, enqueue, wants } = await opened()
    await enqueue("units_80", "sending")
    expect(await claimMails(store, "sender", 1, 10)).toHaveLength(1)
    await enqueue("units_80", "waiting")
    await enqueue("key_created")
    await wants("units_100")
    const rows = await store.all<{ notice: string; subject: string }>(
      "SELECT notice, subject FROM outbox ORDER BY notice",
    )
    expect(rows.map(({ notice, subject }) => `${notice} ${subject}`)).toEqual(["key_created one", "units_80 sending"])
  })

  test("is never one that protects the account, whatever a row says", async () => {
    const { store, accountId, enqueue } = await opened()
    await store.run("INSERT INTO muted_notices (account_id, notice, muted_at_ms) VALUES ($1, 'key_leaked', 1)", [
      accountId,
    ])
    expect(await enqueue("key_leaked")).toBe(true)
  })

  test("is that of a known account alone", async () => {
    const { log } = await opened()
    expect(await setWantedNotices(log, "acc_nobody", [])).toBe(false)
  })
})

describe("a report that is decided", () => {
  const mailsOf = async ({ store }: Awaited<ReturnType<typeof openFeedback>>) =>
    (
      await store.all<{ subject: string; particulars: string }>(
        "SELECT subject, particulars FROM outbox WHERE notice = 'report_decided' ORDER BY subject",
      )
    ).map(({ subject, particulars }) => [subject, JSON.parse(particulars)])

  test("is told to who reported it, once for each decision, without the comment", async () => {
    const harness = await openFeedback()
    const { id } = await harness.report({ comment: "They write from jane" })
    await decideFeedback(harness.log, id, "accepted")
    await decideFeedback(harness.log, id, "accepted")
    const facts = { domain: "example.com", reportedCategory: "business" }
    expect(await mailsOf(harness)).toEqual([[`${id} accepted`, { ...facts, isAccepted: true }]])
    await decideFeedback(harness.log, id, "rejected")
    await decideFeedback(harness.log, id, "rejected")
    expect(await mailsOf(harness)).toEqual([
      [`${id} accepted`, { ...facts, isAccepted: true }],
      [`${id} rejected`, { ...facts, isAccepted: false }],
    ])
  })
})
