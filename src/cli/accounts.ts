import type { Random } from "../base/outside-world.ts"
import { TIERS } from "../contract/tiers.ts"
import {
  createAccount,
  findAccountByEmail,
  listAccounts,
  removeAccount,
  setTier,
  summarizeAccount,
} from "../customers/accounts/accounts.ts"
import type { ChangeLog } from "../customers/store/change-log/change-log.ts"
import { currentTermsVersion } from "../customers/terms/terms.ts"
import { CommandError, type Output, printJson, printTable } from "./output.ts"

/** What the commands about accounts and keys need. */
export type CustomerCommandDeps = { readonly changes: ChangeLog; readonly random: Random; readonly defaultTier: number }

const PAGE_SIZE = 500

/** `account create EMAIL [--tier N]`: the terms of an account made here count as accepted. */
export async function accountCreate(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  tier: number | null,
  asJson: boolean,
): Promise<void> {
  const termsVersion = await currentTermsVersion(customers.changes.store)
  const wanted = { email, tier: tier ?? customers.defaultTier, termsVersion }
  const made = await createAccount(customers.changes, customers.random, wanted)
  if (made.kind !== "created") throw new CommandError(ACCOUNT_REFUSALS[made.kind], made.kind === "email_taken" ? 1 : 2)
  const { id, email: written, tier: given } = made.account
  if (asJson) return printJson(output, { id, email: written, tier: given })
  output.line(`${written} has an account (${id}) of tier ${describeTier(given)}.`)
}

const ACCOUNT_REFUSALS = {
  malformed_email: "That is no email address.",
  email_taken: "An account with that email exists already.",
  unknown_tier: `There is no such tier; tiers are ${TIERS.map((tier, at) => `${at} (${tier.name})`).join(", ")}.`,
} as const

/** `account list`: every account, by email. */
export async function accountList(output: Output, { changes }: CustomerCommandDeps, asJson: boolean): Promise<void> {
  const accounts: ReturnType<typeof accountJson>[] = []
  for (let after = ""; ; ) {
    const page = await listAccounts(changes.store, after, PAGE_SIZE)
    accounts.push(...page.map(accountJson))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) break
    after = last.email
  }
  if (asJson) return printJson(output, accounts)
  if (accounts.length === 0) return output.line("There are no accounts.")
  const rows = accounts.map(({ email, tier, keys, created_at }) => [
    email,
    describeTier(tier),
    `${keys.active} active keys`,
    created_at,
  ])
  printTable(output, rows)
}

/** `account show EMAIL`. */
export async function accountShow(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const found = await summarizeAccount(customers.changes.store, (await accountByEmail(customers, email)).id)
  if (found === null) throw new CommandError("The account was deleted a moment ago.")
  const account = accountJson(found)
  if (asJson) return printJson(output, account)
  printTable(output, [
    ["email", account.email],
    ["id", account.id],
    ["tier", describeTier(account.tier)],
    ["keys", `${account.keys.active} active, ${account.keys.revoked} revoked`],
    ["created", account.created_at],
  ])
}

/** `account tier EMAIL N`. */
export async function accountTier(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  tier: number,
  asJson: boolean,
): Promise<void> {
  const changed = await setTier(customers.changes, (await accountByEmail(customers, email)).id, tier)
  if (changed.kind === "unknown_tier") throw new CommandError(ACCOUNT_REFUSALS.unknown_tier, 2)
  if (changed.kind === "unknown_account") throw new CommandError("The account was deleted a moment ago.")
  const { id, email: written, tier: given } = changed.account
  if (asJson) return printJson(output, { id, email: written, tier: given })
  output.line(`${written} has tier ${describeTier(given)}.`)
}

/** `account delete EMAIL`: the account and its keys; the keys are unknown from then on. */
export async function accountDelete(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const { id, email: written } = await accountByEmail(customers, email)
  await removeAccount(customers.changes, id)
  if (asJson) return printJson(output, { id, deleted: true })
  output.line(`${written} and its keys are deleted.`)
}

/** The account of an email; a failure in words when there is none. */
export async function accountByEmail({ changes }: CustomerCommandDeps, email: string) {
  const account = await findAccountByEmail(changes.store, email)
  if (account === null) throw new CommandError("There is no account with that email.")
  return account
}

type SummarizedAccount = NonNullable<Awaited<ReturnType<typeof summarizeAccount>>>

const accountJson = (account: SummarizedAccount) => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  created_at: new Date(account.createdAtMs).toISOString(),
  keys: { active: account.activeKeyCount, revoked: account.revokedKeyCount },
})

const describeTier = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "unknown"})`
