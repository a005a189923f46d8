import { type Command, InvalidArgumentError, Option } from "commander"
import type { Random } from "../base/outside-world.ts"
import { isoInstant } from "../base/time.ts"
import { TIER_MAX, TIERS } from "../contract/tiers.ts"
import {
  createAccount,
  findAccountByEmail,
  listAccounts,
  removeAccount,
  setTier,
  summarizeAccount,
} from "../customers/accounts/accounts.ts"
import type { TierLimits } from "../customers/quota/tier-limits.ts"
import type { AttributedLog } from "../customers/store/change-log/change-log.ts"
import { currentTermsVersion } from "../customers/terms/terms.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** What the commands about customers need. */
export type CustomerCommandDeps = {
  readonly changes: AttributedLog
  readonly random: Random
  readonly defaultTier: number
  /** The public address of the server, for links. */
  readonly baseUrl?: string
  /** Mails the link of an invitation. False: it is not mailed. Absent: there is no mail server. */
  readonly mailInvitation?: (to: string, link: string) => Promise<boolean>
  /** The limits of each tier, by its number. Absent: no tier has any. */
  readonly tiers?: readonly TierLimits[]
}

/** Opens the database for one command, and closes it afterwards. */
export type WithCustomers = (work: (deps: CustomerCommandDeps) => Promise<void>) => Promise<void>

/** Registers the group `account` and returns it. */
export function registerAccountCommands(root: Command, output: Output, withCustomers: WithCustomers): Command {
  const group = root.command("account").description("Accounts and their tiers.")
  group
    .command("create")
    .argument("<email>")
    .addOption(new Option("--tier <n>", `0 to ${TIER_MAX}`).argParser(parseTier))
    .option(...JSON_FLAG, false)
    .action((email, { tier, json: asJson }) =>
      withCustomers(deps => accountCreate(output, deps, email, tier ?? null, asJson)),
    )
  group
    .command("list")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => withCustomers(deps => accountList(output, deps, asJson)))
  group
    .command("show")
    .argument("<email>")
    .option(...JSON_FLAG, false)
    .action((email, { json: asJson }) => withCustomers(deps => accountShow(output, deps, email, asJson)))
  group
    .command("tier")
    .argument("<email>")
    .argument("<n>", `0 to ${TIER_MAX}`, parseTier)
    .option(...JSON_FLAG, false)
    .action((email, tier, { json: asJson }) => withCustomers(deps => accountTier(output, deps, email, tier, asJson)))
  group
    .command("delete")
    .argument("<email>")
    .option(...JSON_FLAG, false)
    .action((email, { json: asJson }) => withCustomers(deps => accountDelete(output, deps, email, asJson)))
  return group
}

/** The number of a tier in an option. */
export function parseTier(text: string): number {
  if (!/^\d$/.test(text) || Number(text) > TIER_MAX)
    throw new InvalidArgumentError(`A tier is a number from 0 to ${TIER_MAX}.`)
  return Number(text)
}

const PAGE_SIZE = 500

/** `account create EMAIL [--tier N]`: the account counts as having accepted the current terms. */
async function accountCreate(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  tier: number | null,
  asJson: boolean,
): Promise<void> {
  const termsVersion = await currentTermsVersion(customers.changes.store)
  const request = { email, tier: tier ?? customers.defaultTier, termsVersion }
  const result = await createAccount(customers.changes, customers.random, request)
  if (result.kind !== "created")
    throw new CommandError(ACCOUNT_REFUSALS[result.kind], result.kind === "email_taken" ? 1 : 2)
  const { id, email: storedEmail, tier: storedTier } = result.account
  if (asJson) return printJson(output, { id, email: storedEmail, tier: storedTier })
  output.line(`${storedEmail} has an account (${id}) of tier ${describeTier(storedTier)}.`)
}

/** Why no account is made. */
export const ACCOUNT_REFUSALS = {
  malformed_email: "This is not an email address.",
  email_taken: "An account with this email exists already.",
  unknown_tier: `There is no such tier. The tiers are ${TIERS.map((tier, index) => `${index} (${tier.name})`).join(", ")}.`,
} as const

/** `account list`: all accounts, ordered by email. */
async function accountList(output: Output, { changes }: CustomerCommandDeps, asJson: boolean): Promise<void> {
  const accounts: ReturnType<typeof accountJson>[] = []
  for (let after = ""; ; ) {
    const page = await listAccounts(changes.store, after, PAGE_SIZE, changes.clock())
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
async function accountShow(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const { store, clock } = customers.changes
  const summarized = await summarizeAccount(store, (await accountByEmail(customers, email)).id, clock())
  if (summarized === null) throw new CommandError("The account was deleted a moment ago.")
  const account = accountJson(summarized)
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
async function accountTier(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  tier: number,
  asJson: boolean,
): Promise<void> {
  const changed = await setTier(customers.changes, (await accountByEmail(customers, email)).id, tier)
  if (changed.kind === "unknown_tier") throw new CommandError(ACCOUNT_REFUSALS.unknown_tier, 2)
  if (changed.kind === "unknown_account") throw new CommandError("The account was deleted a moment ago.")
  const { id, email: storedEmail, tier: storedTier } = changed.account
  if (asJson) return printJson(output, { id, email: storedEmail, tier: storedTier })
  output.line(`${storedEmail} has tier ${describeTier(storedTier)}.`)
}

/** `account delete EMAIL`: deletes the account and its keys, which are unknown from then on. */
async function accountDelete(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const { id, email: storedEmail } = await accountByEmail(customers, email)
  await removeAccount(customers.changes, id)
  if (asJson) return printJson(output, { id, deleted: true })
  output.line(`${storedEmail} and its keys are deleted.`)
}

/** The account with this email. Throws a `CommandError` when there is none. */
export async function accountByEmail({ changes }: CustomerCommandDeps, email: string) {
  const account = await findAccountByEmail(changes.store, email)
  if (account === null) throw new CommandError("There is no account with this email.")
  return account
}

type SummarizedAccount = NonNullable<Awaited<ReturnType<typeof summarizeAccount>>>

const accountJson = (account: SummarizedAccount) => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  created_at: isoInstant(account.createdAtMs),
  keys: { active: account.activeKeyCount, revoked: account.revokedKeyCount },
})

/** A tier's number and name. */
export const describeTier = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "unknown"})`
