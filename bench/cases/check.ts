/** How long is one check within the process, from text to JSON, without HTTP and without network? */

import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { type Check, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { fullResultJson } from "../../src/check/result/result.ts"
import { medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"

/** How much the bench does: each round measures each case over so many checks. */
export type CheckScale = { readonly rounds: number; readonly checks: number }

/** The scale of a figure that may be told. */
export const CHECK_FULL: CheckScale = { rounds: 15, checks: 20_000 }

const TEST_DOMAIN = "mailkind.test"
const REQUEST_ID = "req_0123456789abcdefghijkl"

/** Inputs of each case, asked in turn, so that no case is one string that everything has seen already. */
export const CHECK_CASES = {
  hit: ["jane.smith@gmail.com", "li@mailinator.com", "omar@yahoo.co.jp", "ivan@yopmail.com", "mei@outlook.com"],
  miss: ["jane@harbor-works.com", "sales@granite-freight.de", "li@lattice-systems.io", "omar@mail.anvil-legal.co.uk"],
  typo: ["jane@gmial.com", "omar@yaho.com", "li@hotmial.com", "ivan@outlok.com", "mei@gmail.co"],
  "education suffix": ["jane@cs.lattice.edu", "li@student.quarry.ac.uk", "omar@juniper.edu.au", "mei@copper.ac.jp"],
  url: ["https://www.harbor-works.com/about?a=1", "granite-freight.de/contact", "http://shop.anvil.co.uk:8080/x"],
} as const satisfies Record<string, readonly string[]>
type Case = keyof typeof CHECK_CASES

/** Runs the bench on `check`. */
export async function checkBench(scale: CheckScale, check: Check): Promise<Report> {
  const cases = Object.keys(CHECK_CASES) as Case[] // the keys are those of CHECK_CASES
  const one = async (input: string): Promise<string> => {
    const subject = parseSubject(detectSubjectKind(input), input, TEST_DOMAIN)
    return fullResultJson(
      await check({ subject, policy: "b2b", isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }),
      REQUEST_ID,
    )
  }
  // Rounds before the first make the code warm; their times are dropped.
  await interleaved(cases, Math.ceil(scale.rounds / 3), name => microsecondsOf(CHECK_CASES[name], scale.checks, one))
  const rounds = await interleaved(cases, scale.rounds, name => microsecondsOf(CHECK_CASES[name], scale.checks, one))
  return {
    bench: "check",
    description: [
      `text → Subject → verdict → JSON, lists only, warm; ${scale.rounds} rounds of ${scale.checks} checks`,
    ],
    figures: cases.map(name => medianFigure(name, "µs", rounds[name], "check")),
  }
}

async function microsecondsOf(
  inputs: readonly string[],
  checks: number,
  one: (input: string) => Promise<string>,
): Promise<number> {
  let written = 0
  const startedAt = performance.now()
  for (let at = 0; at < checks; at++) written += (await one(inputs[at % inputs.length] ?? "")).length
  const tookMs = performance.now() - startedAt
  // The answers are used, so none of the work can be left out.
  if (written === 0) throw new Error("nothing was written")
  return (tookMs * 1000) / checks
}
