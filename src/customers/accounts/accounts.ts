import { domainToALabels } from "../../base/idna.ts"
import type { Random } from "../../base/outside-world.ts"
import type { AccountRules } from "../../contract/account-rules.ts"
import { TIER_MAX } from "../../contract/tiers.ts"
import { recordAct } from "../audit/audit.ts"
import { mailableSql } from "../notices/mailer.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { recordChanges } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import { likeText } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import { accountEmailHash, normalizeAccountEmail } from "./account-email.ts"
import { parseStoredRules } from "./account-rules.ts"
import { keepFormerUse, takeFormerUse } from "./former-use.ts"
import { keepFormerSuspension, takeFormerSuspension } from "./suspension.ts"

/** An account. Keys belong to it. */
export type Account = {
  readonly id: string
  /** As returned by `normalizeAccountEmail`. */
  readonly email: string
  readonly tier: number
  readonly createdAtMs: number
  /** The terms accepted last; null when none had been published then. */
  readonly acceptedTermsVersion: string | null
  /** Null: no terms were accepted for this account. */
  readonly acceptedTermsAtMs: number | null
  /** Since when its keys are refused. Absent: it is not suspended. */
  readonly suspendedAtMs?: number
  /** What an administrator told the owner about that; empty: nothing. Absent: it is not suspended. */
  readonly suspensionReason?: string
  /** Absent: it has none. */
  readonly rules?: AccountRules
}

/** An account with its counts of keys. */
export type AccountSummary = Account & {
  readonly activeKeyCount: number
  readonly revokedKeyCount: number
  /** When a key of it was last used. Null: never. */
  readonly lastUsedAtMs: number | null
}

/** The input for a new account. */
export type NewAccount = {
  readonly email: string
  readonly tier: number
  /** The version of the terms that count as accepted from the start; null when none are published. */
  readonly termsVersion: string | null
}

/** Why an account was not created. */
export type AccountCreationRefusal =
  | { readonly kind: "malformed_email" }
  | { readonly kind: "email_taken" }
  | { readonly kind: "unknown_tier" }

/** A new account, or why there is none. */
export type AccountCreation = { readonly kind: "created"; readonly account: Account } | AccountCreationRefusal

/**
 * Creates an account; the current terms count as accepted now. An invitation of its email ends. What a deleted account with this email
 * used today is used of its day, and if it was suspended, so is the new one.
 */
export async function createAccount(log: AttributedLog, random: Random, account: NewAccount): Promise<AccountCreation> {
  return await log.store.transaction(async store => {
    const creation = await insertAccount(store, newId("acc", random), log.clock(), account)
    if (creation.kind === "created")
      await recordAct(log, store, { kind: "account_created", accountId: creation.account.id, details: "" })
    return creation
  })
}

/** Does the same as `createAccount` within the transaction of `store`. */
export async function insertAccount(
  store: Store,
  id: string,
  nowMs: number,
  { email, tier, termsVersion }: NewAccount,
): Promise<AccountCreation> {
  const written = normalizeAccountEmail(email)
  if (written === null) return { kind: "malformed_email" }
  if (!isTier(tier)) return { kind: "unknown_tier" }
  const row = await store.one<AccountRow>(
    `INSERT INTO accounts (id, email, tier, created_at_ms, accepted_terms_version, accepted_terms_at_ms)
     VALUES ($1, $2, $3, $4, $5, $4) ON CONFLICT (email) DO NOTHING RETURNING *`,
    [id, written, tier, nowMs, termsVersion],
  )
  if (row === null) return { kind: "email_taken" }
  await store.run("DELETE FROM invitations WHERE email_hash = $1", [accountEmailHash(written)])
  await takeFormerUse(store, id, written)
  const suspendedAtMs = await takeFormerSuspension(store, written)
  if (suspendedAtMs === null) return { kind: "created", account: toAccount(row) }
  const suspension = { suspended_at_ms: suspendedAtMs, suspension_reason: "" }
  await store.run("UPDATE accounts SET suspended_at_ms = $2, suspension_reason = '' WHERE id = $1", [id, suspendedAtMs])
  return { kind: "created", account: toAccount({ ...row, ...suspension }) }
}

/** The account with this id, or null. */
export async function findAccount(store: Store, id: string): Promise<Account | null> {
  const row = await store.one<AccountRow>("SELECT * FROM accounts WHERE id = $1", [id])
  return row && toAccount(row)
}

/** The account with this email in any spelling; null when there is none or the text is no email. */
export async function findAccountByEmail(store: Store, email: string): Promise<Account | null> {
  const row = await store.one<AccountRow>("SELECT * FROM accounts WHERE email = $1", [normalizeAccountEmail(email)])
  return row && toAccount(row)
}

