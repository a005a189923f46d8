import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import type { BudgetName } from "../budgets.ts"
import { type Figure, figure } from "../report/report.ts"
import type { Answers, MailWorld } from "./answers.ts"
import { SAMPLE_PART_NAMES, type Sample, type SamplePart } from "./sample.ts"
import { confusionOf, isTrapPassed, scoreOf } from "./score.ts"

/** A part of the sample with what was answered of it in each world. */
export type AnsweredPart = { readonly sample: Sample; readonly answers: Readonly<Record<MailWorld, Answers>> }
export type AnsweredParts = Readonly<Record<SamplePart, AnsweredPart>>

/** The shares that are reported for both parts. They should be equally good in both. */
type Measure = Category | "typos" | "roles"

/** The shares that are promised. The gap is promised of these. */
const PROMISED: Partial<Record<Measure, Readonly<Record<SamplePart, BudgetName>>>> = {
  disposable: { tuned: "accuracy_disposable", sealed: "accuracy_sealed_disposable" },
  relay: { tuned: "accuracy_relay", sealed: "accuracy_sealed_relay" },
  education: { tuned: "accuracy_education", sealed: "accuracy_sealed_education" },
  government: { tuned: "accuracy_government", sealed: "accuracy_sealed_government" },
  personal: { tuned: "accuracy_personal", sealed: "accuracy_sealed_personal" },
  typos: { tuned: "accuracy_typos", sealed: "accuracy_sealed_typos" },
  roles: { tuned: "accuracy_roles", sealed: "accuracy_sealed_roles" },
}

/** Names that do not exist are made up, and no list can be tuned to them, so only the tuned part has them. */
const MEASURES: readonly Measure[] = [
  ...CATEGORY_NAMES.filter(name => name !== "unknown" && name !== "invalid"),
  "typos",
  "roles",
]

/** A share, told with the counts that it is made of. */
export const share = (name: string, part: number, whole: number, budget: BudgetName | null = null): Figure =>
  figure(name, `(${part} of ${whole})`, part / whole, budget)

/** What is right of each measure, tuned, sealed and the gap between them, where every name has a mail host. */
export function gapFigures(parts: AnsweredParts): readonly Figure[] {
  const gaps: number[] = []
  const figures = MEASURES.flatMap(measure => {
    const [tuned, sealed] = [
      countsOf(parts.tuned, "mail_hosts", measure),
      countsOf(parts.sealed, "mail_hosts", measure),
    ]
    const gap = tuned.right / tuned.all - sealed.right / sealed.all
    if (measure in PROMISED) gaps.push(gap)
    return [
      share(`${measure}: tuned`, tuned.right, tuned.all, PROMISED[measure]?.tuned),
      share(`${measure}: sealed`, sealed.right, sealed.all, PROMISED[measure]?.sealed),
      figure(`${measure}: gap`, "", gap),
    ]
  })
  return [...figures, figure("the largest gap of those that are promised", "", Math.max(...gaps), "accuracy_gap")]
}

type Counts = { readonly right: number; readonly all: number }

function countsOf({ answers, sample }: AnsweredPart, world: MailWorld, measure: Measure): Counts {
  const { labelled, typos, rolesMissed } = answers[world]
  if (measure === "roles") return { right: sample.roles.length - rolesMissed.length, all: sample.roles.length }
  if (measure === "typos")
    return { right: typos.filter(({ offered, meant }) => offered === meant).length, all: typos.length }
  const { right, labelled: all } = scoreOf(confusionOf(labelled), measure)
  return { right, all }
}

/** What is wrong in either part: of each category what was claimed, of addresses what was corrected or called a role. */
export function wrongFigures(parts: AnsweredParts): readonly Figure[] {
  return SAMPLE_PART_NAMES.flatMap(part => [
    ...categoryFigures(part, parts[part]),
    ...addressFigures(part, parts[part].answers.mail_hosts, parts[part].sample),
  ])
}

