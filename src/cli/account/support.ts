import { type Command, Option } from "commander"
import { isoInstant } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { readStoredUsage } from "../../customers/account-usage.ts"
import { exportAccount } from "../../customers/accounts/account-export.ts"
import { type Account, accountState, findAccount } from "../../customers/accounts/accounts.ts"
import {
  changeOperatorNote,
  type NoteChange,
  noteFingerprint,
  readOperatorNote,
} from "../../customers/accounts/operator-note.ts"
import { resumeAccount, suspendAccount } from "../../customers/accounts/suspension.ts"
import { CommandError, formatCount, JSON_FLAG, type Output, printJson, printTable } from "../output.ts"
import {
  ACCOUNT_ARGUMENT,
  type CustomerCommandDeps,
  DELETED_MEANWHILE,
  namedAccount,
  type WithCustomers,
} from "./accounts.ts"

/** Registers what support does for one account: `account suspend`, `resume`, `note`, `usage` and `export`. */
export function registerSupportCommands(group: Command, output: Output, withCustomers: WithCustomers): void {
  group
    .command("suspend")
    .description("Refuse the requests of all keys of an account, until it is resumed. Its owner gets an email.")
    .argument(...ACCOUNT_ARGUMENT)
    .option("--reason <text>", "what the owner reads about it", "")
    .option(...JSON_FLAG, false)
    .action((name, { reason, json: asJson }) =>
      withCustomers(deps => accountSuspend(output, deps, name, reason, asJson)),
    )
  group
    .command("resume")
    .description("Let the keys of a suspended account work again. Its owner gets an email.")
    .argument(...ACCOUNT_ARGUMENT)
    .option(...JSON_FLAG, false)
    .action((name, { json: asJson }) => withCustomers(deps => accountResume(output, deps, name, asJson)))
  group
    .command("note")
    .description("Show what operators noted about an account, or change it. Its owner sees it in their export.")
    .argument(...ACCOUNT_ARGUMENT)
    .addOption(new Option("--add <text>", "add a line").conflicts("set"))
    .option("--set <text>", "replace the note; an empty text takes it away")
    .option("--seen <version>", "replace only the note with this version, as the command shows it")
    .option(...JSON_FLAG, false)
    .action((name, flags: NoteFlags) => withCustomers(deps => accountNote(output, deps, name, flags)))
  group
    .command("usage")
    .description(`Show the limits of an account and what it used today and in the last ${LIMITS.usageDays} days.`)
    .argument(...ACCOUNT_ARGUMENT)
    .option(...JSON_FLAG, false)
    .action((name, { json: asJson }) => withCustomers(deps => accountUsage(output, deps, name, asJson)))
  group
    .command("export")
    .description("Print everything that is stored about an account as JSON: the file that its owner can download.")
    .argument(...ACCOUNT_ARGUMENT)
    .option("--json", "print JSON, as it does without the option", false)
    .action(name => withCustomers(deps => accountExport(output, deps, name)))
}

/** `account suspend ACCOUNT [--reason TEXT]`. Idempotent: the first suspension and its reason stay. */
async function accountSuspend(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  reason: string,
  asJson: boolean,
): Promise<void> {
  const { id } = await namedAccount(customers, name)
  const change = await suspendAccount(customers.changes, id, reason)
  if (change.kind === "bad_reason")
    throw new CommandError(
      `A reason has at most ${LIMITS.suspensionReasonLengthMax} characters. Nothing was changed.`,
      2,
    )
  if (change.kind === "unknown_account") throw new CommandError(DELETED_MEANWHILE)
  const account = await changedAccount(customers, id)
  if (asJson) return printJson(output, suspensionJson(account, change.isNew))
  const since = isoInstant(account.suspendedAtMs ?? null) ?? "a moment ago"
  output.line(
    change.isNew
      ? `${account.email} is suspended.`
      : `${account.email} was suspended before, on ${since}. Nothing changed.`,
  )
}

/** `account resume ACCOUNT`. Idempotent. */
async function accountResume(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  asJson: boolean,
): Promise<void> {
  const { id } = await namedAccount(customers, name)
  const change = await resumeAccount(customers.changes, id)
  if (change.kind !== "changed") throw new CommandError(DELETED_MEANWHILE)
  const account = await changedAccount(customers, id)
  if (asJson) return printJson(output, suspensionJson(account, change.isNew))
  output.line(
    change.isNew
      ? `${account.email} is resumed. Its keys work again.`
      : `${account.email} was not suspended. Nothing changed.`,
  )
}

