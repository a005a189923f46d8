import { fingerprint } from "../../base/fingerprint.ts"
import { parseJson } from "../../base/text.ts"
import { ACCOUNT_RULE_NAMES, ACCOUNT_RULES, type AccountRule, type AccountRules } from "../../contract/account-rules.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { recordAct } from "../audit/audit.ts"
import { type AttributedLog, type RecordChange, recordChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { inTurn } from "./change-turns.ts"

/** The rules that were written, or why they are none. The message repeats nothing that is no rule and no recommendation. */
export type ParsedRules =
  | { readonly kind: "valid"; readonly rules: AccountRules }
  | { readonly kind: "invalid"; readonly rule: AccountRule | null; readonly message: string }

/**
 * Parses pairs of a rule and its recommendation. Null and the empty text are none. A rule that is written twice must say the same both times:
 * anything else contradicts itself.
 */
export function parseRules(pairs: Iterable<readonly [name: string, value: unknown]>): ParsedRules {
  const found = new Map<AccountRule, Recommendation | null>()
  for (const [name, value] of pairs) {
    if (name === "invalid") return invalidRule(null, NO_RULE_FOR_INVALID)
    if (!isAccountRule(name)) return invalidRule(null, UNKNOWN_RULE)
    const recommendation = value === "" || value === null ? null : RECOMMENDATIONS.find(each => each === value)
    if (recommendation === undefined) return invalidRule(name, `The rule \`${name}\` must be ${CHOICES} or null.`)
    const before = found.get(name)
    if (before !== undefined && before !== recommendation)
      return invalidRule(name, contradiction(name, before, recommendation))
    found.set(name, recommendation)
  }
  return {
    kind: "valid",
    rules: Object.fromEntries([...found].filter(([, recommendation]) => recommendation !== null)),
  }
}

const isAccountRule = (name: string): name is AccountRule => Object.hasOwn(ACCOUNT_RULES, name)

const invalidRule = (rule: AccountRule | null, message: string): ParsedRules => ({ kind: "invalid", rule, message })

const CHOICES = RECOMMENDATIONS.map(each => `\`${each}\``).join(", ")
const NO_RULE_FOR_INVALID = "`invalid` cannot have a rule: an address that cannot receive email is always blocked."
const UNKNOWN_RULE = `A rule has an unknown name. The rules are ${ACCOUNT_RULE_NAMES.map(each => `\`${each}\``).join(", ")}.`

const contradiction = (rule: AccountRule, one: Recommendation | null, other: Recommendation | null): string =>
  `Two rules contradict each other: \`${rule}: ${one}\` and \`${rule}: ${other}\`. Send one of them.`

/** The rules of an account: a row has all of them. `null`: there is no such account. */
export async function readAccountRules(store: Store, accountId: string): Promise<AccountRules | null> {
  const row = await store.one<{ rules: string | null }>("SELECT rules FROM accounts WHERE id = $1", [accountId])
  return row && (parseStoredRules(row.rules) ?? {})
}

/** A text that differs when rules differ: what a command shows to tell whether they have changed since. */
export const rulesVersion = (rules: AccountRules): string => fingerprint(rulesText(rules))

/** What became of rules. `unchanged`: the account had them already. `changed_meanwhile`: it has others than were seen; nothing was written. */
type RulesChange = "changed" | "unchanged" | "changed_meanwhile" | "unknown_account"

/** Replaces the rules of an account, as `changeAccountRules` does, whatever they are now. False when there is no such account. */
export const setAccountRules = async (log: AttributedLog, accountId: string, rules: AccountRules): Promise<boolean> =>
  (await changeAccountRules(log, accountId, rules, null)) !== "unknown_account"

/**
 * Replaces the rules of an account, if they are those with the `rulesVersion` `seen`; null: whatever they are. Of two at a time the later one
 * holds as a whole. When it resolves, the rules are durable and in force
 * in this process. If the account has these rules already, nothing is written: no act, and no change for other processes.
 */
export async function changeAccountRules(
  log: AttributedLog,
  accountId: string,
  rules: AccountRules,
  seen: string | null,
): Promise<RulesChange> {
  const stored = serializeRules(rules)
  const work = async (store: Store, note: RecordChange): Promise<RulesChange> => {
    // The write changes nothing: it locks the row.
    const before = await store.one<{ rules: string | null }>(
      "UPDATE accounts SET rules = rules WHERE id = $1 RETURNING rules",
      [accountId],
    )
    if (before === null) return "unknown_account"
    if (before.rules === stored) return "unchanged"
    if (seen !== null && rulesVersion(parseStoredRules(before.rules) ?? {}) !== seen) return "changed_meanwhile"
    await store.run("UPDATE accounts SET rules = $2 WHERE id = $1", [accountId, stored])
    await recordAct(log, store, { kind: "rules_changed", accountId, details: rulesText(rules) })
    await note("account_changed", accountId)
    return "changed"
  }
  const outcome = await inTurn(accountId, () => recordChanges(log, work))
  // Another node may have set them, and this process may not have read that change yet.
  if (outcome === "unchanged") log.notify([{ kind: "account_changed", subject: accountId }])
  return outcome
}

/** The rules as a text of one line, in the order of the table; empty: there are none. */
export const rulesText = (rules: AccountRules): string =>
  ruleEntries(rules)
    .map(([rule, recommendation]) => `${rule}: ${recommendation}`)
    .join(", ")

/** The rules as stored. Null: there are none. */
function serializeRules(rules: AccountRules): string | null {
  const entries = ruleEntries(rules)
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries))
}

function ruleEntries(rules: AccountRules): readonly (readonly [AccountRule, Recommendation])[] {
  return ACCOUNT_RULE_NAMES.flatMap(rule => {
    const recommendation = rules[rule]
    return recommendation === undefined ? [] : [[rule, recommendation] as const]
  })
}

/** The stored rules; undefined: there are none. A rule of a later version, which this one does not know, is left out. */
export function parseStoredRules(stored: string | null): AccountRules | undefined {
  if (stored === null) return undefined
  const parsed: unknown = parseJson(stored)
  if (typeof parsed !== "object" || parsed === null) return undefined
  const byName = new Map<string, unknown>(Object.entries(parsed))
  const known = ACCOUNT_RULE_NAMES.flatMap(rule => {
    const recommendation = RECOMMENDATIONS.find(each => each === byName.get(rule))
    return recommendation === undefined ? [] : [[rule, recommendation] as const]
  })
  return known.length === 0 ? undefined : Object.fromEntries(known)
}
