import { type Command, InvalidArgumentError, Option } from "commander"
import type { Random } from "../../base/outside-world.ts"
import { isoInstant } from "../../base/time.ts"
import { TIER_MAX, TIERS } from "../../contract/tiers.ts"
import { type AccountDetails, readAccountDetails } from "../../customers/account-details.ts"
import { normalizeAccountEmail } from "../../customers/accounts/account-email.ts"
import {
  ACCOUNT_STATES,
  type Account,
  type AccountState,
  type AccountSummary,
  accountState,
  createAccount,
  findAccount,
  findAccountByEmail,
  removeAccount,
  searchAccounts,
  setTier,
} from "../../customers/accounts/accounts.ts"
import { noteFingerprint } from "../../customers/accounts/operator-note.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import type { AttributedLog } from "../../customers/store/change-log/change-log.ts"
import { currentTermsVersion } from "../../customers/terms/terms.ts"
import { TermsCache } from "../../customers/terms/terms-cache.ts"
import { addTimeOptions, parseCount, type TimeFlags, timeRange } from "../list-options.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "../output.ts"

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

/** Asks the person at the terminal, who answers with a line. Null: nobody is there. */
export type Ask = (question: string) => Promise<string | null>

/** How commands name an account. */
export const ACCOUNT_ARGUMENT = ["<account>", "its email or its id, such as acc_…"] as const

/** Registers the group `account` and returns it. */
export function registerAccountCommands(
  root: Command,
  output: Output,
  withCustomers: WithCustomers,
  ask: Ask,
): Command {
  const group = root.command("account").description("Accounts and their tiers.")
  group
    .command("create")
    .description("Create an account.")
    .argument("<email>")
    .addOption(tierOption())
    .option(...JSON_FLAG, false)
    .action((email, { tier, json: asJson }) =>
      withCustomers(deps => accountCreate(output, deps, email, tier ?? null, asJson)),
    )
  addTimeOptions(group.command("list").description("List accounts, the newest first."))
    .option("--search <text>", "only those whose email begins so, or of a domain, or with a key that ends so")
    .addOption(new Option("--state <state>", "only accounts in this state").choices(Object.keys(ACCOUNT_STATES)))
    .addOption(new Option("--tier <n>", `only accounts of this tier, 0 to ${TIER_MAX}`).argParser(parseTier))
    .option("--limit <n>", "so many at most", parseCount)
    .option(...JSON_FLAG, false)
    .action((flags: ListFlags) => withCustomers(deps => accountList(output, deps, flags)))
  group
    .command("show")
    .description("Show an account with its state, its terms and its note.")
    .argument(...ACCOUNT_ARGUMENT)
    .option(...JSON_FLAG, false)
    .action((name, { json: asJson }) => withCustomers(deps => accountShow(output, deps, name, asJson)))
  group
    .command("tier")
    .description("Change the tier of an account.")
    .argument(...ACCOUNT_ARGUMENT)
    .argument("<n>", `0 to ${TIER_MAX}`, parseTier)
    .option(...JSON_FLAG, false)
    .action((name, tier, { json: asJson }) => withCustomers(deps => accountTier(output, deps, name, tier, asJson)))
  group
    .command("delete")
    .description("Delete an account with its keys and all else that is stored about it.")
    .argument(...ACCOUNT_ARGUMENT)
    .option("--yes", "do not ask", false)
    .option(...JSON_FLAG, false)
    .action((name, { yes, json: asJson }) =>
      withCustomers(deps => accountDelete(output, deps, name, yes ? null : ask, asJson)),
    )
  return group
}

/** The option for the tier of a new account. */
export const tierOption = (): Option => new Option("--tier <n>", `0 to ${TIER_MAX}`).argParser(parseTier)

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

type ListFlags = TimeFlags & {
  readonly search?: string
  readonly state?: AccountState
  readonly tier?: number
  readonly limit?: number
  readonly json: boolean
}

/** `account list`: the accounts that fit all of the options. */
async function accountList(
  output: Output,
  { changes: { store, clock } }: CustomerCommandDeps,
  { search: text = "", state, tier, limit = Number.POSITIVE_INFINITY, json: asJson, ...times }: ListFlags,
): Promise<void> {
  const nowMs = clock()
  const found: AccountSummary[] = []
  while (found.length < limit) {
    const countMax = Math.min(PAGE_SIZE, limit - found.length)
    const after = found.at(-1) ?? null
    const page = await searchAccounts(store, { ...timeRange(times, nowMs), text, state, tier, after, countMax, nowMs })
    found.push(...page)
    if (page.length < countMax) break
  }
  const accounts = found.map(accountJson)
  if (asJson) return printJson(output, accounts)
  if (accounts.length === 0) return output.line("There are no accounts.")
  printTable(
    output,
    accounts.map(({ email, tier: number, keys, created_at, state: is }) => [
      email,
      describeTier(number),
      `${keys.active} active keys`,
      created_at,
      is === "active" ? "" : is,
    ]),
  )
}

