import { type Command, InvalidArgumentError, Option } from "commander"
import { POLICY_DEFAULT, POLICY_NAMES, type Policy } from "../../contract/policies.ts"
import { parseResultColumns, RESULT_COLUMNS_RULE, type ResultColumn } from "../../contract/result-columns.ts"
import { FILE_FORMATS } from "../../rows/file-format.ts"
import { defaultMemoryMb, MEMORY_MB, type ProcessMemory, processesWithin } from "../../rows/garbage-collector.ts"
import type { OpenCheck } from "../check.ts"
import { CommandError, type Output, printJson } from "../output.ts"
import { addServerOptions, readServerTarget, type ServerFlags } from "../server.ts"
import { serveBlocks, type WorkerDeps } from "./parallel/block-worker.ts"
import { addReadingOptions, parseEncoding, parseReadingOptions, type ReadingFlags } from "./reading-options.ts"
import type { ResultsTarget } from "./results-writer.ts"
import { type ClassifyDeps, type ClassifyJob, classify } from "./run.ts"
import type { ClassifySummary } from "./summary.ts"
import { printRunSummary } from "./summary-text.ts"

/** Registers `classify FILE|-`. */
export function registerClassify(
  root: Command,
  output: Output,
  openCheck: OpenCheck,
  deps: ClassifyDeps,
  coreCount = 1,
): void {
  const command = addReadingOptions(root.command("classify"))
    .summary("Check every line of a file of any size, in order.")
    .description(DESCRIPTION)
    .argument("<file>", "a file, or - for standard input")
    .addOption(
      new Option(
        "--format <format>",
        "format of the results, and of the input if the file's name does not show it",
      ).choices(FILE_FORMATS),
    )
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--offline", "use no network", false)
    .option("--out <file>", "write the results to a file")
    .addOption(new Option("--resume", "continue an interrupted run in --out").default(false).conflicts("force"))
    .option("--force", "replace the file of --out, and read a list in which nothing looks like an address", false)
    .option("--safe-cells", "in CSV results, make cells that look like formulas safe to open in a spreadsheet", false)
    .option("--columns <names>", "the columns of csv results, with commas (default: those below)", parseColumns)
    .option("--canonical", "add canonical_email to csv results: the mailbox behind an address", false)
    .option("--duplicates", "add duplicate_of: the number of the first row with the same mailbox", false)
    .option("--jobs <n>", "how many processes work at once (default: one for each core, as far as there is memory)")
    .option(
      "--memory <megabytes>",
      `how much memory each process may have (default: ${MEMORY_MB.default}, less where there is little)`,
    )
    .option("--json", "print the summary as JSON", false)
  addServerOptions(command).action(async (path: string, options: Flags & { readonly json: boolean }) => {
    const server = readServerTarget(options, options.offline)
    // One process keeps a server busy.
    const job = {
      ...parseJob(path, options, coreCount, deps.memory),
      ...(server !== null && { jobCount: 1, isCharged: true }),
    }
    printSummary(output, await classify(deps, await openCheck(options.offline, server), job), {
      asJson: options.json,
      isOutFree: job.target.out !== null,
    })
  })
}

type Flags = ReadingFlags &
  ServerFlags & {
    readonly policy: Policy
    readonly offline: boolean
    readonly out?: string
    readonly resume: boolean
    readonly safeCells: boolean
    readonly columns?: readonly ResultColumn[]
    readonly canonical: boolean
    readonly duplicates: boolean
    readonly jobs?: string
    readonly memory?: string
  }

function parseJob(path: string, flags: Flags, coreCount: number, memory: ProcessMemory): ClassifyJob {
  const memoryMb = flags.memory === undefined ? defaultMemoryMb(memory) : parseMemory(flags.memory)
  const target = parseTarget(flags.out ?? null, flags.resume, flags.force)
  return {
    path,
    reading: parseReadingOptions(path, { ...flags, force: flags.force || flags.resume }),
    to: flags.format ?? null,
    hasSafeCells: flags.safeCells,
    extras: { tellsCanonical: flags.canonical, tellsDuplicates: flags.duplicates, columns: flags.columns ?? null },
    makeFormat: null,
    encoding: parseEncoding(flags.encoding),
    sheet: flags.sheet ?? null,
    policy: flags.policy,
    isOffline: flags.offline,
    isCharged: false,
    target,
    jobCount: parseJobs(flags.jobs ?? null, Math.min(coreCount, processesWithin(memoryMb, memory))),
    memoryMb,
  }
}

function parseColumns(named: string): readonly ResultColumn[] {
  const columns = parseResultColumns(named)
  if (columns === null) throw new InvalidArgumentError(`--columns has ${RESULT_COLUMNS_RULE}.`)
  return columns
}

/** More processes than this help no machine. */
const JOBS_MAX = 64

