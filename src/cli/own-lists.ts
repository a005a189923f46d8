import type { Command } from "commander"
import { namesOfLine } from "../base/name-lines.ts"
import type { TextFile } from "../base/text-file.ts"
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
import { CommandError, collect, type Output, printJson, printTable } from "./output.ts"

/** The list of a command. `account` null: the operator's. */
type ListSelection = { readonly list: OwnList; readonly account: string | null }

const PAGE_SIZE = 500

/** Registers `block` and `allow` with their commands. */
export function registerOwnListCommands(
  root: Command,
  output: Output,
  withCustomers: WithCustomers,
  readInput: ReadInput,
): void {
  for (const list of OWN_LISTS) {
    const group = root.command(list).description(`The ${list} list of the operator or of an account.`)
    const command = (name: string, says: string) =>
      group
        .command(name)
        .description(says)
        .option("--account <email>", "the account of the list, default the operator")
        .option("--json", "print JSON", false)
    const about = `an address, a domain with its subdomains, or "*.domain" for the subdomains only`
    const withEntries = (name: string, says: string, argument: string, act: typeof ownListAdd) =>
      command(name, says)
        .argument("[entry...]", `${argument}; "-" reads them from the standard input`)
        .option(
          "--from <path>",
          "read entries from a file, or from all files of a directory, one per line",
          collect,
          [],
        )
        .action(async (texts: readonly string[], { account = null, from, json: asJson }) => {
          const named = await allEntryTexts(texts, from, readInput)
          await withCustomers(deps => act(output, deps, { list, account }, named, asJson))
        })
    withEntries("add", "Add entries to the list.", about, ownListAdd)
    withEntries("remove", "Remove entries from the list.", `${about}, or as \`${list} list\` shows it`, ownListRemove)
    command("list", "Show the list. It has only hashes of addresses.").action(({ account = null, json: asJson }) =>
      withCustomers(deps => ownListShow(output, deps, { list, account }, asJson)),
    )
  }
}

/** Reads the standard input ("-"), a file, or all files of a directory. */
export type ReadInput = (path: string, bytesMax: number) => Promise<TextFile>

/** The text of an entry, and how an error calls it: the text itself may be an address. */
type NamedText = { readonly name: string; readonly text: string }

/** Four times what the longest list takes: lines may have comments. */
const INPUT_BYTES_MAX = LIMITS.ownListEntriesMax * LIMITS.addressBytesMax * 4

/** The entries of the arguments, of the standard input in the place of "-", and of the files. */
async function allEntryTexts(
  texts: readonly string[],
  from: readonly string[],
  readInput: ReadInput,
): Promise<readonly NamedText[]> {
  if (texts.filter(text => text === STDIN).length > 1) throw new CommandError("Name `-` once.", 2)
  const parts = texts.map(async (text, at) =>
    text === STDIN ? await linesOf(text, readInput) : [{ name: `Entry ${at + 1}`, text }],
  )
  for (const path of from) parts.push(linesOf(path, readInput))
  const named = (await Promise.all(parts)).flat()
  if (named.length === 0) throw new CommandError("There is no entry. Name some, or use `-` or `--from`.", 2)
  return named
}

const STDIN = "-"

/** One entry a line, as people and other programs write them. Empty lines and remarks do not count. */
async function linesOf(path: string, readInput: ReadInput): Promise<readonly NamedText[]> {
  const file = await readInput(path, INPUT_BYTES_MAX)
  if (file.kind === "unreadable") throw new CommandError(`Nothing was changed. Cannot read the entries: ${file.why}.`)
  return file.text
    .split(/\r\n|\r|\n/)
    .flatMap((line, at) => (namesOfLine(line) ?? [line]).map(text => ({ name: `Line ${at + 1}`, text })))
}

/** `block add ENTRY... [--account EMAIL]`: all entries or none. */
async function ownListAdd(
  output: Output,
  customers: CustomerCommandDeps,
  chosen: ListSelection,
  texts: readonly NamedText[],
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
  texts: readonly NamedText[],
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
function parseEntries(texts: readonly NamedText[]): LabelledEntry[] {
  const parsed = texts.map(({ name, text }) => ({ name, entry: parseLabelledEntry(text, parseAddressOrDomain, null) }))
  const [first, ...others] = parsed.filter(({ entry }) => entry === null)
  if (first === undefined) return parsed.flatMap(({ entry }) => entry ?? [])
  const more = others.length === 0 ? "" : ` ${others.length} more ${others.length === 1 ? "is" : "are"} not either.`
  throw new CommandError(
    `Nothing was changed. ${first.name} is not an address, a domain or "*.domain".${more} For a whole top level, write "*.zip".`,
    2,
  )
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