/** `account show ACCOUNT`. */
async function accountShow(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  asJson: boolean,
): Promise<void> {
  const { store, clock } = customers.changes
  const { id } = await namedAccount(customers, name)
  const terms = new TermsCache(store, clock, () => undefined)
  await terms.load()
  const details = await readAccountDetails({ store, clock, terms }, id)
  if (details === null) throw new CommandError(DELETED_MEANWHILE)
  const shown = detailsJson(details)
  if (asJson) return printJson(output, shown)
  printTable(output, [
    ["email", shown.email],
    ["id", shown.id],
    ["state", shown.suspended_at === null ? shown.state : `suspended since ${shown.suspended_at}`],
    ...(shown.suspension_reason === null ? [] : [["reason", shown.suspension_reason]]),
    ["tier", describeTier(shown.tier)],
    ["keys", `${shown.keys.active} active, ${shown.keys.revoked} revoked`],
    ["last used", shown.last_used_at ?? "never"],
    ["sessions", String(shown.sessions)],
    ["terms", describeTerms(shown.terms)],
    ["created", shown.created_at],
    ...(shown.note === "" ? [] : [["note", shown.note]]),
  ])
}

function describeTerms({ state, accepted_version: accepted, due_version: due, due_at: at }: TermsJson): string {
  if (state === "accepted") return accepted === null ? "nothing to accept" : `accepted version ${accepted}`
  return state === "grace"
    ? `must accept version ${due} before ${at}`
    : `did not accept version ${due}: requests are refused since ${at}`
}

/** `account tier ACCOUNT N`: says which tier it had, which another administrator may have set a moment ago. */
async function accountTier(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  tier: number,
  asJson: boolean,
): Promise<void> {
  const changed = await setTier(customers.changes, (await namedAccount(customers, name)).id, tier)
  if (changed.kind === "unknown_tier") throw new CommandError(ACCOUNT_REFUSALS.unknown_tier, 2)
  if (changed.kind === "unknown_account") throw new CommandError(DELETED_MEANWHILE)
  const { id, email: storedEmail, tier: storedTier } = changed.account
  const { previousTier } = changed
  if (asJson) return printJson(output, { id, email: storedEmail, tier: storedTier, previous_tier: previousTier })
  const before = previousTier === storedTier ? " It had it before." : ` It had ${describeTier(previousTier)}.`
  output.line(`${storedEmail} has tier ${describeTier(storedTier)}.${before}`)
}

/** `account delete ACCOUNT`: deletes the account and its keys, which are unknown from then on. `ask` null: without asking. */
async function accountDelete(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  ask: Ask | null,
  asJson: boolean,
): Promise<void> {
  const { id, email } = await namedAccount(customers, name)
  if (ask !== null) await confirmDeletion(ask, email)
  const isNew = await removeAccount(customers.changes, id)
  if (!isNew) throw new CommandError(DELETED_MEANWHILE)
  if (asJson) return printJson(output, { id, deleted: true })
  output.line(`${email} and its keys are deleted.`)
}

async function confirmDeletion(ask: Ask, email: string): Promise<void> {
  const typed = await ask(`Deleting ${email} cannot be undone. Type the email of the account to delete it: `)
  if (typed === null)
    throw new CommandError("Nothing was deleted, because nobody can be asked. Add --yes to delete without asking.", 2)
  if (normalizeAccountEmail(typed) !== email)
    throw new CommandError("Nothing was deleted. This is not the email of the account.")
}

/** The account with this email or id. Throws a `CommandError` when there is none. */
export async function namedAccount({ changes: { store } }: CustomerCommandDeps, name: string): Promise<Account> {
  const account = /^acc_\w+$/.test(name) ? await findAccount(store, name) : await findAccountByEmail(store, name)
  if (account === null) throw new CommandError("There is no account with this email or id.")
  return account
}

/** What is said of an account that was there when the command began. */
export const DELETED_MEANWHILE = "The account was deleted a moment ago."

const accountJson = (account: AccountSummary) => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  state: accountState(account),
  suspended_at: isoInstant(account.suspendedAtMs ?? null),
  created_at: isoInstant(account.createdAtMs),
  last_used_at: isoInstant(account.lastUsedAtMs),
  keys: { active: account.activeKeyCount, revoked: account.revokedKeyCount },
})

function detailsJson({ account, sessionCount, termsState, note }: AccountDetails) {
  return {
    ...accountJson(account),
    suspension_reason: account.suspensionReason ?? null,
    sessions: sessionCount,
    rules: account.rules ?? {},
    terms: termsJson(account, termsState),
    note,
    note_version: noteFingerprint(note),
  }
}

type TermsJson = ReturnType<typeof termsJson>

function termsJson({ acceptedTermsVersion, acceptedTermsAtMs }: Account, termsState: AccountDetails["termsState"]) {
  const due =
    termsState.kind === "accepted"
      ? { due_version: null, due_at: null }
      : {
          due_version: termsState.version,
          due_at: isoInstant(termsState.kind === "grace" ? termsState.endsAtMs : termsState.sinceMs),
        }
  return {
    state: termsState.kind,
    accepted_version: acceptedTermsVersion,
    accepted_at: isoInstant(acceptedTermsAtMs),
    ...due,
  }
}

/** A tier's number and name. */
export const describeTier = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "unknown"})`
