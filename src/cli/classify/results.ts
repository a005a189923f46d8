import type { Subject } from "../../check/address/subject.ts"
import { fullText, type Outcome } from "../../check/present.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { shown } from "../output.ts"
import { csvText } from "./csv-cells.ts"
import type { Format } from "./format.ts"
import type { Columns, Row } from "./row.ts"

/** How results stand in a file, each with a line feed at its end. */
export type ResultForm = {
  /** What stands before all results. */
  readonly head: string
  /** The result of a row, which is the `place`th, from 1. */
  readonly text: (row: Row, outcome: Outcome, place: number) => string
  /** How the result of a row begins, whatever its check comes to: by this it is known again. */
  readonly beginning: (row: Row, subject: Subject) => string
}

/** How the results of rows with these columns stand in a file of this format. */
export const RESULT_FORMS: Readonly<Record<Format, (columns: Columns) => ResultForm>> = {
  text: () => TEXT_FORM,
  csv: csvForm,
  ndjson: () => NDJSON_FORM,
}

/** Fields between tabs; reasons between commas. No input has a tab: control characters are named. */
const TEXT_FORM: ResultForm = {
  head: "",
  text: ({ input }, { settled: { verdict } }) =>
    `${plain(input)}\t${verdict.category}\t${verdict.confidence}\t${verdict.recommendation}\t${verdict.reasons.join(",")}\n`,
  beginning: ({ input }) => `${plain(input)}\t`,
}

/** Printable ASCII, which is most inputs, needs no closer look. */
const PRINTABLE = /^[ -~]*$/

const plain = (input: string): string => (PRINTABLE.test(input) ? input : shown(input))

/** CheckResults. Each bears the number of its line as its id, so that a run that goes on after an interruption gives the same ids. */
const NDJSON_FORM: ResultForm = {
  head: "",
  text: (_, outcome, place) => `${fullText(outcome, `line_${place}`)}\n`,
  beginning: (_, { kind, sent, normalized, domain }) => {
    const asked = { email: kind === "email" ? sent : null, ...(kind === "url" ? { url: sent } : {}) }
    return `${JSON.stringify({ ...asked, normalized_email: normalized, domain }).slice(0, -1)},`
  },
}

/** What is told of a row beside its own cells, in this order; none of it ever needs quotes. */
const RESULT_NAMES = [
  "category",
  "confidence",
  "recommendation",
  "is_business",
  "did_you_mean",
  "reasons",
  "degraded",
] as const

/** The row's own cells under their names, then the result's, then cells that have no name. */
function csvForm({ names, delimiter: to }: Columns): ResultForm {
  const ownOf = ({ input, cells }: Row): readonly string[] => cells ?? [input]
  const beginning = (row: Row): string => csvText(ownOf(row).slice(0, names.length), to) + to
  return {
    head: `${csvText([...names, ...resultNames(names)], to)}\n`,
    text: (row, { settled: { verdict, evidence } }) => {
      const { category, confidence, recommendation, reasons, isDegraded } = verdict
      const business = CATEGORIES[category].isBusiness
      const meant = evidence.suggestion ?? ""
      const told = [category, confidence, recommendation, business, meant, reasons.join(" "), isDegraded].join(to)
      const nameless = ownOf(row).slice(names.length)
      return `${beginning(row)}${told}${nameless.length === 0 ? "" : to + csvText(nameless, to)}\n`
    },
    beginning,
  }
}

/** The names of result columns, with a prefix where the file has one of them already, as a result that is checked again. */
function resultNames(taken: readonly string[]): readonly string[] {
  for (let prefix = ""; ; prefix += "mailkind_") {
    const names = RESULT_NAMES.map(name => prefix + name)
    if (!names.some(name => taken.includes(name))) return names
  }
}
