/**
 * What does one check cost within the process, from text to JSON, without HTTP and without network? Each kind of the mix is
 * measured twice: with domains that were checked before, and with such as no check has seen.
 */

import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { type Check, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { fullResultJson } from "../../src/check/result/result.ts"
import { linesOfKind, MIX_KINDS, type MixKind, take } from "../mix/mix.ts"
import { costFigure, processorUs, spreadFigure } from "../report/processor-time.ts"
import type { Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"

/** How much the bench does: each round measures each kind over so many checks, warm and at first sight. */
export type CheckScale = { readonly rounds: number; readonly warmChecks: number; readonly firstChecks: number }

/** The scale of a figure that may be told. */
export const CHECK_FULL: CheckScale = { rounds: 15, warmChecks: 20_000, firstChecks: 2_000 }

const TEST_DOMAIN = "mailkind.test"
const REQUEST_ID = "req_0123456789abcdefghijkl"
/** Fewer than the product remembers, so that all of them are known when they are measured. */
const WARM_LINES = 200

/** Everybody has seen the names of providers, and a rare name is an unknown one when it is new. */
const NEVER_NEW: readonly MixKind[] = ["personal", "rare"]
const FIRST_KINDS = MIX_KINDS.filter(kind => !NEVER_NEW.includes(kind))

/** Runs the bench on `check`. */
export async function checkBench({ rounds, warmChecks, firstChecks }: CheckScale, check: Check): Promise<Report> {
  const answers = async (inputs: readonly string[], count: number): Promise<void> => {
    let written = 0
    for (let at = 0; at < count; at++) written += (await answer(check, inputs[at % inputs.length] ?? "")).length
    // The answers are used, so none of the work can be left out.
    if (written === 0) throw new Error("nothing was written")
  }
  const warm = async (kind: MixKind): Promise<number> => {
    const inputs = take(linesOfKind(kind), WARM_LINES)
    // Twice: what comes a second time is what is kept.
    await answers(inputs, 2 * WARM_LINES)
    return (await processorUs(() => answers(inputs, warmChecks))) / warmChecks
  }
  let seen = 0
  const first = async (kind: MixKind): Promise<number> => {
    const inputs = take(linesOfKind(kind, { isFresh: true, start: seen }), firstChecks)
    seen += firstChecks
    return (await processorUs(() => answers(inputs, firstChecks))) / firstChecks
  }
  // Rounds before the first make the code warm; their times are dropped.
  const warmupRounds = Math.ceil(rounds / 3)
  await interleaved(MIX_KINDS, warmupRounds, warm)
  await interleaved(FIRST_KINDS, warmupRounds, first)
  const warmCosts = await interleaved(MIX_KINDS, rounds, warm)
  const firstCosts = await interleaved(FIRST_KINDS, rounds, first)
  const spreads = [
    spreadFigure("seen before: dearest kind ÷ cheapest", warmCosts, "check_kinds"),
    spreadFigure("first sight: dearest kind ÷ cheapest", firstCosts, "check_first_kinds"),
  ]
  return {
    bench: "check",
    description: [
      `text → Subject → verdict → JSON, lists only; processor time of the process, ${rounds} rounds`,
      `seen before: ${warmChecks} checks a round of ${WARM_LINES} lines; forms are at domains that recur`,
      `first sight: ${firstChecks} checks a round, each at a domain that was never checked; forms are at unknown domains`,
      ...spreads.map(({ description }) => description),
    ],
    figures: [
      ...MIX_KINDS.map(kind => costFigure(`${kind}, seen before`, "µs", warmCosts[kind], "check")),
      ...FIRST_KINDS.map(kind => costFigure(`${kind}, first sight`, "µs", firstCosts[kind], "check_first")),
      ...spreads.map(spread => spread.figure),
    ],
  }
}

async function answer(check: Check, input: string): Promise<string> {
  const subject = parseSubject(detectSubjectKind(input), input, TEST_DOMAIN)
  const outcome = check({ subject, policy: "b2b", isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH })
  // Who answers at once is not made to wait for a promise.
  return fullResultJson(outcome instanceof Promise ? await outcome : outcome, REQUEST_ID)
}
