import { describe, expect, test } from "bun:test"
import { exportAccount } from "../../../src/customers/accounts/account-export.ts"
import {
  createAccount,
  findAccount,
  findAccountByEmail,
  removeAccount,
  searchAccounts,
  setTier,
} from "../../../src/customers/accounts/accounts.ts"
import { changeOperatorNote, noteFingerprint, readOperatorNote } from "../../../src/customers/accounts/operator-note.ts"
import {
  countSuspended,
  pruneFormerSuspensions,
  resumeAccount,
  suspendAccount,
} from "../../../src/customers/accounts/suspension.ts"
import {
  ALL_ACTS,
  type AuditAct,
  listActsAbout,
  listOperatorActs,
  pruneActs,
  recordAct,
} from "../../../src/customers/audit/audit.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../src/customers/keys/key-authenticator.ts"
import { createKey } from "../../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { trustedAt } from "../../support/clock.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000

async function opened() {
  const store = await tempStore()
  const log = tempLog(store)
  const adminId = await newAccount(log, "admin@example.com")
  const id = await newAccount(log, "jane@example.com")
  await store.run("DELETE FROM admin_acts")
  const byAdmin: AttributedLog = { ...log, actor: { kind: "admin", id: adminId, source: "admin_pages", keyId: null } }
  const adminActs = () => listOperatorActs(store, ALL_ACTS, null, 100)
  const acts = async () => (await adminActs()).map(({ kind, details }) => `${kind} ${details}`.trim())
  const record = (act: AuditAct) => recordAct({ ...byAdmin, clock: log.clock }, store, act)
  const mails = async () =>
    (await store.all<{ notice: string }>("SELECT notice FROM outbox WHERE account_id = $1 ORDER BY 1", [id])).map(
      ({ notice }) => notice,
    )
  return { store, log, byAdmin, adminId, id, record, adminActs, acts, mails }
}

