import { detectSubjectKind, parseSubject } from "../check/address/parse-subject.ts"
import { type Check, NO_OWN_LIST_MATCH } from "../check/check.ts"
import { fullResult } from "../check/result/result.ts"
import type { Policy } from "../contract/policies.ts"
import { REASONS } from "../contract/reasons.ts"
import type { CheckResult } from "../contract/schemas.ts"
import { escapeControls, type Output, printJson, printTable } from "./output.ts"

/** What the command needs. */
export type CheckCommandDeps = { readonly check: Check; readonly testDomain: string; readonly requestId: () => string }

type CheckOptions = { readonly policy: Policy; readonly deep: boolean; readonly json: boolean }

/** How many inputs are under way at once: more wait for the network no shorter. */
const CHECKS_IN_FLIGHT_MAX = 64

/** `check INPUT...`: one verdict an input, in their order. Each input is an address, a URL or a domain by the batch rule. */
export async function checkCommand(
  output: Output,
  { check, testDomain, requestId }: CheckCommandDeps,
  inputs: readonly string[],
  { policy, deep: isDeep, json: asJson }: CheckOptions,
): Promise<void> {
  const results: CheckResult[] = []
  const left = inputs.entries()
  const lane = async (): Promise<void> => {
    for (const [at, input] of left) {
      const subject = parseSubject(detectSubjectKind(input), input, testDomain)
      results[at] = fullResult(
        await check({ subject, policy, isDeep, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }),
        requestId(),
      )
    }
  }
  await Promise.all(Array.from({ length: CHECKS_IN_FLIGHT_MAX }, lane))
  if (asJson) return printJson(output, results.length === 1 ? results[0] : results)
  for (const [at, result] of results.entries()) printResult(output, inputs[at] ?? "", result)
}

/** Tells a verdict to a person: the verdict, what it suggests, and each reason in words. */
function printResult(output: Output, input: string, result: CheckResult): void {
  output.line(escapeControls(input))
  const doubt = result.degraded ? " (from lists only)" : ""
  output.line(
    `  ${result.category}, confidence ${result.confidence}${doubt}: ${result.recommendation} under ${result.policy}`,
  )
  const { mx, provider } = result.mail
  if (mx[0] !== undefined) output.line(`  mail at ${mx[0].host}${provider === null ? "" : ` (${provider})`}`)
  if (result.did_you_mean !== null) output.line(`  did you mean ${result.did_you_mean}?`)
  if (result.is_lookalike) output.line("  it looks like a known name and is none")
  printTable(
    output,
    result.reasons.map(reason => [`    ${reason}`, REASONS[reason].description]),
  )
}
