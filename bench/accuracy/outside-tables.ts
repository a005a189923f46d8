import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { type Figure, figure } from "../report/report.ts"
import { type Asker, answerOf, productOver } from "./answers.ts"
import { calibrationFigure, calibrationRows, calibrationText } from "./calibration.ts"
import { type Flagged, imitationLines } from "./imitations.ts"
import { share } from "./part-figures.ts"
import type { Answered } from "./score.ts"
import type { Suggested } from "./slips.ts"

/** A text of a table from outside, and what is expected of it. */
type Expected = { readonly text: string; readonly expected: string }

/** What is expected besides a category, and whether a result is so. Any other expectation is a domain that is suggested. */
const EXPECTATIONS: Readonly<Record<string, (result: CheckResult) => boolean>> = {
  "look-alike": result => result.is_lookalike,
  "no look-alike, no typo": result => !result.is_lookalike && result.did_you_mean === null,
  role: ({ is_role_account: isRole, group, shared_inbox: shared }) =>
    isRole || group.match !== null || shared.match !== null,
  "no role": result => !result.is_role_account,
}

const isCategory = (text: string): text is Category => CATEGORY_NAMES.some(name => name === text)

/**
 * Measures the product by tables that somebody else has made, and that are not in the checkout: each `.tsv` of the folder has the columns input,
 * expected and source; others are left out. Names have a mail host of their own, as in the sample.
 * `answers`: of each text with an expected category. `suggested`: each typo and honest name that got a suggestion.
 */
export async function outsideFigures(
  folder: string,
  lists: DomainLists,
): Promise<{
  readonly description: readonly string[]
  readonly figures: readonly Figure[]
  readonly answers: readonly Answered[]
  readonly suggested: readonly Suggested[]
}> {
  const ask = productOver(lists, "mail_hosts")
  const figures: Figure[] = []
  const all: Judged[] = []
  for (const file of readdirSync(folder)
    .filter(name => name.endsWith(".tsv"))
    .sort()) {
    const rows = rowsOf(readFileSync(join(folder, file), "utf8"))
    if (rows.length === 0) continue
    const judged = await Promise.all(rows.map(async row => ({ row, result: await ask(...request(row)) })))
    const right = judged.filter(({ row, result }) => isRight(row, result)).length
    figures.push(share(file, right, rows.length))
    all.push(...judged)
    const firms = rows.filter(({ expected }) => expected === "business")
    if (firms.length > 0) figures.push(...(await harmFigures(file, firms, lists)))
  }
  const answers = all.flatMap(answeredOf)
  const calibration = calibrationRows(answers)
  const honest = all.filter(({ row }) => isHonest(row)).length
  return {
    description: ["tables", ...calibrationText(calibration), ...imitationLines(all.flatMap(flaggedOf), honest)],
    figures: [...figures, calibrationFigure("tables", calibration)],
    answers,
    suggested: all.flatMap(suggestedFor),
  }
}

type Judged = { readonly row: Expected; readonly result: CheckResult }

/** What was answered of a row that expects a category. */
const answeredOf = ({ row: { text, expected }, result }: Judged): readonly Answered[] =>
  isCategory(expected) ? [{ text, label: expected, ...answerOf(result) }] : []

/** A name that is called an imitation, of rows that say whether it is one. */
const flaggedOf = ({ row, result }: Judged): readonly Flagged[] =>
  result.is_lookalike && (isHonest(row) || row.expected === "look-alike")
    ? [{ text: row.text, isRight: !isHonest(row) }]
    : []

/** The suggestion for a typo or an honest name; none of other rows. */
function suggestedFor({ row, result: { did_you_mean: offered } }: Judged): readonly Suggested[] {
  const { text, expected } = row
  if (offered === null || (!isHonest(row) && expected in EXPECTATIONS)) return []
  return [{ text, offered, meant: isHonest(row) ? null : expected }]
}

/** Whether the row expects a name that is neither an imitation nor a typo. */
const isHonest = ({ expected }: Expected): boolean => isCategory(expected) || expected === "no look-alike, no typo"

/** The rows of a table; none of one with other columns. */
function rowsOf(table: string): readonly Expected[] {
  const [header, ...lines] = table.split("\n").filter(line => line !== "")
  if (header !== "input\texpected\tsource") return []
  return lines.map(line => line.split("\t")).map(([text = "", expected = ""]) => ({ text, expected }))
}

const request = ({ text, expected }: Expected): Parameters<Asker> => [
  "email",
  expected === "role" || expected === "no role" ? `${text}@acme.com` : `jane@${text}`,
]

function isRight({ expected }: Expected, result: CheckResult): boolean {
  if (isCategory(expected)) return result.category === expected
  return EXPECTATIONS[expected]?.(result) ?? result.did_you_mean === expected
}

/** How many firms each policy blocks and reviews by what names and lists say. */
async function harmFigures(file: string, firms: readonly Expected[], lists: DomainLists): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const policy of POLICY_NAMES) {
    const ask = productOver(lists, "mail_hosts", policy)
    const all = await Promise.all(firms.map(async row => (await ask(...request(row))).recommendation))
    for (const harm of ["block", "review"] as const)
      figures.push(
        figure(`${file}: ${harm} under ${policy}`, `of ${firms.length}`, all.filter(one => one === harm).length),
      )
  }
  return figures
}