/** The account with its counts of keys, or null. */
export async function summarizeAccount(store: Store, id: string, nowMs: number): Promise<AccountSummary | null> {
  const row = await store.one<AccountSummaryRow>(`${selectSummary("$2")} WHERE accounts.id = $1 GROUP BY accounts.id`, [
    id,
    nowMs,
  ])
  return row && toAccountSummary(row)
}

/** A page of accounts, which fit the text and have the state, the tier and the time of creation. */
export type AccountSearch = {
  /** The beginning of an email, a domain with or without its `@`, or the last four characters of a key. Empty: any account. */
  readonly text: string
  /** Created from this instant on, and before that one. Absent: at any time. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Absent: any. */
  readonly state?: AccountState | undefined
  /** Absent: any. */
  readonly tier?: number | undefined
  /** The last account of the previous page; null: the first page. */
  readonly after: Pick<Account, "id" | "createdAtMs"> | null
  readonly countMax: number
  /** The instant at which keys are counted as active. */
  readonly nowMs: number
}

/** Whether the keys of an account are refused, as a condition for its row. */
export const ACCOUNT_STATES = { active: "suspended_at_ms IS NULL", suspended: "suspended_at_ms IS NOT NULL" } as const
export type AccountState = keyof typeof ACCOUNT_STATES

/** The state of an account that was read. */
export const accountState = ({ suspendedAtMs }: Pick<Account, "suspendedAtMs">): AccountState =>
  suspendedAtMs === undefined ? "active" : "suspended"

/** The accounts of a page, the newest first. */
export async function searchAccounts(store: Store, search: AccountSearch): Promise<AccountSummary[]> {
  const { text, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, state, tier = ANY_TIER, after, countMax, nowMs } = search
  const { emailPrefix, domain, keyLast4 } = parseSearchText(text)
  // U+10FFFF sorts after every character that can follow the prefix. Keys are counted for the accounts of the page only.
  const rows = await store.all<AccountSummaryRow>(
    `${selectSummary("$11")} WHERE accounts.id IN (SELECT id FROM accounts WHERE (created_at_ms, id) < ($1, $2)
       AND ((email >= $3 AND email < $4) OR email LIKE $5 ESCAPE '\\' OR id IN (SELECT account_id FROM keys WHERE last4 = $6))
       AND ($7 = ${ANY_TIER} OR tier = $7) AND created_at_ms >= $8 AND created_at_ms < $9 ${state === undefined ? "" : `AND ${ACCOUNT_STATES[state]}`}
       ORDER BY created_at_ms DESC, id DESC LIMIT $10)
     GROUP BY accounts.id ORDER BY accounts.created_at_ms DESC, accounts.id DESC`,
    [
      ...[after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? ""],
      ...[emailPrefix, `${emailPrefix}\u{10FFFF}`, domain && `%@${likeText(domain)}`, keyLast4],
      ...[tier, fromMs, toMs, countMax, nowMs],
    ],
  )
  return rows.map(toAccountSummary)
}

/** A key's last characters: its checksum, in base 62. */
const KEY_LAST4 = /^[0-9A-Za-z]{4}$/

/** What a text of a search may be. Null: it is no domain, or no end of a key. */
function parseSearchText(text: string) {
  const lower = text.normalize("NFC").toLowerCase()
  const domain = /^@?([^@\s]+\.[^@\s]+)$/.exec(lower)?.[1] ?? /^@([^@\s]+)$/.exec(lower)?.[1] ?? null
  return {
    emailPrefix: normalizeAccountEmail(text) ?? lower,
    domain: domain === null ? null : domainToALabels(domain),
    keyLast4: KEY_LAST4.test(text) ? text : null,
  }
}

/** Stands for no tier. */
const ANY_TIER = -1

/** Counts all accounts, and those that can receive mail. */
export async function countAccounts(store: Store): Promise<{ readonly all: number; readonly mailable: number }> {
  const row = await store.one<{ readonly all_count: number; readonly mailable_count: number }>(
    `SELECT COUNT(*) AS all_count, COUNT(CASE WHEN ${mailableSql("email")} THEN 1 END) AS mailable_count FROM accounts`,
  )
  return { all: row?.all_count ?? 0, mailable: row?.mailable_count ?? 0 }
}

/** The account with its new tier and the one before, or why it was not changed. */
export type TierChange =
  | { readonly kind: "changed"; readonly account: Account; readonly previousTier: number }
  | { readonly kind: "unknown_tier" }
  | { readonly kind: "unknown_account" }

