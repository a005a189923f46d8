/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import type { JobEstimateBody } from "../../../../contract/jobs-schema.ts"
import type { SampleRow } from "../../../../jobs/list-estimate.ts"
import { kindColumns } from "../../../../rows/input-column.ts"
import type { SeenList } from "../../../v1/jobs.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { DescriptionList } from "../../ui/layout.tsx"
import type { UploadValues } from "./list-upload.ts"
import { columnLabel, delimiterLabel, encodingLabel, FORMAT_NAMES, KIND_LABELS } from "./list-words.ts"

type ListPreviewProps = SeenList & { readonly values: UploadValues }

/** How a list is read and why, its first rows, and what it would cost. */
export function ListPreview({ values, body, sample }: ListPreviewProps) {
  const { rows, rows_skipped: skipped, rows_cleaned: cleaned, units_needed: needed, units_left: left } = body
  return (
    <section class="wide-field" id="preview" role="status" aria-labelledby="found">
      <h3 id="found">Preview</h3>
      <DescriptionList
        items={[
          ["Rows", <RowCounts rows={rows} skipped={skipped} cleaned={cleaned} />],
          ["Different domains", formatNumber(body.unique_domains)],
          ["Costs", `${formatCount(needed, "unit")}${left === null ? "" : `, of ${formatNumber(left)} left today`}`],
          ...foundFacts(body, values),
        ]}
      />
      {left !== null && needed > left ? (
        <p class="told">
          The check stops when your units of today are used up, and continues by itself after 00:00 UTC.
        </p>
      ) : null}
      {sample.length === 0 ? null : <SampleTable body={body} sample={sample} />}
      <p class="hint">
        Nothing was stored. Is something wrong? Change it under “How the file is read”, and preview again.
      </p>
    </section>
  )
}

function RowCounts({ rows, skipped, cleaned }: Readonly<Record<"rows" | "skipped" | "cleaned", number>>) {
  const parts = [
    ...(skipped === 0 ? [] : [`${formatNumber(skipped)} skipped: nothing to check, free`]),
    ...(cleaned === 0 ? [] : [`${formatNumber(cleaned)} cleaned`]),
  ]
  return <>{[formatNumber(rows), ...parts].join(" · ")}</>
}

/** What was found, each with its reason. */
function foundFacts(body: JobEstimateBody, values: UploadValues): (readonly [string, ComponentChildren])[] {
  const { format, encoding, delimiter, header_line: headerLine, lines_above: above } = body.reading
  const aboveText = `${formatCount(above, "line")} above ${above === 1 ? "stays" : "stay"} as ${above === 1 ? "it is" : "they are"}`
  const isNamed = values.format !== ""
  return [
    ["Format", fact(FORMAT_NAMES[format], isNamed ? CHOSEN : "by its name and its first lines")],
    ["Encoding", fact(encodingLabel(encoding), values.encoding === "" ? encodingReason(encoding) : CHOSEN)],
    ...(delimiter === null
      ? []
      : [
          [
            "Delimiter",
            fact(delimiterLabel(delimiter), values.delimiter === "" ? delimiterReason(body) : CHOSEN),
          ] as const,
        ]),
    ...(format === "csv"
      ? [
          [
            "Header",
            `${headerLine === null ? "none" : `line ${headerLine}`}${above === 0 ? "" : `: ${aboveText}`}`,
          ] as const,
        ]
      : []),
    ...(format === "csv" ? [["Column", <FoundColumn body={body} isChosen={values.column !== ""} />] as const] : []),
  ]
}

const CHOSEN = "as you chose"
const fact = (what: string, why: string): ComponentChildren => (
  <>
    {what} <span class="because">({why})</span>
  </>
)

const encodingReason = (encoding: string): string =>
  ({ "utf-8": "all of it is valid UTF-8", "windows-1252": "it is not valid UTF-8" })[encoding] ?? "by its first bytes"

const delimiterReason = ({ columns }: JobEstimateBody): string =>
  columns.length === 1 ? "there is one column" : `most rows have ${columns.length} cells by it`

/** The column with the inputs, and others that look like it. */
function FoundColumn({ body, isChosen }: { readonly body: JobEstimateBody; readonly isChosen: boolean }) {
  const { columns, other_columns: others, reading } = body
  const number = reading.column_number ?? 1
  const name = reading.header_line === null ? undefined : columns[number - 1]
  const kind = reading.kind === null ? "" : `, with ${KIND_LABELS[reading.kind]}`
  const otherNames = others.map(other =>
    columnLabel(other, reading.header_line === null ? undefined : columns[other - 1]),
  )
  return (
    <>
      <bdi>{columnLabel(number, name)}</bdi>
      {kind}
      <span class="because"> ({isChosen ? CHOSEN : columnReason(body)})</span>
      {otherNames.length === 0 ? null : (
        <span class="line">
          {others.length === 1 ? "Another column looks" : "Other columns look"} like it:{" "}
          <bdi>{otherNames.join(", ")}</bdi>
        </span>
      )}
    </>
  )
}

function columnReason({
  columns,
  reading: { kind, column_number: number, header_line: line },
}: JobEstimateBody): string {
  const isNamed = line !== null && kind !== null && kindColumns(columns, kind).some(({ index }) => index + 1 === number)
  return isNamed ? "by its name" : "by its cells"
}

/** Columns of a wide table that are shown, with that of the inputs. */
const COLUMNS_SHOWN_MAX = 12

function SampleTable({ body, sample }: { readonly body: JobEstimateBody; readonly sample: readonly SampleRow[] }) {
  const { columns, reading } = body
  const chosen = (reading.column_number ?? 1) - 1
  const first = columns.keys().take(COLUMNS_SHOWN_MAX).toArray()
  const indexes = first.includes(chosen) ? first : [...first.slice(1), chosen]
  const look = (index: number) => (index === chosen ? { class: "chosen" } : {})
  const nameOf = (index: number): string => {
    if (reading.format !== "csv") return "Line"
    return reading.header_line === null ? `Column ${index + 1}` : (columns[index] ?? "")
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="first-rows" tabIndex={0} aria-label="The first rows">
      <table>
        <caption class="unseen">The first rows</caption>
        <thead>
          <tr>
            <th scope="col">What is checked</th>
            {indexes.map(index => (
              <th key={index} scope="col" {...look(index)}>
                {nameOf(index)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((row, at) => (
            <tr key={at}>
              <td>
                <CheckedCell row={row} />
              </td>
              {indexes.map(index => (
                <td key={index} {...look(index)}>
                  {row.cells[index] ?? ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What is checked of a row, and what was done for that. */
function CheckedCell({ row: { checked, isSkipped, isCleaned, others } }: { readonly row: SampleRow }) {
  if (isSkipped) return <span class="because">skipped</span>
  if (checked === null) return <span class="because">cannot be read</span>
  return (
    <>
      <bdi>{checked}</bdi>
      {isCleaned ? <span class="because"> · cleaned</span> : null}
      {others.length === 0 ? null : <span class="because line">not checked: {others.join(", ")}</span>}
    </>
  )
}