function categoryFigures(part: SamplePart, { answers }: AnsweredPart): readonly Figure[] {
  const confusion = confusionOf(answers.mail_hosts.labelled)
  const alone = confusionOf(answers.lists_alone.labelled)
  return CATEGORY_NAMES.flatMap(category => {
    const score = scoreOf(confusion, category)
    if (score.labelled === 0) return []
    const scoreAlone = scoreOf(alone, category)
    const claimed = score.right + score.wronglyClaimed
    return [
      ...(claimed === 0 ? [] : [share(`${category}: precision, ${part}`, score.right, claimed)]),
      figure(`${category}: claimed wrongly, ${part}`, `of ${score.others} others`, score.wronglyClaimed),
      ...(scoreAlone.right === score.right
        ? []
        : [share(`${category}: by lists alone, ${part}`, scoreAlone.right, scoreAlone.labelled)]),
    ]
  })
}

const WRONGLY: Readonly<Record<SamplePart, Readonly<Record<"typos" | "kept" | "roles", BudgetName | null>>>> = {
  tuned: { typos: null, kept: "accuracy_kept", roles: "accuracy_false_roles" },
  sealed: { typos: "accuracy_sealed_wrong_typos", kept: "accuracy_sealed_kept", roles: "accuracy_sealed_false_roles" },
}

function addressFigures(part: SamplePart, answers: Answers, { typos, kept, notRoles }: Sample): readonly Figure[] {
  const right = answers.typos.filter(({ offered, meant }) => offered === meant).length
  const nothing = answers.typos.filter(({ offered }) => offered === null).length
  const wrong = typos.length - right - nothing
  const { corrected, rolesFalse } = answers
  return [
    figure(`typos: wrong suggestion, ${part}`, `of ${typos.length}`, wrong, WRONGLY[part].typos),
    figure(`typos: no suggestion, ${part}`, `of ${typos.length}`, nothing),
    figure(`no typos: corrected, ${part}`, `of ${kept.length}`, corrected.length, WRONGLY[part].kept),
    figure(`no roles: called one, ${part}`, `of ${notRoles.length}`, rolesFalse.length, WRONGLY[part].roles),
  ]
}

/** What becomes of names that lists are wrong about: complaints, and throw-aways in places that look good. Sealed alone has them. */
export function contestedFigures({ sealed }: AnsweredParts): readonly Figure[] {
  const { complaints, openSuffix } = sealed.answers.mail_hosts
  const blocked = complaints.filter(({ recommendation }) => recommendation === "block")
  const accused = complaints.filter(({ category }) => category === "disposable")
  const named = complaints.filter(({ label }) => label !== null)
  const allowed = openSuffix.filter(({ recommendation }) => recommendation === "allow")
  const blockedBelow = openSuffix.filter(({ recommendation }) => recommendation === "block")
  const of = (rows: readonly unknown[]): string => `of ${rows.length}`
  return [
    figure("complaints: blocked", of(complaints), blocked.length, "accuracy_complaints"),
    figure("complaints: called disposable", of(complaints), accused.length),
    share("complaints: right category", named.filter(({ label, category }) => label === category).length, named.length),
    figure("throw-aways under open suffixes: allowed", of(openSuffix), allowed.length, "accuracy_open_suffix"),
    figure("throw-aways under open suffixes: blocked", of(openSuffix), blockedBelow.length),
  ]
}

/** How the traps of the tuned part fare. */
export function trapFigures({ tuned }: AnsweredParts): readonly Figure[] {
  const { traps } = tuned.answers.mail_hosts
  const known = traps.filter(({ label, answered }) => label === answered)
  const mistaken = tuned.answers.lists_alone.traps.filter(trap => trap.mistaken === trap.answered)
  const all = traps.length
  return [
    share(
      "traps: right, or a business of which nothing is said",
      traps.filter(isTrapPassed).length,
      all,
      "accuracy_traps",
    ),
    share("traps: right", known.length, all),
    figure("traps: given the wrong category that they are often given, by lists alone", `of ${all}`, mistaken.length),
  ]
}