async function changedAccount({ changes }: CustomerCommandDeps, id: string): Promise<Account> {
  const account = await findAccount(changes.store, id)
  if (account === null) throw new CommandError(DELETED_MEANWHILE)
  return account
}

const suspensionJson = (account: Account, isNew: boolean) => ({
  id: account.id,
  email: account.email,
  state: accountState(account),
  suspended_at: isoInstant(account.suspendedAtMs ?? null),
  suspension_reason: account.suspensionReason ?? null,
  changed: isNew,
})

type NoteFlags = { readonly add?: string; readonly set?: string; readonly seen?: string; readonly json: boolean }

/**
 * `account note ACCOUNT [--add TEXT | --set TEXT [--seen VERSION]]`. A note that somebody else has written is replaced only by who names the
 * version that they saw.
 */
async function accountNote(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  { add, set, seen, json: asJson }: NoteFlags,
): Promise<void> {
  if (seen !== undefined && set === undefined) throw new CommandError("--seen needs --set.", 2)
  const { id, email } = await namedAccount(customers, name)
  const { changes } = customers
  if (set !== undefined)
    assertNoted(await changeOperatorNote(changes, id, { note: set, seen: seen ?? noteFingerprint("") }))
  if (add !== undefined) assertNoted(await addToNote(customers, id, add))
  const note = await readOperatorNote(changes.store, id)
  if (asJson) return printJson(output, { id, email, note, version: noteFingerprint(note) })
  if (note === "") return output.line(`There is no note about ${email}.`)
  output.line(note)
  output.stderrLine(`Its version is ${noteFingerprint(note)}.`)
}

/** How often a line is added again to a note that somebody else changes at the same moment. */
const NOTE_TRIES_MAX = 10

async function addToNote({ changes }: CustomerCommandDeps, id: string, line: string): Promise<NoteChange> {
  let stored = await readOperatorNote(changes.store, id)
  for (let tries = 1; ; tries++) {
    const note = stored === "" ? line : `${stored}\n${line}`
    const change = await changeOperatorNote(changes, id, { note, seen: noteFingerprint(stored) })
    if (change.kind !== "changed_meanwhile" || tries === NOTE_TRIES_MAX) return change
    stored = change.note
  }
}

function assertNoted(change: NoteChange): void {
  if (change.kind === "unknown_account") throw new CommandError(DELETED_MEANWHILE)
  if (change.kind === "too_long")
    throw new CommandError(`A note has at most ${LIMITS.operatorNoteLengthMax} characters. Nothing was changed.`, 2)
  if (change.kind === "changed_meanwhile")
    throw new CommandError(
      "There is another note than you saw. Nothing was changed. Read it with `account note`, then add a line with --add, or replace it with --seen and its version.",
      4,
    )
}

/** `account usage ACCOUNT`: what GET /v1/usage answers. */
async function accountUsage(
  output: Output,
  customers: CustomerCommandDeps,
  name: string,
  asJson: boolean,
): Promise<void> {
  const account = await namedAccount(customers, name)
  const { store, clock } = customers.changes
  const usage = await readStoredUsage({ store, clock, tiers: customers.tiers ?? [] }, account)
  if (asJson) return printJson(output, { id: account.id, email: account.email, ...usage })
  const { today, daily } = usage
  printTable(output, [
    [
      "units today",
      `${formatCount(today.used)} used, ${today.remaining === null ? "no limit" : `${formatCount(today.remaining)} left`}${today.lost === 0 ? "" : `, ${formatCount(today.lost)} held by servers or lost`}`,
    ],
    [
      "publishable keys",
      `${formatCount(today.publishable.used)} used, ${formatCount(today.publishable.remaining)} left`,
    ],
    ["checks today", `${formatCount(today.checks)} plain, ${formatCount(today.deep_checks)} deep`],
    ["batch items today", formatCount(today.batch_items)],
    ["rate limited today", formatCount(today.rate_limited)],
    [`units, ${daily.length} days`, formatCount(daily.reduce((sum, { used }) => sum + used, 0))],
    ...today.by_key.map(key => [
      `key …${key.last4}`,
      `${formatCount(key.used)} today, last used ${key.last_used_at ?? "never"}`,
    ]),
  ])
}

/** `account export ACCOUNT`: one part of the file is in memory at a time. */
async function accountExport(output: Output, customers: CustomerCommandDeps, name: string): Promise<void> {
  const { id } = await namedAccount(customers, name)
  const { store, clock } = customers.changes
  // The parts end between the tokens of JSON, where a line may end too.
  for await (const part of exportAccount(store, clock(), id)) output.line(part.trim())
}