describe("a suspension", () => {
  test("is of the account, is told to its owner and to all processes, and ends with a resumption", async () => {
    const { store, log, byAdmin, id, acts, mails } = await opened()
    expect(await suspendAccount(byAdmin, id, "Abuse.")).toEqual({ kind: "changed", isNew: true })
    expect(await findAccount(store, id)).toMatchObject({ suspendedAtMs: 5_000, suspensionReason: "Abuse." })
    expect(await countSuspended(store)).toBe(1)
    expect(log.received).toEqual([{ kind: "account_changed", subject: id }])
    log.now = 6_000
    expect(await resumeAccount(byAdmin, id)).toEqual({ kind: "changed", isNew: true })
    expect(await findAccount(store, id)).not.toHaveProperty("suspendedAtMs")
    expect(await mails()).toEqual(["account_resumed", "account_suspended"])
    expect((await acts()).toSorted()).toEqual(["account_resumed", "account_suspended"])
  })

  test("by two administrators at once is one suspension, one mail and one act", async () => {
    const { byAdmin, id, acts, mails } = await opened()
    const changes = await Promise.all(["a", "b"].map(reason => suspendAccount(byAdmin, id, reason)))
    expect(changes.filter(change => change.kind === "changed" && change.isNew)).toHaveLength(1)
    expect([await mails(), await acts()]).toEqual([["account_suspended"], ["account_suspended"]])
    await Promise.all([resumeAccount(byAdmin, id), resumeAccount(byAdmin, id)])
    expect((await acts()).filter(act => act === "account_resumed")).toHaveLength(1)
  })

  test("of an unknown account, and with a reason that is too long, changes nothing", async () => {
    const { store, byAdmin, id, acts } = await opened()
    expect(await suspendAccount(byAdmin, "acc_none", "")).toEqual({ kind: "unknown_account" })
    expect(await resumeAccount(byAdmin, "acc_none")).toEqual({ kind: "unknown_account" })
    expect(await suspendAccount(byAdmin, id, "x".repeat(501))).toEqual({ kind: "bad_reason" })
    expect(await suspendAccount(byAdmin, id, "😀".repeat(500))).toMatchObject({ isNew: true })
    expect(await countSuspended(store)).toBe(1)
    expect(await acts()).toEqual(["account_suspended"])
  })

  test("is read with each key, and a cached key follows the change", async () => {
    const { store, byAdmin, log, id } = await opened()
    const made = await createKey(log, random, { accountId: id, kind: "secret", name: null, origins: [] })
    if (made.kind !== "created") throw new Error(made.kind)
    const keys = new KeyAuthenticator(
      store,
      () => 5_000,
      () => 0,
      KEY_AUTHENTICATOR_BOUNDS,
    )
    const heard = { ...log, notify: keys.applyChanges.bind(keys) }
    expect(await keys.lookup(made.text)).not.toHaveProperty("account.suspendedAtMs")
    await suspendAccount({ ...byAdmin, notify: heard.notify }, id, "")
    expect(await keys.lookup(made.text)).toHaveProperty("account.suspendedAtMs", 5_000)
    await resumeAccount({ ...byAdmin, notify: heard.notify }, id)
    expect(await keys.lookup(made.text)).not.toHaveProperty("account.suspendedAtMs")
  })

  test("does not end when the account is deleted and created again, for a year", async () => {
    const { store, log, byAdmin, id } = await opened()
    await suspendAccount(byAdmin, id, "Abuse.")
    await removeAccount(log, id)
    const kept = await store.all<Record<string, unknown>>("SELECT * FROM former_suspensions")
    expect(JSON.stringify(kept)).not.toContain("jane")
    const again = await createAccount(log, random, { email: "JANE@example.com", tier: 0, termsVersion: null })
    expect(again).toMatchObject({ kind: "created", account: { suspendedAtMs: 5_000, suspensionReason: "" } })
    expect(await findAccountByEmail(store, "jane@example.com")).toMatchObject({ suspendedAtMs: 5_000 })
    if (again.kind === "created") await removeAccount(log, again.account.id)
    expect(await pruneFormerSuspensions(store, trustedAt(5_000 + 365 * DAY_MS))).toBe(0)
    expect(await pruneFormerSuspensions(store, trustedAt(5_001 + 365 * DAY_MS))).toBe(1)
    const later = await createAccount(log, random, { email: "jane@example.com", tier: 0, termsVersion: null })
    expect(later.kind === "created" && later.account).not.toHaveProperty("suspendedAtMs")
  })

  test("that ended is not kept when the account is deleted", async () => {
    const { store, log, byAdmin, id } = await opened()
    await suspendAccount(byAdmin, id, "")
    await resumeAccount(byAdmin, id)
    await removeAccount(log, id)
    expect(await store.all("SELECT * FROM former_suspensions")).toEqual([])
  })
})

describe("the log of acts", () => {
  test("names who, what, about whom and when, and names a deleted account by its id alone", async () => {
    const { store, byAdmin, adminId, id, adminActs } = await opened()
    await setTier(byAdmin, id, 2)
    await setTier(byAdmin, id, 2)
    const [act, ...others] = await listActsAbout(store, id, 10)
    expect(others).toEqual([])
    expect(act).toMatchObject({
      kind: "tier_set",
      details: "0 → 2",
      actorId: adminId,
      actorKind: "admin",
      accountId: id,
      atMs: 5_000,
    })
    expect(act).toMatchObject({ actorEmail: "admin@example.com", accountEmail: "jane@example.com" })
    await removeAccount(byAdmin, id)
    const acts = await adminActs()
    expect(acts.map(({ kind }) => kind).toSorted()).toEqual(["account_deleted", "tier_set"])
    for (const { accountId, accountEmail } of acts)
      expect({ accountId, accountEmail }).toEqual({ accountId: id, accountEmail: null })
    expect(JSON.stringify(await store.all("SELECT * FROM admin_acts"))).not.toContain("@")
  })

  test("goes on from page to page, the latest first, and each act once", async () => {
    const { store, log, id, record } = await opened()
    for (let at = 0; at < 25; at++) {
      log.now = 5_000 + Math.floor(at / 4)
      await record({ kind: "note_changed", accountId: id, details: `${at}` })
    }
    const seen: { readonly id: string; readonly atMs: number }[] = []
    for (;;) {
      const page = await listOperatorActs(store, ALL_ACTS, seen.at(-1) ?? null, 10)
      seen.push(...page)
      if (page.length < 10) break
    }
    expect(new Set(seen.map(act => act.id)).size).toBe(25)
    expect(seen.map(({ atMs }) => atMs)).toEqual(seen.map(({ atMs }) => atMs).toSorted((one, other) => other - one))
  })

  test("keeps 400 days, and no more than its bound", async () => {
    const { store, log, record, adminActs } = await opened()
    for (const at of [0, 1, 2, 3]) {
      log.now = 5_000 + at
      await record({ kind: "terms_published", accountId: null, details: `${at}` })
    }
    expect(await pruneActs(store, trustedAt(5_001 + 400 * DAY_MS), 1000)).toBe(1)
    expect(await pruneActs(store, trustedAt(5_001 + 400 * DAY_MS), 1000, 2)).toBe(1)
    expect((await adminActs()).map(({ details }) => details)).toEqual(["3", "2"])
  })

  test("is not written when the change that it tells is rolled back", async () => {
    const { store, byAdmin, id, acts } = await opened()
    const actor = { ...byAdmin.actor, id: null as unknown as string }
    expect(await suspendAccount({ ...byAdmin, actor }, id, "").catch(() => "failed")).toBe("failed")
    expect([await countSuspended(store), await acts()]).toEqual([0, []])
  })
})

