/**
 * Is what the product says right? It is asked about names that people have labelled from their own knowledge, before and
 * apart from the lists (data/sample). One part of the names
 * is tuned: what is missed of it has changed lists and rules. The other is sealed: only its shares are ever looked at, so
 * the gap between the two tells how far the tuned ones flatter.
 */

import type { DomainLists } from "../../src/check/domain-lookup.ts"
import type { SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import type { SourceFiles } from "../../src/check/lists/sources/source-formats.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { figure, type Report } from "../report/report.ts"
import { type Answers, answersTo, calledDisposable, missLines } from "./answers.ts"
import { calibrationFigure, calibrationRows, calibrationText } from "./calibration.ts"
import { accusedNames, listsOf, stockOn, wellKnownNames } from "./lists.ts"
import { outsideFigures } from "./outside-tables.ts"
import { type AnsweredPart, contestedFigures, gapFigures, trapFigures, wrongFigures } from "./part-figures.ts"
import { readSample, repeatedTexts, SAMPLE_PART_NAMES, type Sample, type SamplePart } from "./sample.ts"
import { confusionOf, confusionText, isTrapPassed } from "./score.ts"
import { type Suggested, slipLines } from "./slips.ts"
import { withStoredDownloads, witnessLines } from "./witnesses.ts"

/** So many names of a kind are told; of the rest only how many there are. */
const TOLD_MAX = 20

/**
 * Runs the bench over the sample and the sources on the shelf as they stand now. `tables`: a folder with tables that others have made; null: there
 * is none.
 */
export async function accuracyBench(shelf: SourceFiles, tables: string | null = null): Promise<Report> {
  const samples = samplesOn(shelf)
  const stock = stockOn(shelf)
  const lists = listsOf(stock)
  const parts = { tuned: await answeredPart(samples.tuned, lists), sealed: await answeredPart(samples.sealed, lists) }
  const popular = await popularReport(stock, lists)
  const outside =
    tables === null ? { description: [], figures: [], answers: [], suggested: [] } : await outsideFigures(tables, lists)
  const calibration = {
    tuned: calibrationRows(parts.tuned.answers.mail_hosts.labelled),
    sealed: calibrationRows(parts.sealed.answers.mail_hosts.labelled),
  }
  // The tables have no throw-away names and hardly any mailboxes, so that of all samples together tells more.
  const together = calibrationRows([
    ...SAMPLE_PART_NAMES.flatMap(part => parts[part].answers.mail_hosts.labelled),
    ...outside.answers,
  ])
  return {
    bench: "accuracy",
    description: [
      ...samplesSay(samples),
      "tuned, in rows by label",
      ...answersSay(parts.tuned.answers.mail_hosts),
      "sealed, in rows by label; names are not told",
      ...confusionText(confusionOf(parts.sealed.answers.mail_hosts.labelled)),
      ...SAMPLE_PART_NAMES.flatMap(part => [part, ...calibrationText(calibration[part])]),
      ...popular.description,
      ...outside.description,
      "all samples together",
      ...calibrationText(together),
      "suggestions by what separates the typed domain from the suggested one, of all samples together",
      ...slipLines([...SAMPLE_PART_NAMES.flatMap(part => suggestedOf(parts[part])), ...outside.suggested]),
    ],
    figures: [
      ...gapFigures(parts),
      ...contestedFigures(parts),
      ...wrongFigures(parts),
      ...trapFigures(parts),
      ...SAMPLE_PART_NAMES.map(part => calibrationFigure(part, calibration[part])),
      calibrationFigure("all samples", together),
      ...popular.figures,
      ...outside.figures,
    ],
  }
}

async function answeredPart(sample: Sample, lists: DomainLists): Promise<AnsweredPart> {
  const answers = {
    lists_alone: await answersTo(sample, lists, "lists_alone"),
    mail_hosts: await answersTo(sample, lists, "mail_hosts"),
  }
  return { sample, answers }
}

const suggestedOf = ({ answers: { mail_hosts: answers } }: AnsweredPart): readonly Suggested[] => [
  ...answers.typos.flatMap(({ text, meant, offered }) => (offered === null ? [] : [{ text, meant, offered }])),
  ...answers.corrected.map(({ text, offered }) => ({ text, offered, meant: null })),
]

/**
 * Every text of the tuned part that is answered wrongly by the sources on the shelf as they stand now, a line each. There
 * is no such list of the sealed part: who looks at its misses unseals it.
 */
export async function accuracyMisses(shelf: SourceFiles): Promise<readonly string[]> {
  return missLines(await answersTo(sampleOn(shelf, "tuned"), listsOf(stockOn(shelf)), "mail_hosts"))
}

/** Which sources copy from which, a line each. `folder`: the lists folder of a server, whose downloads count too; null: there is none. */
export function accuracyWitnesses(shelf: SourceFiles, folder: string | null): readonly string[] {
  const stock = stockOn(shelf)
  return witnessLines(folder === null ? stock : withStoredDownloads(stock, folder))
}

function samplesOn(shelf: SourceFiles): Readonly<Record<SamplePart, Sample>> {
  const samples = { tuned: sampleOn(shelf, "tuned"), sealed: sampleOn(shelf, "sealed") }
  const repeated = repeatedTexts(samples.tuned, samples.sealed)
  if (repeated.length > 0) throw new Error(["sealed rows that are tuned:", ...repeated].join("\n"))
  return samples
}

function sampleOn(shelf: SourceFiles, part: SamplePart): Sample {
  const read = readSample(part, file => shelf.read(`data/sample/${part}/${file}.tsv`))
  if (read.kind === "refused") throw new Error([`the ${part} sample is faulty:`, ...read.faults].join("\n"))
  return read.sample
}

function samplesSay({ tuned, sealed }: Readonly<Record<SamplePart, Sample>>): readonly string[] {
  return [
    `tuned: ${sizeText(tuned)}`,
    `sealed: ${sizeText(sealed)}`,
    "labelled by hand, from what the writers knew, before and apart from the lists: data/sample",
    "every name is asked about where it has a mail host of its own, but names that nobody has; by lists alone: without DNS",
    "the sample's share of each category is not the world's: precision tells of the sample, what is claimed wrongly of how many others holds for any mix of them",
    "a business is told by its mail, so with mail hosts every name of which nothing else is known is one; by lists alone it is unknown",
  ]
}

function sizeText({ labelled, traps, typos, kept, roles, notRoles, complaints, openSuffix }: Sample): string {
  const categories = CATEGORY_NAMES.filter(name => labelled.some(({ label }) => label === name)).length
  return [
    `${labelled.length} texts of ${categories} categories`,
    ...(traps.length > 0 ? [`${traps.length} traps`] : []),
    `${typos.length} typos, ${kept.length} domains that are none, ${roles.length} roles, ${notRoles.length} names that are none`,
    ...(complaints.length > 0 ? [`${complaints.length} complaints`] : []),
    ...(openSuffix.length > 0 ? [`${openSuffix.length} throw-aways under open suffixes`] : []),
  ].join(", ")
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

async function popularReport(
  stock: SourceBundle,
  lists: DomainLists,
): Promise<Pick<Report, "description" | "figures">> {
  const names = [...wellKnownNames(stock)]
  const judged = await calledDisposable(names, lists)
  const accused = accusedNames(stock, lists.pack)
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
      ...facts("judged disposable", judged),
    ],
    figures: [
      figure("well-known names", "", names.length),
      figure("well-known names that a source calls disposable", "", accused.length),
      figure("well-known names in the disposable set", "", guilty.length, "accuracy_popular"),
      figure("well-known names that are judged disposable", `of ${names.length}`, judged.length, "accuracy_judged"),
    ],
  }
}
