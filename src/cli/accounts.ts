import type { Random } from "../base/clock.ts"
import { TIERS } from "../contract/tiers.ts"
import {
  createAccount,
  findAccountByEmail,
  listAccounts,
  removeAccount,
  setTier,
  summarizeAccount,
} from "../customers/accounts/accounts.ts"
import type { ChangeLog } from "../customers/store/changes.ts"
import { currentTermsVersion } from "../customers/terms/terms.ts"
import { CommandFailure, json, type Output, table } from "./output.ts"

/** What the commands about accounts and keys need. */
export type Customers = { readonly changes: ChangeLog; readonly random: Random; readonly defaultTier: number }

const PAGE = 500

/** `account create EMAIL [--tier N]`: the terms of an account made here count as accepted. */
export async function accountCreate(
  output: Output,
  customers: Customers,
  email: string,
  tier: number | null,
  asJson: boolean,
): Promise<void> {
  const termsVersion = await currentTermsVersion(customers.changes.store)
  const wanted = { email, tier: tier ?? customers.defaultTier, termsVersion }
  const made = await createAccount(customers.changes, customers.random, wanted)
  if (made.kind !== "created") throw new CommandFailure(REFUSALS[made.kind], made.kind === "email_taken" ? 1 : 2)
  const { id, email: written, tier: given } = made.account
  if (asJson) return json(output, { id, email: written, tier: given })
  output.line(`${written} has an account (${id}) of tier ${tierName(given)}.`)
}

const REFUSALS = {
  malformed_email: "That is no email address.",
  email_taken: "An account with that email exists already.",
  unknown_tier: `There is no such tier; tiers are ${TIERS.map((tier, at) => `${at} (${tier.name})`).join(", ")}.`,
} as const

/** `account list`: every account, by email. */
export async function accountList(output: Output, { changes }: Customers, asJson: boolean): Promise<void> {
  const accounts: ReturnType<typeof summary>[] = []
  for (let after = ""; ; ) {
    const page = await listAccounts(changes.store, after, PAGE)
    accounts.push(...page.map(summary))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) break
    after = last.email
  }
  if (asJson) return json(output, accounts)
  if (accounts.length === 0) return output.line("There are no accounts.")
  const rows = accounts.map(({ email, tier, keys, created_at }) => [
    email,
    tierName(tier),
    `${keys.active} active keys`,
    created_at,
  ])
  table(output, rows)
}

/** `account show EMAIL`. */
export async function accountShow(output: Output, customers: Customers, email: string, asJson: boolean): Promise<void> {
  const found = await summarizeAccount(customers.changes.store, (await accountOf(customers, email)).id)
  if (found === null) throw new CommandFailure("The account was deleted a moment ago.")
  const account = summary(found)
  if (asJson) return json(output, account)
  table(output, [
    ["email", account.email],
    ["id", account.id],
    ["tier", tierName(account.tier)],
    ["keys", `${account.keys.active} active, ${account.keys.revoked} revoked`],
    ["created", account.created_at],
  ])
}

/** `account tier EMAIL N`. */
export async function accountTier(
  output: Output,
  customers: Customers,
  email: string,
  tier: number,
  asJson: boolean,
): Promise<void> {
  const changed = await setTier(customers.changes, (await accountOf(customers, email)).id, tier)
  if (changed.kind === "unknown_tier") throw new CommandFailure(REFUSALS.unknown_tier, 2)
  if (changed.kind === "unknown_account") throw new CommandFailure("The account was deleted a moment ago.")
  const { id, email: written, tier: given } = changed.account
  if (asJson) return json(output, { id, email: written, tier: given })
  output.line(`${written} has tier ${tierName(given)}.`)
}

/** `account delete EMAIL`: the account and its keys; the keys are unknown from then on. */
export async function accountDelete(
  output: Output,
  customers: Customers,
  email: string,
  asJson: boolean,
): Promise<void> {
  const { id, email: written } = await accountOf(customers, email)
  await removeAccount(customers.changes, id)
  if (asJson) return json(output, { id, deleted: true })
  output.line(`${written} and its keys are deleted.`)
}

/** The account of an email; a failure in words when there is none. */
export async function accountOf({ changes }: Customers, email: string) {
  const account = await findAccountByEmail(changes.store, email)
  if (account === null) throw new CommandFailure("There is no account with that email.")
  return account
}

type Summary = NonNullable<Awaited<ReturnType<typeof summarizeAccount>>>

const summary = (account: Summary) => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  created_at: new Date(account.createdAtMs).toISOString(),
  keys: { active: account.activeKeyCount, revoked: account.revokedKeyCount },
})

const tierName = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "unknown"})`
