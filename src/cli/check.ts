import { type Command, Option } from "commander"
import type { Streams } from "../base/streams.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Subject } from "../check/address/subject.ts"
import { type Check, type CheckRequest, NO_OWN_LIST_MATCH, type OwnListMatch } from "../check/check.ts"
import { fullResult } from "../check/result/result.ts"
import { ALL_PARTS, verdictParts } from "../check/verdict/evidence-need.ts"
import { POLICY_DEFAULT, POLICY_NAMES, type Policy, type Recommendation } from "../contract/policies.ts"
import { REASONS } from "../contract/reasons.ts"
import type { CheckResult } from "../contract/result-schema.ts"
import { decodeInput } from "../rows/input-decoder.ts"
import type { InputRow } from "../rows/input-rows.ts"
import { planFile } from "../rows/plan-file.ts"
import type { ReadingOptions } from "../rows/reading-plan.ts"
import { cutBlocks } from "../rows/record-cutter.ts"
import { RowChecker } from "../rows/row-checker.ts"
import { readBlock } from "../rows/row-reader.ts"
import { isTableHeader } from "../rows/table-plan.ts"
import { isHeaderLike } from "../rows/table-reading.ts"
import { CommandError, CommandExit, JSON_FLAG, type Output, paint, printJson, printTable } from "./output.ts"
import { addServerOptions, readServerTarget, type ServerFlags, type ServerTarget } from "./server.ts"
import { serverResult } from "./server-check.ts"

/** Opens the check of this program, or that of a server. `isOffline`: it uses no network. */
export type OpenCheck = (isOffline: boolean, server: ServerTarget | null) => Promise<CheckCommandDeps>

/** What a command asks of a subject. */
export const commandRequest = (
  subject: Subject,
  policy: Policy,
  parts: number,
  isDeep = false,
  ownListMatch = NO_OWN_LIST_MATCH,
): CheckRequest => ({ subject, policy, isDeep, includeTenant: true, parts, ownListMatch })

/** The check, and what a result needs besides: the test domain and a request id. */
export type CheckCommandDeps = { readonly check: Check; readonly testDomain: string; readonly requestId: () => string }

/** Reads the operator's own lists of this machine, and gives what they say of a subject: nothing with a server, which knows its own. */
export type ReadOwnLists = (server: ServerTarget | null) => Promise<(subject: Subject) => OwnListMatch>

type CheckOptions = {
  readonly policy: Policy
  readonly isDeep: boolean
  readonly showsMail: boolean
  readonly ownListMatch: (subject: Subject) => OwnListMatch
}

/** The recommendations that `--fail-on` names, and what else they include. */
const FAIL_ON = { block: ["block"], review: ["review", "block"] } as const satisfies Record<
  string,
  readonly Recommendation[]
>
const FAIL_ON_NAMES = ["block", "review"] as const

/** Registers `check`. */
export function registerCheck(
  root: Command,
  output: Output,
  { openCheck, readOwnLists }: { readonly openCheck: OpenCheck; readonly readOwnLists: ReadOwnLists },
  streams: Streams,
): void {
  const command = root
    .command("check")
    .description("Check addresses, domains or URLs.")
    .argument("<input...>", "what to check, or - for the lines of the standard input")
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--deep", "look up the domain's age and homepage too", false)
    .option("--no-mail", "ask DNS only for what decides the verdict")
    .option("--offline", "use no network", false)
    .addOption(
      new Option("--fail-on <recommendation>", "exit with code 3 if a recommendation is this, or worse").choices(
        FAIL_ON_NAMES,
      ),
    )
    .option(...JSON_FLAG, false)
  addServerOptions(command).action(
    async (
      inputs: readonly string[],
      { policy, deep, mail: showsMail, offline, failOn, json: asJson, ...flags }: CheckFlags,
    ) => {
      if (inputs.includes("-") && inputs.length > 1)
        throw new CommandError("- reads the standard input and stands alone.", 2)
      const rows = inputs[0] === "-" ? readInputLines(streams, output.stderrLine) : [inputs.map(toInputRow)]
      const print = asJson ? jsonPrinter(output, inputs.length > 1 || inputs[0] === "-") : textPrinter(output)
      const server = readServerTarget(flags, offline)
      const ownListMatch = await readOwnLists(server)
      const found = await checkRows(
        await openCheck(offline, server),
        rows,
        { policy, isDeep: deep, showsMail, ownListMatch },
        print,
      )
      const failing = FAIL_ON_NAMES.find(name => name === failOn)
      // A gate that nothing reached must not be open.
      if (failing !== undefined && found.size === 0)
        throw new CommandError("The standard input has no line to check, so --fail-on has no verdict.", 2)
      if (failing !== undefined && FAIL_ON[failing].some(recommendation => found.has(recommendation)))
        throw new CommandExit(3)
    },
  )
}