function parseJobs(named: string | null, usualCount: number): number {
  if (named === null) return Math.min(usualCount, JOBS_MAX)
  const count = /^\d+$/.test(named) ? Number(named) : 0
  if (count >= 1 && count <= JOBS_MAX) return count
  throw new CommandError(`--jobs is a number from 1 to ${JOBS_MAX}.`, 2)
}

function parseMemory(named: string): number {
  const megabytes = /^\d{1,6}$/.test(named) ? Number(named) : 0
  if (megabytes >= MEMORY_MB.least && megabytes <= MEMORY_MB.most) return megabytes
  throw new CommandError(`--memory is a number of megabytes from ${MEMORY_MB.least} to ${MEMORY_MB.most}.`, 2)
}

/** The command of a worker process. */
export const WORKER_COMMAND = "classify-worker"

/** Registers the command of worker processes. */
export function registerClassifyWorker(root: Command, deps: WorkerDeps & Pick<ClassifyDeps, "stopSignal">): void {
  root.command(WORKER_COMMAND, { hidden: true }).action(async () => {
    // A terminal sends Ctrl-C to all its processes. The process that started this one decides what happens.
    void deps.stopSignal()
    await serveBlocks(deps)
  })
}

/** `--out -` is the standard output, as `-` is the standard input. */
function parseTarget(named: string | null, isResumed: boolean, isForced: boolean): ResultsTarget {
  const out = named === "-" ? null : named
  if (out === null && isResumed) throw new CommandError("--resume needs --out.", 2)
  return { out, mode: isResumed ? "resume" : isForced ? "over" : "new", aside: null, canResume: out !== null }
}

const DESCRIPTION = `Check every line of a file of any size, in order.

Each input is an address, a URL or a domain:
  text    one per line
  csv     in one column of a table. Delimiter, header, lines above it and
          column are found in the first 64 KB: the column by its name
          (Email, E-Mail Address, Domain, Website) or by what is in it.
          --delimiter, --skip, --no-header and --column name them
  ndjson  a string per line, or an object with email, domain or url, or with
          the member that --column names
The name of a file shows its format: .csv, .tsv, .ndjson, .jsonl or .json, also
with .gz after it. --format names it for other files and for the standard
input; else it is found. Spreadsheets (.xlsx) and archives (.zip) of one file
are read too. So is the encoding found: by a byte order mark, else UTF-8 if it
is valid, else windows-1252. --encoding names another one.
Results are UTF-8. A file in which nothing looks like an input is refused;
--force reads it all the same.
A cell such as Jane <jane@acme.com>, mailto:jane@acme.com or "jane@acme.com,"
is cleaned, and of several addresses the first is checked. Results say so. Rows
without an input (empty, N/A, none) are skipped. A line that is longer than
64 KiB or cannot be read is invalid. The run continues.

Results, one for each input:
  text    input, category, confidence, recommendation and reasons (with
          commas), between tabs; then what was checked of a cleaned input
  csv     the lines above the header, all columns of the file, then category,
          confidence, recommendation, is_business, did_you_mean, reasons (with
          spaces), degraded, input_cleaned, input_checked, input_several and
          input_skipped. If the file has a column of such a name, all get the
          prefix mk_
  ndjson  the members of the line, then what the API answers. request_id has
          the number of the line. cleaned, several and skipped mark cleaned
          and skipped rows. A member of the line that the answer has too
          gets the prefix input_. A line that cannot be read has line_error
--columns names the columns of csv: some of the above, and of is_free_provider,
is_disposable, is_relay, is_role_account, has_mx, mail_provider, spf,
dmarc_policy, suite_a, suite_b and other_suite, in the order of the guide.
DNS is asked for what the columns show and the verdict needs; reasons tells of
the mail and of suites where a column shows them.
--canonical adds canonical_email to csv: the mailbox behind an address, by its
provider's rules. ndjson always has it. --duplicates adds duplicate_of: the
number of the first row with the same mailbox or domain.
In csv all cells stay as they are in the file. A spreadsheet runs a cell as a
formula if it begins with = + - @, a tab or a carriage return. --safe-cells
adds an apostrophe so that it is shown as text.
The summary goes to the standard error; with --out and --json, to the standard
output. An interrupted run continues with the same command and --resume, even
one that was killed. A file of more than 1 MB is checked by several processes,
but not with --duplicates. --jobs says how many. The results and their order
are the same. \`clean\` writes a file with the rows that may stay.`

function printSummary(
  output: Output,
  summary: ClassifySummary,
  { asJson, isOutFree }: { asJson: boolean; isOutFree: boolean },
): void {
  // The standard output holds nothing but results.
  const aside: Output = { ...output, line: output.stderrLine }
  if (asJson) printJson(isOutFree ? output : aside, summary)
  else printRunSummary(aside, summary)
}
