import { type Command, InvalidArgumentError, Option } from "commander"
import {
  POLICY_DEFAULT,
  POLICY_NAMES,
  type Policy,
  RECOMMENDATIONS,
  type Recommendation,
} from "../../contract/policies.ts"
import { commandDuplicates } from "../../rows/duplicates.ts"
import { FILE_FORMATS } from "../../rows/file-format.ts"
import { defaultMemoryMb } from "../../rows/garbage-collector.ts"
import type { ReadingPlan } from "../../rows/reading-plan.ts"
import { NO_EXTRAS } from "../../rows/result-format.ts"
import type { OpenCheck } from "../check.ts"
import { formatCount, JSON_FLAG, type Output, printJson, printTable } from "../output.ts"
import { addServerOptions, readServerTarget, type ServerFlags } from "../server.ts"
import { CleanTally, cleanFormat } from "./clean-format.ts"
import { addReadingOptions, parseEncoding, parseReadingOptions, type ReadingFlags } from "./reading-options.ts"
import { type ClassifyDeps, classify } from "./run.ts"
import type { ClassifySummary } from "./summary.ts"
import { fileInWords, printProblems, printWarnings } from "./summary-text.ts"

type Flags = ReadingFlags &
  ServerFlags & {
    readonly out: string
    readonly keep: readonly Recommendation[]
    readonly keepDuplicates: boolean
    readonly dropped?: string
    readonly policy: Policy
    readonly offline: boolean
    readonly json: boolean
  }

/** Registers `clean FILE -o OUT`. */
export function registerClean(root: Command, output: Output, openCheck: OpenCheck, deps: ClassifyDeps): void {
  const command = addReadingOptions(root.command("clean"))
    .summary("Keep the rows of a list that may stay.")
    .description(DESCRIPTION)
    .argument("<file>", "a file, or - for standard input")
    .requiredOption("-o, --out <file>", "the file for the rows that stay, or - for the standard output")
    .addOption(
      new Option("--keep <recommendations>", "the recommendations whose rows stay, with commas")
        .argParser(parseKeep)
        .default(["allow", "review"], "allow,review"),
    )
    .option("--dropped <file>", "write the rows that are left out to a file, as they are")
    .option("--keep-duplicates", "keep further rows of the same mailbox", false)
    .addOption(
      new Option("--format <format>", "the format of the file, if its name does not show it").choices(FILE_FORMATS),
    )
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--offline", "use no network", false)
    .option("--force", "replace the file of --out, and read a list in which nothing looks like an address", false)
    .option(...JSON_FLAG, false)
  addServerOptions(command).action(async (path: string, flags: Flags) => {
    const server = readServerTarget(flags, flags.offline)
    const out = flags.out === "-" ? null : flags.out
    const tally = new CleanTally()
    const rule = { keep: new Set(flags.keep), duplicates: flags.keepDuplicates ? null : commandDuplicates(deps.memory) }
    const summary = await classify(deps, await openCheck(flags.offline, server), {
      path,
      reading: parseReadingOptions(path, flags),
      to: null,
      hasSafeCells: false,
      extras: NO_EXTRAS,
      makeFormat: (plan, encoding) => cleanFormat(withMark(plan, encoding), rule, tally),
      encoding: parseEncoding(flags.encoding),
      policy: flags.policy,
      sheet: flags.sheet ?? null,
      ...{ isOffline: flags.offline, isCharged: server !== null },
      target: { out, mode: flags.force ? "over" : "new", aside: flags.dropped ?? null, canResume: false },
      // Duplicates are told by one process, which has seen all rows before.
      jobCount: 1,
      memoryMb: defaultMemoryMb(deps.memory),
    })
    // The standard output holds nothing but rows.
    const told = out === null ? { ...output, line: output.stderrLine } : output
    const cleaned = cleanSummary(summary, tally)
    if (flags.json) printJson(told, cleaned)
    else printCleaned(told, cleaned)
  })
}

function parseKeep(named: string): readonly Recommendation[] {
  const wanted = named.split(",").map(name => name.trim())
  const known = RECOMMENDATIONS.filter(name => wanted.includes(name))
  if (known.length === wanted.length) return known
  throw new InvalidArgumentError(`--keep has some of ${RECOMMENDATIONS.join(", ")}, each once, separated by commas.`)
}

const DESCRIPTION = `Keep the rows of a list that may stay.

The file is written again as it is: with its columns, delimiter, header and the
lines above it, in UTF-8. A spreadsheet becomes CSV, and a JSON array NDJSON. Its
addresses are cleaned: \`Jane <jane@acme.com>\` becomes jane@acme.com. Left out are
rows whose recommendation is none of --keep, rows without an address, and further
rows of the same mailbox. --dropped writes these to a file of their own, as they
are. Of a cell with several addresses the first stays. \`classify\` says why of
each row.`

/** The plan with a byte order mark for a table in another encoding than UTF-8: a spreadsheet wrote it, and takes UTF-8 without one for that again. */
const withMark = (plan: ReadingPlan, encoding: string | null): ReadingPlan =>
  plan.format === "csv" && encoding !== null && encoding !== "utf-8"
    ? { ...plan, columns: { ...plan.columns, hasMark: true } }
    : plan

/** The JSON summary of a run. */
type CleanSummary = ClassifySummary & {
  /** Rows that stayed. */
  readonly kept_rows: number
  /** Rows that were left out for their recommendation, and as further rows of the same mailbox. */
  readonly dropped: Readonly<Record<Recommendation, number>>
  readonly duplicates: number
  /** The rows that were left out for their recommendation, by the reasons for it, the most first. */
  readonly dropped_by: Readonly<Record<string, number>>
}

const cleanSummary = (
  summary: ClassifySummary,
  { kept, dropped, droppedFor, duplicates, isCutOff }: CleanTally,
): CleanSummary => ({
  ...summary,
  ...{ kept_rows: kept, dropped, duplicates, duplicates_cut_off: isCutOff },
  dropped_by: Object.fromEntries(Object.entries(droppedFor).sort(([, one], [, other]) => other - one)),
})

function printCleaned(output: Output, summary: CleanSummary): void {
  const { results, kept_rows, seconds, dropped_by: by, duplicates, skipped, cleaned, several, wide, units } = summary
  output.line(`${formatCount(kept_rows)} of ${formatCount(results)} rows stay, after ${seconds} s`)
  const rows: readonly (readonly [string, number])[] = [
    ...Object.entries(by).map(([reason, count]) => [`left out: ${reason}`, count] as const),
    ["left out: duplicates", duplicates],
    ["left out: without an input", skipped],
    ["cleaned", cleaned],
    ["with several addresses, of which the first stays", several],
    ["with more cells than the file has columns", wide],
    ["units", units ?? 0],
  ]
  printTable(
    output,
    rows.filter(([, count]) => count > 0).map(([name, count]) => [`  ${name}`, formatCount(count)]),
  )
  if (summary.file !== null) output.line(fileInWords(summary.file))
  printProblems(output, summary.problems)
  printWarnings(output, summary)
}
