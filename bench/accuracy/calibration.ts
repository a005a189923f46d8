import { REASON_NAMES, type Reason } from "../../src/contract/reasons.ts"
import { type Figure, figure } from "../report/report.ts"
import type { Answered } from "./score.ts"

/** What one decisive reason said of how sure it is, and how often it was right. */
type CalibrationRow = {
  readonly reason: Reason
  readonly names: number
  readonly said: number
  readonly right: number
  /** The share that is right where every label weighs the same: what `right` owes to the sample's many firms is the difference. It is not judged. */
  readonly balanced: number
}

/** Of fewer names a share says little. */
const NAMES_MIN = 200
/** How far a confidence may be from the share that is right. */
const GAP_MAX = 0.05

/** What a name weighs in the balanced share. A label of fewer than `NAMES_MIN` names weighs less than the others. */
function weightOf(answers: readonly Answered[]): (answer: Answered) => number {
  const counts = new Map([...Map.groupBy(answers, ({ label }) => label)].map(([label, rows]) => [label, rows.length]))
  return ({ label }) => 1 / Math.max(counts.get(label) ?? 0, NAMES_MIN)
}

/**
 * A row for each decisive reason of the answers: the mean confidence, and the share that is right. Names of which nothing can be known
 * do not count.
 */
export function calibrationRows(answers: readonly Answered[]): readonly CalibrationRow[] {
  const judged = answers.filter(({ label }) => label !== "unknown")
  const weight = weightOf(judged)
  const total = (rows: readonly Answered[]): number => rows.reduce((sum, row) => sum + weight(row), 0)
  const byReason = Map.groupBy(judged, ({ reason }) => reason)
  return REASON_NAMES.flatMap(reason => {
    const rows = byReason.get(reason) ?? []
    if (rows.length === 0) return []
    const right = rows.filter(({ label, answered }) => label === answered)
    const said = rows.reduce((sum, { confidence }) => sum + confidence, 0)
    const names = rows.length
    return [{ reason, names, said: said / names, right: right.length / names, balanced: total(right) / total(rows) }]
  })
}

const isOff = ({ names, said, right }: CalibrationRow): boolean =>
  names >= NAMES_MIN && Math.abs(said - right) > GAP_MAX

/** The rows as a table for people. A row whose share of all names is off ends with a star. */
export const calibrationText = (rows: readonly CalibrationRow[]): readonly string[] => [
  `${"decided by".padEnd(24)} names   said  right  right where each label weighs the same`,
  ...rows.map(row =>
    [
      row.reason.padEnd(24),
      String(row.names).padStart(5),
      row.said.toFixed(3).padStart(6),
      row.right.toFixed(3).padStart(6),
      row.balanced.toFixed(3).padStart(6),
      ...(isOff(row) ? ["*"] : []),
    ].join(" "),
  ),
]

/** How many reasons are off, of those with names enough. */
export function calibrationFigure(part: string, rows: readonly CalibrationRow[]): Figure {
  const judged = rows.filter(({ names }) => names >= NAMES_MIN)
  const off = judged.filter(isOff).length
  return figure(`confidence: reasons off by more than ${GAP_MAX}, ${part}`, `of ${judged.length}`, off)
}
