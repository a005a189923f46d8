/**
 * Is what the product says right? It is asked offline about names that people have labelled from their own knowledge,
 * before and apart from the lists (data/sample), and so is what people use today, each about what it can tell.
 */

import type { DomainLists } from "../../src/check/domain-lookup.ts"
import type { SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import type { SourceFiles } from "../../src/check/lists/sources/source-formats.ts"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import type { BudgetName } from "../budgets.ts"
import { type Figure, figure, type Report } from "../report/report.ts"
import { type Answers, answersTo, missLines, productOver } from "./answers.ts"
import { claimFigures, suggestionFigures } from "./claims.ts"
import { accusedNames, heldOut, listsOf, stockOn, wellKnownNames } from "./lists.ts"
import { CLAIMANT_NAMES, CLAIMANTS } from "./peers.ts"
import { readSample, type Sample } from "./sample.ts"
import { confusionOf, confusionText, isTrapPassed, scoreOf } from "./score.ts"

/** The categories whose recall is promised. */
const PROMISED: Partial<Record<Category, BudgetName>> = {
  disposable: "accuracy_disposable",
  relay: "accuracy_relay",
  education: "accuracy_education",
  government: "accuracy_government",
  personal: "accuracy_personal",
}

/** The source that is curated most often: what it adds is what lists without it cannot know yet. */
const NEWEST = "disposable-email-domains-js"

/** So many names of a kind are told; of the rest only how many there are. */
const TOLD_MAX = 20

/** Runs the bench over the sample and the sources on the shelf as they stand now. */
export async function accuracyBench(shelf: SourceFiles): Promise<Report> {
  const sample = sampleOn(shelf)
  const stock = stockOn(shelf)
  const lists = listsOf(stock)
  const answers = await answersTo(sample, productOver(lists))
  const popular = popularReport(stock, lists)
  return {
    bench: "accuracy",
    description: [...sampleSays(sample), ...answersSay(answers), ...popular.description],
    figures: [
      ...categoryFigures(answers),
      ...addressFigures(answers, sample),
      ...(await claimFigures(answers)),
      ...(await suggestionFigures(answers, sample)),
      ...popular.figures,
      ...heldOutFigures(stock, lists),
    ],
  }
}

/** Every text of the sample that is answered wrongly by the sources on the shelf as they stand now, a line each. */
export async function accuracyMisses(shelf: SourceFiles): Promise<readonly string[]> {
  return missLines(await answersTo(sampleOn(shelf), productOver(listsOf(stockOn(shelf)))))
}

function sampleOn(shelf: SourceFiles): Sample {
  const read = readSample(file => shelf.read(`data/sample/${file}.tsv`))
  if (read.kind === "refused") throw new Error(["the sample is faulty:", ...read.faults].join("\n"))
  return read.sample
}

function sampleSays({ labelled, traps, typos, kept, roles, notRoles }: Sample): readonly string[] {
  return [
    `${labelled.length} texts of ${CATEGORY_NAMES.length} categories, ${traps.length} traps, ${typos.length} typos, ${kept.length} domains that are none, ${roles.length} roles, ${notRoles.length} names that are none`,
    "labelled by hand, from what the writers knew, before and apart from the lists: data/sample",
    "the sample's share of each category is not the world's: precision tells of the sample, what is claimed wrongly of how many others holds for any mix of them",
    "a business that no list knows is told by its mail, which takes DNS: offline it is unknown, here and among the traps",
    ...CLAIMANT_NAMES.map(name => `${name}: ${CLAIMANTS[name].category} by ${CLAIMANTS[name].description}`),
  ]
}

function answersSay({ labelled, traps, corrected, rolesFalse }: Answers): readonly string[] {
  const fallen = traps.filter(trap => !isTrapPassed(trap))
  return [
    ...confusionText(confusionOf(labelled)),
    ...facts(
      "a trap is wrong",
      fallen.map(({ text, label, answered }) => `${text} is ${label}, not ${answered}`),
    ),
    ...facts(
      "corrected wrongly",
      corrected.map(({ text, offered }) => `${text} to ${offered}`),
    ),
    ...facts("called a role wrongly", rolesFalse),
  ]
}

const facts = (what: string, lines: readonly string[]): readonly string[] => [
  ...lines.slice(0, TOLD_MAX).map(line => `${what}: ${line}`),
  ...(lines.length > TOLD_MAX ? [`${what}: ${lines.length - TOLD_MAX} more`] : []),
]

/** A share, told with the counts that it is made of. */
const share = (name: string, part: number, whole: number, budget: BudgetName | null = null): Figure =>
  figure(name, `(${part} of ${whole})`, part / whole, budget)

function categoryFigures({ labelled }: Answers): readonly Figure[] {
  const confusion = confusionOf(labelled)
  return CATEGORY_NAMES.flatMap(category => {
    const score = scoreOf(confusion, category)
    return [
      share(`${category}: recall`, score.right, score.labelled, PROMISED[category]),
      share(`${category}: precision`, score.right, score.right + score.wronglyClaimed),
      figure(`${category}: claimed wrongly`, `of ${score.others} others`, score.wronglyClaimed),
    ]
  })
}

function addressFigures(answers: Answers, { traps, typos, kept, roles, notRoles }: Sample): readonly Figure[] {
  const { corrected, rolesMissed, rolesFalse } = answers
  const right = answers.typos.filter(({ offered, meant }) => offered === meant)
  const nothing = answers.typos.filter(({ offered }) => offered === null)
  const passed = answers.traps.filter(isTrapPassed)
  const known = answers.traps.filter(({ label, answered }) => label === answered)
  const mistaken = answers.traps.filter(trap => trap.mistaken === trap.answered)
  return [
    share("traps: right, or a business that no list knows", passed.length, traps.length, "accuracy_traps"),
    share("traps: right by lists alone", known.length, traps.length),
    figure("traps: given the wrong category that they are often given", `of ${traps.length}`, mistaken.length),
    share("typos: right suggestion", right.length, typos.length, "accuracy_typos"),
    figure("typos: wrong suggestion", `of ${typos.length}`, typos.length - right.length - nothing.length),
    figure("typos: no suggestion", `of ${typos.length}`, nothing.length),
    figure("no typos: corrected", `of ${kept.length}`, corrected.length, "accuracy_kept"),
    share("roles: seen", roles.length - rolesMissed.length, roles.length, "accuracy_roles"),
    figure("no roles: called one", `of ${notRoles.length}`, rolesFalse.length, "accuracy_false_roles"),
  ]
}

function popularReport(stock: SourceBundle, { pack }: DomainLists): Pick<Report, "description" | "figures"> {
  const accused = accusedNames(stock, pack)
  const rules = accused.map(
    ({ name, sources, rule }) => `${name} by ${sources.join(", ")}: ${rule ?? "it is disposable"}`,
  )
  const byRule = Object.entries(Object.groupBy(accused, ({ rule }) => rule ?? "none"))
  const counts = byRule.map(([rule, names = []]) => `${rule} ${names.length}`)
  const guilty = accused.filter(({ rule }) => rule === null)
  return {
    description: [
      `well-known names that a source calls disposable, by the rule that drops it: ${counts.join(", ")}`,
      ...facts("called disposable", rules),
    ],
    figures: [
      figure("well-known names", "", wellKnownNames(stock).size),
      figure("well-known names that a source calls disposable", "", accused.length),
      figure("well-known names in the disposable set", "", guilty.length, "accuracy_popular"),
    ],
  }
}

function heldOutFigures(stock: SourceBundle, { pack }: DomainLists): readonly Figure[] {
  const { listed, alone, caughtWith, caughtWithout, caughtByParent } = heldOut(stock, pack, NEWEST)
  return [
    figure(`held out: names that only ${NEWEST} lists`, `of ${listed}`, alone),
    share("held out: caught with it", caughtWith, alone),
    share("held out: caught without it", caughtWithout, alone),
    share("held out: caught without it by a listed parent", caughtByParent, alone),
  ]
}
