import { type Command, Option } from "commander"
import { detectSubjectKind, parseSubject } from "../check/address/parse-subject.ts"
import { type Check, NO_OWN_LIST_MATCH } from "../check/check.ts"
import { fullResult } from "../check/result/result.ts"
import { POLICY_DEFAULT, POLICY_NAMES, type Policy } from "../contract/policies.ts"
import { REASONS } from "../contract/reasons.ts"
import type { CheckResult } from "../contract/schemas.ts"
import { escapeControls, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** The check, and what a result needs besides: the test domain and a request id. */
export type CheckCommandDeps = { readonly check: Check; readonly testDomain: string; readonly requestId: () => string }

type CheckOptions = { readonly policy: Policy; readonly isDeep: boolean; readonly asJson: boolean }

/** Registers `check`. */
export function registerCheck(
  root: Command,
  output: Output,
  openCheck: (isOffline: boolean) => Promise<CheckCommandDeps>,
): void {
  root
    .command("check")
    .description("Check addresses, domains or URLs.")
    .argument("<input...>", "what to check")
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--deep", "look up the domain's age and homepage too", false)
    .option("--offline", "use no network", false)
    .option(...JSON_FLAG, false)
    .action(async (inputs, { policy, deep, offline, json: asJson }) => {
      await checkCommand(output, await openCheck(offline), inputs, { policy, isDeep: deep, asJson })
    })
}

/** How many checks run at once. With more, each would only wait longer for the network. */
const CHECKS_IN_FLIGHT_MAX = 64

/** Checks all inputs and prints the verdicts in their order. The kind of an input is detected as in a batch. */
async function checkCommand(
  output: Output,
  { check, testDomain, requestId }: CheckCommandDeps,
  inputs: readonly string[],
  { policy, isDeep, asJson }: CheckOptions,
): Promise<void> {
  const results: CheckResult[] = []
  const remaining = inputs.entries()
  const worker = async (): Promise<void> => {
    for (const [index, input] of remaining) {
      const subject = parseSubject(detectSubjectKind(input), input, testDomain)
      results[index] = fullResult(
        await check({ subject, policy, isDeep, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }),
        requestId(),
      )
    }
  }
  await Promise.all(Array.from({ length: CHECKS_IN_FLIGHT_MAX }, worker))
  if (asJson) return printJson(output, results.length === 1 ? results[0] : results)
  for (const [index, result] of results.entries()) printResult(output, inputs[index] ?? "", result)
}

/** Prints a verdict for a person, with the description of each reason. */
function printResult(output: Output, input: string, result: CheckResult): void {
  output.line(escapeControls(input))
  const degraded = result.degraded ? " (from lists only)" : ""
  output.line(
    `  ${result.category}, confidence ${result.confidence}${degraded}: ${result.recommendation} under ${result.policy}`,
  )
  const { mx, provider } = result.mail
  if (mx[0] !== undefined) output.line(`  mail at ${mx[0].host}${provider === null ? "" : ` (${provider})`}`)
  if (result.did_you_mean !== null) output.line(`  did you mean ${result.did_you_mean}?`)
  if (result.is_lookalike) output.line("  it looks like a known name, but is not")
  printTable(
    output,
    result.reasons.map(reason => [`    ${reason}`, REASONS[reason].description]),
  )
}
