import { type Command, Option } from "commander"
import { POLICY_DEFAULT, POLICY_NAMES } from "../../contract/policies.ts"
import type { CheckCommandDeps } from "../check.ts"
import { CommandError, type Output, printJson, printTable } from "../output.ts"
import { FILE_FORMATS, resolveFormats } from "./result-format.ts"
import type { ResultsTarget } from "./results-writer.ts"
import { type ClassifyDeps, classify } from "./run.ts"
import { type ClassifySummary, formatSummary } from "./summary.ts"

/** Registers `classify FILE|-`. */
export function registerClassify(
  root: Command,
  output: Output,
  checker: (isOffline: boolean) => Promise<CheckCommandDeps>,
  deps: ClassifyDeps,
): void {
  root
    .command("classify")
    .summary("Check every line of a file of any size, in order.")
    .description(DESCRIPTION)
    .argument("<file>", "a file, or - for standard input")
    .addOption(
      new Option(
        "--format <format>",
        "format of the results, and of the input if the file's name does not show it",
      ).choices(FILE_FORMATS),
    )
    .option("--column <name>", "the CSV column or NDJSON member with the input")
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--offline", "use no network", false)
    .option("--out <file>", "write the results to a file")
    .addOption(new Option("--resume", "continue an interrupted run in --out").default(false).conflicts("force"))
    .option("--force", "replace the file of --out", false)
    .option(
      "--safe-cells",
      "in csv results, put an apostrophe before cells that a spreadsheet would run as formulas",
      false,
    )
    .option("--json", "print the summary as JSON", false)
    .action(async (path, options) => {
      const { format = null, column = null, policy, offline, out, resume, force, safeCells, json: asJson } = options
      const target = parseTarget(out ?? null, resume, force)
      const formats = resolveFormats(path, format)
      if (column !== null && formats.from === "text")
        throw new CommandError("Text has no columns. Use --column with csv and ndjson.", 2)
      if (safeCells && formats.to !== "csv")
        throw new CommandError("Only csv has cells. Use --safe-cells with csv results.", 2)
      const job = { path, ...formats, hasSafeCells: safeCells, column, policy, target }
      printSummary(output, await classify(deps, await checker(offline), job), {
        asJson,
        isOutFree: target.out !== null,
      })
    })
}

/** `--out -` is the standard output, as `-` is the standard input. */
function parseTarget(named: string | null, isResumed: boolean, isForced: boolean): ResultsTarget {
  const out = named === "-" ? null : named
  if (out === null && (isResumed || isForced)) {
    throw new CommandError(`--${isResumed ? "resume" : "force"} needs --out.`, 2)
  }
  return { out, mode: isResumed ? "resume" : isForced ? "over" : "new" }
}

const DESCRIPTION = `Check every line of a file of any size, in order.

Inputs are UTF-8, each an address, a URL or a domain:
  text    one per line
  csv     in the column that --column names, else email, domain or url,
          else the only one
  ndjson  a string per line, or an object with email, domain or url, or with
          the member that --column names
The name of a file shows its format: .csv, .tsv, .ndjson or .jsonl. --format
names it for other files and for the standard input; the default is text. A
line that is longer than 64 KiB or cannot be read is invalid. The run continues.

Results, one for each input:
  text    input, category, confidence, recommendation and reasons (with
          commas), between tabs
  csv     all columns of the file, then category, confidence, recommendation,
          is_business, did_you_mean, reasons (with spaces) and degraded
  ndjson  what the API answers; request_id has the number of the line
In csv all cells stay as they are in the file. A spreadsheet runs a cell as a
formula if it begins with = + - @, a tab or a carriage return. --safe-cells
puts an apostrophe before it.
The summary goes to the standard error; with --out and --json, to the standard
output. An interrupted run continues with the same command and --resume, even
one that was killed.`

function printSummary(
  output: Output,
  summary: ClassifySummary,
  { asJson, isOutFree }: { asJson: boolean; isOutFree: boolean },
): void {
  // The standard output holds nothing but results.
  const aside: Output = { ...output, line: output.stderrLine }
  if (asJson) {
    printJson(isOutFree ? output : aside, summary)
    return
  }
  const { says, rows } = formatSummary(summary)
  aside.line(says)
  printTable(aside, rows)
}