type CheckFlags = ServerFlags & {
  readonly policy: Policy
  readonly deep: boolean
  readonly mail: boolean
  readonly offline: boolean
  readonly failOn?: string
  readonly json: boolean
}

const toInputRow = (input: string): InputRow => ({
  input,
  kind: null,
  fault: null,
  cells: null,
  json: null,
  cleaned: null,
})

/** How the standard input is read. */
const LINES: ReadingOptions = {
  ...{ format: "text", column: null, delimiter: null, hasHeader: false, skippedLines: 0, isForced: true },
}

/** The lines of the standard input that are not empty. Calls `tell` with what is left out. */
async function* readInputLines(streams: Streams, tell: (says: string) => void): AsyncGenerator<readonly InputRow[]> {
  const { chunks } = await streams.openSource("-")
  const text = decodeInput(chunks, null, says => {
    throw new CommandError(`The standard input ${says}.`)
  })
  const planned = await planFile(text, LINES)
  if (planned === null) return
  const { plan } = planned
  let isFirst = true
  for await (const block of cutBlocks(planned.text, plan)) {
    if (block === null) continue
    const rows = readBlock(block.bytes, plan, false)
    const first: number = isFirst ? rows.findIndex(({ input }) => input.trim() !== "") : -1
    const hasHeader = isListHeader(rows[first]?.input ?? "")
    isFirst &&= first < 0
    if (hasHeader) tell("The first line names the column, so it is not checked.")
    yield hasHeader ? rows.slice(first + 1) : rows
  }
}

/** Whether the first line is the header of a list with one input in a line. Throws a `CommandError` when it is that of a table. */
function isListHeader(line: string): boolean {
  if (isHeaderLike([line])) return true
  if (isTableHeader(line))
    throw new CommandError(
      "The standard input is a table: its first line names a column. Use mailkind classify - for tables.",
      2,
    )
  return false
}

/** Prints results in order. `end` is called after the last one. */
type ResultPrinter = { readonly print: (input: string, result: CheckResult) => void; readonly end: () => void }

/** Checks rows and prints the results in their order. The kind of an input is detected as in a batch. */
async function checkRows(
  { check, testDomain, requestId }: CheckCommandDeps,
  rows: AsyncIterable<readonly InputRow[]> | Iterable<readonly InputRow[]>,
  { policy, isDeep, showsMail, ownListMatch }: CheckOptions,
  printer: ResultPrinter,
): Promise<ReadonlySet<Recommendation>> {
  const found = new Set<Recommendation>()
  const checker = new RowChecker({
    testDomain,
    check: subject => {
      const parts = showsMail ? ALL_PARTS : verdictParts(subject)
      return check(commandRequest(subject, policy, parts, isDeep, ownListMatch(subject)))
    },
  })
  for await (const some of rows) {
    await checker.check(some, ({ input }, outcome) => {
      if (outcome === null) return
      found.add(outcome.judged.verdict.recommendation)
      printer.print(input, serverResult(outcome) ?? fullResult(outcome, requestId()))
    })
  }
  await checker.drain()
  printer.end()
  return found
}

const textPrinter = (output: Output): ResultPrinter => ({
  print: (input, result) => printResult(output, input, result),
  end: () => undefined,
})

/** One result, or a list of them that is printed as the results come. */
function jsonPrinter(output: Output, isList: boolean): ResultPrinter {
  if (!isList) return { print: (_, result) => printJson(output, result), end: () => undefined }
  let last: string | null = null
  return {
    print: (_, result) => {
      output.line(last === null ? "[" : `${last},`)
      last = JSON.stringify(result, null, 2).replaceAll(/^/gm, "  ")
    },
    end: () => {
      if (last === null) output.line("[]")
      else output.line(`${last}\n]`)
    },
  }
}

/** The colour of each recommendation. */
const COLORS = { allow: "green", review: "yellow", block: "red" } as const satisfies Record<Recommendation, string>

/** Prints a verdict for a person, with the description of each reason. */
function printResult(output: Output, input: string, result: CheckResult): void {
  output.line(paint(output, "bold", escapeControls(input)))
  const degraded = result.degraded ? " (from lists only)" : ""
  output.line(
    `  ${result.category}, confidence ${result.confidence}${degraded}: ${paint(output, COLORS[result.recommendation], result.recommendation)} under ${result.policy}`,
  )
  const { mx, provider } = result.mail
  if (mx[0] !== undefined) output.line(`  mail at ${mx[0].host}${provider === null ? "" : ` (${provider})`}`)
  if (result.did_you_mean !== null) output.line(`  did you mean ${result.did_you_mean}?`)
  if (result.is_lookalike) output.line("  it looks like a known name, but is not")
  printTable(
    output,
    // A server of a later version may have reasons that this program does not know.
    result.reasons.map(reason => [`    ${escapeControls(reason)}`, REASONS[reason]?.description ?? ""]),
  )
}
