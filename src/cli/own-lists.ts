import type { Command } from "commander"
import { parseAddressOrDomain } from "../check/address/parse-subject.ts"
import { LIMITS } from "../contract/limits.ts"
import { type LabelledEntry, parseLabelledEntry } from "../customers/own-lists/entries.ts"
import {
  addEntries,
  type DatedOwnListEntry,
  type ListOwner,
  listEntries,
  OPERATOR,
  OWN_LISTS,
  type OwnList,
  removeEntries,
} from "../customers/own-lists/own-lists.ts"
import { accountByEmail, type CustomerCommandDeps, type WithCustomers } from "./accounts.ts"
import { CommandError, type Output, printJson, printTable } from "./output.ts"

/** The list of a command. `account` null: the operator's. */
type ListSelection = { readonly list: OwnList; readonly account: string | null }

const PAGE_SIZE = 500

/** Registers `block` and `allow` with their commands. */
export function registerOwnListCommands(root: Command, output: Output, withCustomers: WithCustomers): void {
  for (const list of OWN_LISTS) {
    const group = root.command(list).description(`The ${list} list of the operator or of an account.`)
    const command = (name: string, says: string) =>
      group
        .command(name)
        .description(says)
        .option("--account <email>", "the account of the list, default the operator")
        .option("--json", "print JSON", false)
    const about = `an address, a domain with its subdomains, or "*.domain" for the subdomains only`
    command("add", "Add entries to the list.")
      .argument("<entry...>", about)
      .action((texts, { account = null, json: asJson }) =>
        withCustomers(deps => ownListAdd(output, deps, { list, account }, texts, asJson)),
      )
    command("remove", "Remove entries from the list.")
      .argument("<entry...>", `${about}, or as \`${list} list\` shows it`)
      .action((texts, { account = null, json: asJson }) =>
        withCustomers(deps => ownListRemove(output, deps, { list, account }, texts, asJson)),
      )
    command("list", "Show the list. It has only hashes of addresses.").action(({ account = null, json: asJson }) =>
      withCustomers(deps => ownListShow(output, deps, { list, account }, asJson)),
    )
  }
}

/** `block add ENTRY... [--account EMAIL]`: all entries or none. */
async function ownListAdd(
  output: Output,
  customers: CustomerCommandDeps,
  chosen: ListSelection,
  texts: readonly string[],
  asJson: boolean,
): Promise<void> {
  const entries = parseEntries(texts)
  const { owner, whose, told } = await resolveOwner(customers, chosen)
  const addition = await addEntries(customers.changes, owner, chosen.list, entries)
  if (addition.kind !== "added") throw new CommandError(ADD_REFUSALS[addition.kind])
  const { addedCount, presentCount } = addition
  if (asJson) return printJson(output, { ...told, added: addedCount, already_there: presentCount })
  const already = presentCount === 0 ? "" : `; ${entryCount(presentCount)} already there`
  output.line(`${entryCount(addedCount)} added to ${whose}${already}.`)
}

const ADD_REFUSALS = {
  too_many: `Nothing was added. Both lists together can have ${LIMITS.ownListEntriesMax} entries.`,
  unknown_account: "The account was deleted a moment ago.",
} as const

/** `block remove ENTRY... [--account EMAIL]`: a failure when none of them was on the list. */
async function ownListRemove(
  output: Output,
  customers: CustomerCommandDeps,
  chosen: ListSelection,
  texts: readonly string[],
  asJson: boolean,
): Promise<void> {
  const entries = parseEntries(texts)
  const { owner, whose, told } = await resolveOwner(customers, chosen)
  const { removedCount, absentCount } = await removeEntries(customers.changes, owner, chosen.list, entries)
  if (removedCount === 0) throw new CommandError(`Nothing was removed. These entries are not on ${whose}.`)
  if (asJson) return printJson(output, { ...told, removed: removedCount, not_there: absentCount })
  const absent = absentCount === 0 ? "" : `; ${entryCount(absentCount)} not there`
  output.line(`${entryCount(removedCount)} removed from ${whose}${absent}.`)
}

/** `block list [--account EMAIL]`: one entry a line, in the form that `remove` takes. */
async function ownListShow(
  output: Output,
  customers: CustomerCommandDeps,
  chosen: ListSelection,
  asJson: boolean,
): Promise<void> {
  const { owner, whose } = await resolveOwner(customers, chosen)
  const entries = await allEntries(customers, owner, chosen.list)
  if (asJson)
    return printJson(
      output,
      entries.map(({ storedText, kind, domain, addedAtMs }) => ({
        entry: storedText,
        kind,
        domain,
        added_at: new Date(addedAtMs).toISOString(),
      })),
    )
  if (entries.length === 0) return output.line(`There are no entries on ${whose}.`)
  printTable(
    output,
    entries.map(({ storedText, kind, domain }) => [storedText, kind === "address" ? `(an address at ${domain})` : ""]),
  )
}

async function allEntries(
  { changes }: CustomerCommandDeps,
  owner: ListOwner,
  list: OwnList,
): Promise<DatedOwnListEntry[]> {
  const entries: DatedOwnListEntry[] = []
  for (;;) {
    const page = await listEntries(changes.store, owner, list, entries.at(-1)?.storedText ?? "", PAGE_SIZE)
    entries.push(...page)
    if (page.length < PAGE_SIZE) return entries
  }
}

/** An invalid entry is named by its position, because its text may be an address. */
function parseEntries(texts: readonly string[]): LabelledEntry[] {
  return texts.map((text, at) => {
    const entry = parseLabelledEntry(text, parseAddressOrDomain, null)
    if (entry !== null) return entry
    throw new CommandError(
      `Nothing was changed. Entry ${at + 1} is not an address, a domain or "*.domain". For a whole top level, write "*.zip".`,
      2,
    )
  })
}

/** The owner of the list: for the store, in words, and for JSON output. */
async function resolveOwner(customers: CustomerCommandDeps, { list, account }: ListSelection) {
  if (account === null) {
    const owner: ListOwner = OPERATOR
    return { owner, whose: `the operator's ${list} list`, told: { list, account } }
  }
  const { id, email } = await accountByEmail(customers, account)
  const owner: ListOwner = { accountId: id }
  return { owner, whose: `the ${list} list of ${email}`, told: { list, account: email } }
}

const entryCount = (count: number): string => `${count} ${count === 1 ? "entry" : "entries"}`
