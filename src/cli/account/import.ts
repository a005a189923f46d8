import type { Command } from "commander"
import { TIER_MAX } from "../../contract/tiers.ts"
import {
  type AccountImport,
  IMPORTED_ACCOUNTS_MAX,
  type ImportRefusal,
  importAccounts,
} from "../../customers/accounts/import.ts"
import { currentTermsVersion } from "../../customers/terms/terms.ts"
import { parseRecords } from "../../rows/csv-reader.ts"
import { CommandError, JSON_FLAG, type LineFault, type Output, printJson } from "../output.ts"
import type { ReadInput } from "../own-lists.ts"
import { ACCOUNT_REFUSALS, type CustomerCommandDeps, type WithCustomers } from "./accounts.ts"

/** The longest file. */
const FILE_BYTES_MAX = 4 * 1_048_576

/** Registers `account import`. */
export function registerAccountImport(
  group: Command,
  output: Output,
  withCustomers: WithCustomers,
  readInput: ReadInput,
): void {
  group
    .command("import")
    .description(
      "Create an account for each row of a CSV file, or none if a row is wrong. It has a header with `email` and, if tiers differ, `tier`.",
    )
    .argument("<file>", "the file, or - for the standard input")
    .option("--dry-run", "only say what would be done", false)
    .option(...JSON_FLAG, false)
    .action(async (path: string, { dryRun, json: asJson }: { dryRun: boolean; json: boolean }) => {
      const file = await readInput(path, FILE_BYTES_MAX)
      if (file.kind === "unreadable") throw new CommandError(`Nothing was created. Cannot read the file: ${file.why}.`)
      const table = parseTable(file.text)
      await withCustomers(deps => accountImport(output, deps, table, dryRun, asJson))
    })
}

/** A row: its line, and its cells. */
type Row = { readonly line: number; readonly email: string; readonly tier: string }

/** The rows of a file, and the lines of which nothing can be read. */
type Table = { readonly rows: readonly Row[]; readonly faults: readonly LineFault[] }

const DELIMITERS = [",", ";", "\t"] as const

function parseTable(text: string): Table {
  const lines = text.replace(/^\uFEFF/, "").split("\n")
  const delimiter = DELIMITERS.find(each => lines[0]?.includes(each)) ?? ","
  const records = parseRecords(
    lines.map(line => ({ text: line, isTooLong: false })),
    delimiter,
  )
  const [header, ...others] = records
  const names = (header?.cells ?? []).map(name => name.trim().toLowerCase())
  assertHeader(names)
  const rows: Row[] = []
  const faults: LineFault[] = []
  let line = (header?.lineCount ?? 0) + 1
  for (const { cells, fault, lineCount } of others) {
    const isBlank = cells.every(cell => cell.trim() === "")
    if (fault !== null) faults.push({ line, detail: "A quote is not closed, or text follows a closed one." })
    else if (!isBlank && cells.length !== names.length)
      faults.push({ line, detail: `There are ${cells.length} cells, and ${names.length} columns.` })
    else if (!isBlank) {
      const cell = (name: string): string => cells[names.indexOf(name)]?.trim() ?? ""
      rows.push({ line, email: cell("email"), tier: cell("tier") })
    }
    line += lineCount
  }
  const count = rows.length + faults.length
  if (count === 0) throw new CommandError("Nothing was created. The file has no row besides its header.", 2)
  if (count > IMPORTED_ACCOUNTS_MAX)
    throw new CommandError(
      `Nothing was created. The file has ${count} rows. At most ${IMPORTED_ACCOUNTS_MAX} are imported at once.`,
      2,
    )
  return { rows, faults }
}

/** A column with another name may be one that was misspelt, so it is refused. */
function assertHeader(names: readonly string[]): void {
  const isKnown = names.every((name, at) => ["email", "tier"].includes(name) && names.indexOf(name) === at)
  if (isKnown && names.includes("email")) return
  throw new CommandError(
    "Nothing was created. The first line must name the columns: `email`, or `email,tier`, and no others.",
    2,
  )
}

/** `account import FILE [--dry-run]`: all rows or none. */
async function accountImport(
  output: Output,
  { changes, random, defaultTier }: CustomerCommandDeps,
  { rows, faults }: Table,
  isDryRun: boolean,
  asJson: boolean,
): Promise<void> {
  const termsVersion = await currentTermsVersion(changes.store)
  const accounts = rows.map(({ email, tier }) => ({
    ...{ email, termsVersion },
    tier: tier === "" ? defaultTier : /^\d$/.test(tier) ? Number(tier) : Number.NaN,
  }))
  // With lines that cannot be read, the others are only tried, so that all that is wrong is told at once.
  const result = await importAccounts(changes, random, accounts, isDryRun || faults.length > 0)
  const wrong = [...faults, ...refusedLines(rows, result)].toSorted((one, other) => one.line - other.line)
  if (wrong.length > 0 || result.kind !== "imported") throw refusal(wrong, rows.length + faults.length)
  if (asJson)
    return printJson(output, {
      dry_run: isDryRun,
      created: isDryRun ? 0 : result.accounts.length,
      accounts: result.accounts.map(({ id, email, tier }, at) => ({
        ...{ line: rows[at]?.line ?? 0, id: isDryRun ? null : id, email, tier },
      })),
    })
  const count = `${result.accounts.length} ${result.accounts.length === 1 ? "account" : "accounts"}`
  output.line(isDryRun ? `${count} can be created. Nothing was created.` : `${count} created.`)
}

const refusal = (wrong: readonly LineFault[], count: number): CommandError =>
  new CommandError(
    `Nothing was created. ${wrong.length} of ${count} rows ${wrong.length === 1 ? "is" : "are"} wrong:`,
    2,
    wrong,
  )

function refusedLines(rows: readonly Row[], result: AccountImport): readonly LineFault[] {
  if (result.kind === "imported") return []
  const lineOf = (index: number): number => rows[index]?.line ?? 0
  return result.refusals.map(refused => ({ line: lineOf(refused.index), detail: describeRefusal(refused, lineOf) }))
}

function describeRefusal(refused: ImportRefusal, lineOf: (index: number) => number): string {
  if (refused.kind === "repeated") return `Line ${lineOf(refused.firstIndex)} has the same email.`
  if (refused.kind === "unknown_tier") return `A tier is a number from 0 to ${TIER_MAX}.`
  return ACCOUNT_REFUSALS[refused.kind]
}
