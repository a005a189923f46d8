import { REASON_NAMES, type Reason } from "../../src/contract/reasons.ts"
import { type Figure, figure } from "../report/report.ts"
import type { Answered } from "./score.ts"

/** What one decisive reason said of how sure it is, and how often it was right. */
type CalibrationRow = { readonly reason: Reason; readonly names: number; readonly said: number; readonly right: number }

/** Of fewer names a share says little. */
const NAMES_MIN = 200
/** How far a confidence may be from the share that is right. */
const GAP_MAX = 0.05

/**
 * A row for each decisive reason of the answers: the mean confidence, and the share that is right. Names of which nothing can be known
 * do not count.
 */
export function calibrationRows(answers: readonly Answered[]): readonly CalibrationRow[] {
  const byReason = Map.groupBy(
    answers.filter(({ label }) => label !== "unknown"),
    ({ reason }) => reason,
  )
  return REASON_NAMES.flatMap(reason => {
    const rows = byReason.get(reason) ?? []
    if (rows.length === 0) return []
    const right = rows.filter(({ label, answered }) => label === answered).length
    const said = rows.reduce((sum, { confidence }) => sum + confidence, 0)
    return [{ reason, names: rows.length, said: said / rows.length, right: right / rows.length }]
  })
}

const isOff = ({ names, said, right }: CalibrationRow): boolean =>
  names >= NAMES_MIN && Math.abs(said - right) > GAP_MAX

/** The rows as a table for people. A row that is off ends with a star. */
export const calibrationText = (rows: readonly CalibrationRow[]): readonly string[] => [
  `${"decided by".padEnd(24)} names   said  right`,
  ...rows.map(row =>
    [
      row.reason.padEnd(24),
      String(row.names).padStart(5),
      row.said.toFixed(3).padStart(6),
      row.right.toFixed(3).padStart(6),
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