describe("a note", () => {
  test("is kept, and is not lost to another administrator's", async () => {
    const { store, byAdmin, id, acts } = await opened()
    const seen = noteFingerprint("")
    const save = (note: string) => changeOperatorNote(byAdmin, id, { note, seen })
    const results = await Promise.all([save("one"), save("other")])
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["changed", "changed_meanwhile"])
    expect(["one", "other"]).toContain(await readOperatorNote(store, id))
    expect(await acts()).toEqual(["note_changed"])
    expect(await save(await readOperatorNote(store, id))).toEqual({ kind: "changed" })
    expect(await save("x".repeat(2001))).toEqual({ kind: "too_long" })
    expect(await changeOperatorNote(byAdmin, "acc_none", { note: "", seen })).toEqual({
      kind: "unknown_account",
    })
  })

  test("and a suspension are in the export of the account, with what administrators did", async () => {
    const { store, byAdmin, adminId, id } = await opened()
    await suspendAccount(byAdmin, id, "Abuse.")
    await changeOperatorNote(byAdmin, id, { note: "Wrote to them.", seen: noteFingerprint("") })
    const exported = async (accountId: string) => {
      let text = ""
      for await (const part of exportAccount(store, 1_000, accountId)) text += part
      return JSON.parse(text)
    }
    const { account, admin_acts: acts } = await exported(id)
    expect(account).toMatchObject({ suspension_reason: "Abuse.", operator_note: "Wrote to them." })
    expect(acts).toHaveLength(2)
    expect(JSON.stringify(acts)).not.toContain(adminId)
    expect((await exported(adminId)).admin_acts).toHaveLength(2)
  })
})

describe("a search", () => {
  test.each([
    ["jane", ["jane@example.com"]],
    ["example.com", ["admin@example.com", "jane@example.com"]],
    ["@xample.com", []],
    ["e%.com", []],
    ["@example_com", []],
  ])("finds by the beginning of an email and by a whole domain: %p", async (text, emails) => {
    const { store } = await opened()
    const found = await searchAccounts(store, { text, after: null, countMax: 10, nowMs: 0 })
    expect(found.map(({ email }) => email).sort()).toEqual(emails)
  })

  test("finds by the last four characters of a key, and counts all of its keys", async () => {
    const { store, log, id } = await opened()
    const make = () => createKey(log, random, { accountId: id, kind: "secret", name: null, origins: [] })
    const [made] = [await make(), await make()]
    if (made.kind !== "created") throw new Error(made.kind)
    const search = { text: made.key.last4, after: null, countMax: 10, nowMs: 0 }
    expect(await searchAccounts(store, search)).toMatchObject([{ email: "jane@example.com", activeKeyCount: 2 }])
  })
})
