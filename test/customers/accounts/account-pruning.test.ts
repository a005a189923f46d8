import { expect } from "bun:test"
import { createAccountPruning } from "../../../src/customers/accounts/account-pruning.ts"
import { decideFeedback, findCorrection } from "../../../src/customers/feedback/decision.ts"
import { findFeedback, pruneReportsOf, recordFeedback } from "../../../src/customers/feedback/feedback.ts"
import { createKey, findKey, pruneKeysOf, revokeKey } from "../../../src/customers/keys/keys.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000

async function opened() {
  const store = await tempStore()
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const newKey = async (): Promise<string> => {
    const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (made.kind !== "created") throw new Error(made.kind)
    return made.key.id
  }
  return { store, log, accountId, newKey }
}

test("a key is deleted with its units 400 days after it was revoked or has expired, and a usable one never", async () => {
  const { store, log, newKey } = await opened()
  const [usable, revoked, expired] = [await newKey(), await newKey(), await newKey()]
  const endedAtMs = log.clock()
  await revokeKey(log, revoked, "owner")
  await store.run("UPDATE keys SET expires_at_ms = $2 WHERE id = $1", [expired, endedAtMs])
  for (const id of [usable, revoked, expired])
    await store.run("INSERT INTO units (subject, day, leased) VALUES ($1, 1, 1)", [id])
  const prune = (atMs: number) => createAccountPruning(store, [pruneKeysOf])(trustedAt(atMs))
  const kept = async () => {
    const found = await Promise.all([usable, revoked, expired].map(id => findKey(store, id)))
    const units = await store.all<{ subject: string }>("SELECT subject FROM units WHERE subject LIKE 'key%'")
    return { keys: found.map(key => key !== null), units: units.length }
  }
  await prune(endedAtMs + 400 * DAY_MS)
  expect(await kept()).toEqual({ keys: [true, true, true], units: 3 })
  expect(await prune(endedAtMs + 400 * DAY_MS + 1)).toBe(2)
  expect(await kept()).toEqual({ keys: [true, false, false], units: 1 })
})

test("a report is deleted after 400 days, and what it has corrected stays and can be taken back", async () => {
  const { store, log, accountId } = await opened()
  const report = { accountId, domain: "firm.com", roleWord: null, comment: null } as const
  const made = await recordFeedback(log, random, {
    ...report,
    currentCategory: "unknown",
    reportedCategory: "business",
  })
  if (made.kind !== "reported") throw new Error(made.kind)
  const { id } = made.receipt
  await decideFeedback(log, id, "accepted")
  const prune = (atMs: number) => createAccountPruning(store, [pruneReportsOf])(trustedAt(atMs))
  expect(await prune(log.clock() + 400 * DAY_MS)).toBe(0)
  expect(await prune(log.clock() + 400 * DAY_MS + 1)).toBe(1)
  expect(await findFeedback(store, id)).toBeNull()
  expect(await findCorrection(store, "firm.com")).toMatchObject({ category: "business" })
  expect(await decideFeedback(log, id, "rejected")).toMatchObject({ kind: "orphan_taken_back" })
})
