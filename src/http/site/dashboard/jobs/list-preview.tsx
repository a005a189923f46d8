/** @jsxImportSource preact */
import { JOB_LIMITS } from "../../../../contract/jobs.ts"
import type { JobEstimateBody } from "../../../../contract/jobs-schema.ts"
import type { SampleRow } from "../../../../jobs/list-estimate.ts"
import type { SeenList } from "../../../v1/jobs.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { Notice } from "../../ui/panels.tsx"
import { readingParts } from "./list-words.ts"
import { COLUMNS_SHOWN_MAX, columnsOf, columnValue } from "./reading-fields.tsx"

/** A list that was sent to be seen, by the name of its file. */
export type PreviewedList = SeenList & { readonly fileName: string }

/** How a list is read, and its first rows with the column that is checked. */
export function ListPreview(preview: PreviewedList) {
  const { body, sample } = preview
  const { rows, units_needed: needed, units_left: left } = body
  return (
    <section id="preview" role="status" aria-label="Preview">
      <FoundLine {...preview} />
      {sample.length === 0 ? null : <SampleTable body={body} sample={sample} />}
      {rows === 0 ? (
        <Notice tone="review">There is no row to check in this file.</Notice>
      ) : (
        <p class="hint">Nothing is stored yet. This preview cost {formatCount(JOB_LIMITS.dryRunUnits, "unit")}.</p>
      )}
      {left !== null && needed > left ? (
        <Notice tone="review">
          The check pauses when today's units are used up, and continues automatically after 00:00 UTC.
        </Notice>
      ) : null}
    </section>
  )
}

/** What was found, in one line. */
function FoundLine({ body, fileName, rowsRepeated }: Omit<PreviewedList, "sample">) {
  const { reading, columns, rows, rows_skipped: skipped, rows_cleaned: cleaned } = body
  const { column_number: number, header_line: line } = reading
  const name = number === null || line === null ? null : (columns[number - 1] ?? null)
  const counts = [
    [skipped, "empty"],
    [cleaned, "cleaned"],
    [rowsRepeated ?? 0, rowsRepeated === 1 ? "duplicate" : "duplicates"],
  ] as const
  const found = counts.flatMap(([count, what]) => (count === 0 ? [] : [`, ${formatNumber(count)} ${what}`]))
  return (
    <p class="found">
      <b class="file-name">
        <bdi class="any">{fileName}</bdi> ·{" "}
      </b>
      {readingParts(reading, name).map(part => (
        <span key={part}>
          <bdi>{part}</bdi> ·{" "}
        </span>
      ))}
      <b>{formatCount(rows, "row")}</b>
      {found}
    </p>
  )
}

type SampleTableProps = {
  readonly body: JobEstimateBody
  readonly sample: readonly SampleRow[]
}

/** The first rows. The heading of each column chooses it as the one that is checked. */
function SampleTable({ body, sample }: SampleTableProps) {
  const { columns, reading } = body
  const checked = (reading.column_number ?? 1) - 1
  const first = columns.keys().take(COLUMNS_SHOWN_MAX).toArray()
  // The column that is checked stands first, where no narrow screen cuts it.
  const indexes = [checked, ...first.filter(index => index !== checked)].slice(0, COLUMNS_SHOWN_MAX)
  const look = (index: number) => (index === checked ? { class: "is-checked" } : {})
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="first-rows" tabIndex={0} aria-label="The first rows">
      <table>
        <caption class="unseen">The first rows</caption>
        <thead>
          <tr>
            {indexes.map(index => (
              <th key={index} scope="col" {...look(index)}>
                <ColumnHeading {...{ body, index, isChecked: index === checked }} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((row, at) => (
            <tr key={at}>
              {indexes.map(index => (
                <td key={index} {...look(index)}>
                  <bdi>{row.cells[index] ?? ""}</bdi>
                  {index === checked ? <CheckedNote row={row} /> : null}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

type ColumnHeadingProps = { readonly body: JobEstimateBody; readonly index: number; readonly isChecked: boolean }

function ColumnHeading({ body, index, isChecked }: ColumnHeadingProps) {
  const { columns, reading } = body
  if (reading.format !== "csv") return <>Line</>
  const known = columnsOf(body)
  const given = known.names[index]?.trim() ?? ""
  const name = given === "" ? `Column ${index + 1}` : given
  if (columns.length > COLUMNS_SHOWN_MAX) return <bdi>{name}</bdi>
  return (
    <label>
      <input type="radio" name="column" value={columnValue(known.names, index)} checked={isChecked} />
      <bdi>{name}</bdi>
    </label>
  )
}

/** What is checked of a row, where that is not its cell. */
function CheckedNote({ row: { checked, isSkipped, isCleaned, others } }: { readonly row: SampleRow }) {
  if (isSkipped) return <small> skipped</small>
  if (checked === null) return <small> cannot be read</small>
  if (!isCleaned) return null
  return (
    <small>
      {" → "}
      <bdi>{checked}</bdi>
      {others.length === 0 ? null : `, not ${others.join(", ")}`}
    </small>
  )
}
