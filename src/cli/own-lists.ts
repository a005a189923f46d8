import { type Command, Option } from "commander"
import { namesOfLine } from "../base/name-lines.ts"
import type { Clock } from "../base/outside-world.ts"
import type { TextFile } from "../base/text-file.ts"
import { parseAddressOrDomain } from "../check/address/parse-subject.ts"
import type { Mailkind } from "../client/client.ts"
import { LIMITS } from "../contract/limits.ts"
import { parseLabelledEntry } from "../customers/own-lists/entries.ts"
import { OWN_LISTS, type OwnList } from "../customers/own-lists/own-lists.ts"
import type { WithCustomers } from "./account/accounts.ts"
import { addTimeOptions, containsText, isWithin, type TimeFlags } from "./list-options.ts"
import { CommandError, collect, type Output, printJson, printTable } from "./output.ts"
import { type ListPlace, type NamedEntry, serverListPlace, storedListPlace } from "./own-list-places.ts"
import { addServerOptions, readServerTarget, type ServerFlags, type ServerTarget } from "./server.ts"

/** What the commands of own lists need. */
export type OwnListCommandDeps = {
  readonly output: Output
  readonly withCustomers: WithCustomers
  readonly readInput: ReadInput
  readonly clock: Clock
  readonly openServer: (server: ServerTarget) => Promise<Mailkind>
}

/** The options of every command. Without an account and a server it is about the operator's list. */
type ListFlags = ServerFlags & { readonly account?: string; readonly json: boolean }
type ShowFlags = ListFlags & TimeFlags & { readonly search?: string; readonly kind?: (typeof ENTRY_KINDS)[number] }
type ChangeFlags = ListFlags & { readonly from: readonly string[] }

const ENTRY_KINDS = ["address", "domain", "subdomains"] as const

/** Registers `block` and `allow` with their commands. */
export function registerOwnListCommands(root: Command, deps: OwnListCommandDeps): void {
  for (const list of OWN_LISTS) {
    const group = root
      .command(list)
      .description(`The ${list} list of the operator, of an account, or of the account of a key of a server.`)
    const command = (name: string, says: string) =>
      addServerOptions(
        group
          .command(name)
          .description(says)
          .option("--account <account>", "the account of the list, by its email or id, default the operator"),
      ).option("--json", "print JSON", false)
    const about = `an address, a domain with its subdomains, or "*.domain" for the subdomains only`
    const withEntries = (name: string, says: string, argument: string, act: typeof addToList) =>
      command(name, says)
        .argument("[entry...]", `${argument}; "-" reads them from the standard input`)
        .option(
          "--from <path>",
          "read entries from a file, or from all files of a directory, one per line",
          collect,
          [],
        )
        .action(async (texts: readonly string[], { from, ...flags }: ChangeFlags) => {
          const named = await allEntryTexts(texts, from, deps.readInput)
          await withPlace(deps, list, flags, place => act(deps.output, place, parseEntries(named), flags.json))
        })
    withEntries("add", "Add entries to the list.", about, addToList)
    withEntries("remove", "Remove entries from the list.", `${about}, or as \`${list} list\` shows it`, removeFromList)
    addTimeOptions(command("list", "Show the list. It has only hashes of addresses."))
      .option("--search <text>", "only entries with this text, or of a domain with it")
      .addOption(new Option("--kind <kind>", "only entries of this kind").choices(ENTRY_KINDS))
      .action((flags: ShowFlags) => withPlace(deps, list, flags, place => showList(deps, place, flags)))
  }
}

/** Does work with the list that the options name: of a server, or of this machine. */
async function withPlace(
  { openServer, withCustomers }: OwnListCommandDeps,
  list: OwnList,
  { account, ...flags }: ListFlags,
  work: (place: ListPlace) => Promise<void>,
): Promise<void> {
  const server = readServerTarget(flags, false)
  if (server === null)
    return await withCustomers(async customers => work(await storedListPlace(customers, list, account ?? null)))
  if (account !== undefined)
    throw new CommandError("Leave out --account. The key of --key-file says whose list it is.", 2)
  await work(serverListPlace(await openServer(server), server.url, list))
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

/** `block add ENTRY...`: all entries or none. */
async function addToList(
  output: Output,
  { add, whose, told }: ListPlace,
  entries: readonly NamedEntry[],
  asJson: boolean,
): Promise<void> {
  const { changed, unchanged } = await add(entries)
  if (asJson) return printJson(output, { ...told, added: changed, already_there: unchanged })
  const already = unchanged === 0 ? "" : `; ${entryCount(unchanged)} already there`
  output.line(`${entryCount(changed)} added to ${whose}${already}.`)
}

/** `block remove ENTRY...`: a failure when none of them was on the list. */
async function removeFromList(
  output: Output,
  { remove, whose, told }: ListPlace,
  entries: readonly NamedEntry[],
  asJson: boolean,
): Promise<void> {
  const { changed, unchanged } = await remove(entries)
  if (changed === 0) throw new CommandError(`Nothing was removed. These entries are not on ${whose}.`)
  if (asJson) return printJson(output, { ...told, removed: changed, not_there: unchanged })
  const absent = unchanged === 0 ? "" : `; ${entryCount(unchanged)} not there`
  output.line(`${entryCount(changed)} removed from ${whose}${absent}.`)
}

/** `block list`: one entry a line, in the form that `remove` takes. */
async function showList(
  { output, clock }: OwnListCommandDeps,
  { entries: read, whose }: ListPlace,
  { search, kind, json: asJson, ...times }: ShowFlags,
): Promise<void> {
  const isInTime = isWithin(times, clock())
  const entries = (await read()).filter(
    each =>
      (kind === undefined || each.kind === kind) &&
      (containsText(each.entry, search) || containsText(each.domain, search)) &&
      isInTime(Date.parse(each.added_at)),
  )
  if (asJson) return printJson(output, entries)
  if (entries.length === 0) return output.line(`There are no entries on ${whose}.`)
  printTable(
    output,
    entries.map(({ entry, kind, domain }) => [entry, kind === "address" ? `(an address at ${domain})` : ""]),
  )
}

/** An invalid entry is named by its position, because its text may be an address. */
function parseEntries(texts: readonly NamedText[]): readonly NamedEntry[] {
  const parsed = texts.map(({ name, text }) => ({
    name,
    text,
    entry: parseLabelledEntry(text, parseAddressOrDomain, null),
  }))
  const [first, ...others] = parsed.filter(({ entry }) => entry === null)
  if (first === undefined) return parsed.flatMap(({ text, entry }) => (entry === null ? [] : [{ text, entry }]))
  const more = others.length === 0 ? "" : ` ${others.length} more ${others.length === 1 ? "is" : "are"} not either.`
  throw new CommandError(
    `Nothing was changed. ${first.name} is not an address, a domain or "*.domain".${more} For a whole top level, write "*.zip".`,
    2,
  )
}

const entryCount = (count: number): string => `${count} ${count === 1 ? "entry" : "entries"}`