/** Sets the tier of an account. Its keys have the new limits in this process at once, in others when they read the change. */
export async function setTier(log: AttributedLog, id: string, tier: number): Promise<TierChange> {
  if (!isTier(tier)) return { kind: "unknown_tier" }
  return await recordChanges(log, async (store, note) => {
    // A write without effect locks the row, so that the act names the tier before.
    const before = await store.one<{ tier: number }>("UPDATE accounts SET tier = tier WHERE id = $1 RETURNING tier", [
      id,
    ])
    const row = await store.one<AccountRow>("UPDATE accounts SET tier = $2 WHERE id = $1 RETURNING *", [id, tier])
    if (row === null || before === null) return { kind: "unknown_account" }
    if (before.tier !== tier)
      await recordAct(log, store, { kind: "tier_set", accountId: id, details: `${before.tier} → ${tier}` })
    await note("account_changed", id)
    return { kind: "changed", account: toAccount(row), previousTier: before.tier }
  })
}

/**
 * Locks the account's row until the transaction of `store` ends, so that on either engine the next transaction that locks it sees
 * what this one wrote. It is a write that changes nothing. False when there is no such account.
 */
export async function lockAccountRow(store: Store, id: string): Promise<boolean> {
  return (await store.run("UPDATE accounts SET tier = tier WHERE id = $1", [id])) > 0
}

/**
 * Deletes an account, its keys (unknown from then on) and every other row about it. Only the change log, which holds ids alone,
 * keeps its rows, and the log of administrators' acts, which holds ids too. Under a hash of its email are kept what it used today, until
 * 00:00 UTC, and its suspension, for the next account that has it. False when there is no such account.
 */
export async function removeAccount(log: AttributedLog, id: string): Promise<boolean> {
  return await recordChanges(log, async (store, note) => {
    // The subject of units is no account, or was a key in earlier versions, so no foreign key deletes these rows.
    const account = await findAccount(store, id)
    if (account !== null) {
      await keepFormerUse(store, id, account.email)
      await keepFormerSuspension(store, account, log.clock())
    }
    await store.run("DELETE FROM units WHERE subject IN (SELECT id FROM keys WHERE account_id = $1)", [id])
    const removedCount = await store.run("DELETE FROM accounts WHERE id = $1", [id])
    if (removedCount > 0) {
      await recordAct(log, store, { kind: "account_deleted", accountId: id, details: "" })
      await note("account_removed", id)
    }
    return removedCount > 0
  })
}

/** Whether there is a tier of this number. */
export function isTier(tier: number): boolean {
  return Number.isInteger(tier) && tier >= 0 && tier <= TIER_MAX
}

type AccountRow = {
  readonly id: string
  readonly email: string
  readonly tier: number
  readonly created_at_ms: number
  readonly accepted_terms_version: string | null
  readonly accepted_terms_at_ms: number | null
  readonly suspended_at_ms: number | null
  readonly suspension_reason: string | null
  readonly rules: string | null
}

type AccountSummaryRow = AccountRow & {
  readonly active_count: number
  readonly revoked_count: number
  readonly last_used_at_ms: number | null
}

/** `now`: the parameter with the instant at which keys are counted as active. */
const selectSummary = (now: string): string => `SELECT accounts.*,
  COUNT(CASE WHEN ${usableKeySql(now)} THEN keys.id END) AS active_count, COUNT(keys.revoked_at_ms) AS revoked_count,
  MAX(keys.last_used_at_ms) AS last_used_at_ms FROM accounts LEFT JOIN keys ON keys.account_id = accounts.id`

/** The condition for a key that is neither revoked nor expired. `now`: the parameter with the instant. */
export const usableKeySql = (now: string): string =>
  `keys.revoked_at_ms IS NULL AND (keys.expires_at_ms IS NULL OR keys.expires_at_ms > ${now})`

function toAccount(row: AccountRow): Account {
  const rules = parseStoredRules(row.rules)
  return {
    id: row.id,
    email: row.email,
    tier: row.tier,
    createdAtMs: row.created_at_ms,
    acceptedTermsVersion: row.accepted_terms_version,
    acceptedTermsAtMs: row.accepted_terms_at_ms,
    ...(row.suspended_at_ms === null
      ? {}
      : { suspendedAtMs: row.suspended_at_ms, suspensionReason: row.suspension_reason ?? "" }),
    ...(rules === undefined ? {} : { rules }),
  }
}

function toAccountSummary(row: AccountSummaryRow): AccountSummary {
  const { active_count: activeKeyCount, revoked_count: revokedKeyCount, last_used_at_ms: lastUsedAtMs } = row
  return { ...toAccount(row), activeKeyCount, revokedKeyCount, lastUsedAtMs }
}
