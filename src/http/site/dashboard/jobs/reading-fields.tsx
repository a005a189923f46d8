/** @jsxImportSource preact */
import { JOB_LIMITS } from "../../../../contract/jobs.ts"
import type { JobEstimateBody } from "../../../../contract/jobs-schema.ts"
import type { ColumnChoice } from "../../../../rows/unreadable-file.ts"
import { SelectField, TextField } from "../../ui/forms.tsx"
import type { ReadingField, UploadValues } from "./list-upload.ts"
import {
  columnLabel,
  DELIMITER_LABELS,
  delimiterLabel,
  ENCODING_LABELS,
  encodingLabel,
  FORMAT_LABELS,
  FORMAT_NAMES,
} from "./list-words.ts"

type ReadingFieldsProps = {
  readonly values: UploadValues
  readonly errorAt: (field: ReadingField) => string | null
  /** What a preview found; null: there was none. */
  readonly found: JobEstimateBody | null
  /** The columns to choose from, of which a refusal says that one must be named; null: it says no such thing. */
  readonly choice: ColumnChoice | null
}

/** Columns of a wide table that a preview displays, with that of the inputs. In a table of more, the column is chosen among these fields. */
export const COLUMNS_SHOWN_MAX = 12

const READING_FIELDS: readonly ReadingField[] = ["format", "column", "delimiter", "encoding", "skip", "sheet"]

/** Whether anything is said, or wrong, of how the file is read. A column that is chosen among the first rows stands there. */
export function isReadingSaid(values: UploadValues, errorAt: ReadingFieldsProps["errorAt"]): boolean {
  const isSaid = (field: ReadingField) => field !== "column" && values[field] !== ""
  return !values.hasHeader || values.isForced || READING_FIELDS.some(field => isSaid(field) || errorAt(field) !== null)
}

/** How the file is read, which most people need not say. The script puts those of a preview in the place of these. */
export function ReadingFields({ values, errorAt, found, choice }: ReadingFieldsProps) {
  const reading = found?.reading ?? null
  const isColumnSampled = reading !== null && (found?.columns.length ?? 0) <= COLUMNS_SHOWN_MAX
  return (
    <div id="reading" class="folded reading-fields">
      {isColumnSampled ? null : (
        <ColumnField value={values.column} error={errorAt("column")} found={found} choice={choice} />
      )}
      {CHOICE_FIELDS.map(({ name, label, labels, found: foundIn }) => (
        <SelectField
          key={name}
          {...{ name, label, selected: values[name], error: errorAt(name) }}
          options={[
            { value: "", label: foundLabel(values[name] === "" && reading !== null ? foundIn(reading) : null) },
            ...Object.entries(labels).map(([value, option]) => ({ value, label: option })),
          ]}
        />
      ))}
      <TextField
        {...{ name: "skip", label: "Lines above the header", value: values.skip, error: errorAt("skip") }}
        hint="Such as a title or notes. They stay above the results."
        placeholder={foundLabel(reading === null ? null : String(reading.lines_above))}
        {...{ inputMode: "numeric", pattern: "[0-9]*", autocomplete: "off" }}
        maxLength={String(JOB_LIMITS.skippedLinesMax).length}
      />
      <TextField
        {...{ name: "sheet", label: "Sheet", value: values.sheet, error: errorAt("sheet") }}
        hint="Of a spreadsheet, by name or number."
        {...{ placeholder: "First sheet", maxLength: JOB_LIMITS.columnNameLengthMax, autocomplete: "off" }}
      />
      <label class="check">
        <input type="checkbox" name="headless" value="yes" checked={!values.hasHeader} />
        <span>No header: the first row is data</span>
      </label>
      <label class="check">
        <input type="checkbox" name="force" value="yes" checked={values.isForced} />
        <span>Check it anyway, even if nothing looks like an address, a domain or a website</span>
      </label>
    </div>
  )
}

/** What stands in a field that leaves it to the server; null: it has found nothing yet. */
const foundLabel = (found: string | null): string => (found === null ? "Detect automatically" : `Found: ${found}`)

type ChoiceField = {
  readonly name: "format" | "delimiter" | "encoding"
  readonly label: string
  readonly labels: Readonly<Record<string, string>>
  /** What a preview found. */
  readonly found: (reading: JobEstimateBody["reading"]) => string | null
}

/** What is chosen from a list. */
const CHOICE_FIELDS: readonly ChoiceField[] = [
  { name: "format", label: "Format", labels: FORMAT_LABELS, found: ({ format }) => FORMAT_NAMES[format] },
  {
    ...{ name: "delimiter", label: "Delimiter", labels: DELIMITER_LABELS },
    found: ({ delimiter }) => (delimiter === null ? null : delimiterLabel(delimiter)),
  },
  { name: "encoding", label: "Encoding", labels: ENCODING_LABELS, found: ({ encoding }) => encodingLabel(encoding) },
]

type ColumnFieldProps = {
  readonly value: string
  readonly error: string | null
} & Pick<ReadingFieldsProps, "found" | "choice">

/** The column with the inputs: one of those that are known, else a name or a number. */
function ColumnField({ value, error, found, choice }: ColumnFieldProps) {
  const number = found?.reading.column_number ?? null
  const known = number === null ? choice : columnsOf(found)
  const field = { name: "column", label: "Column", error }
  if (known === null || known.indexes.length === 0)
    return (
      <TextField
        {...field}
        hint="The one to check, by name or number."
        value={value}
        placeholder="Detect automatically"
        maxLength={JOB_LIMITS.columnNameLengthMax}
        autocomplete="off"
        spellcheck={false}
      />
    )
  return (
    <SelectField
      {...field}
      hint="The one to check."
      options={[
        {
          value: "",
          label:
            number === null
              ? "Choose a column"
              : foundLabel(value === "" ? columnLabel(number, known.names[number - 1]) : null),
        },
        ...known.indexes.map(index => ({
          value: columnValue(known.names, index),
          label: columnLabel(index + 1, known.names[index]),
        })),
      ]}
      selected={number === null || value === "" ? "" : columnValue(known.names, number - 1)}
    />
  )
}

/** All columns of a table, with their names if it has a header. */
export const columnsOf = (found: JobEstimateBody | null): ColumnChoice => ({
  names: found === null || found.reading.header_line === null ? [] : found.columns,
  indexes: found?.columns.keys().toArray() ?? [],
})

/** What names a column for the server: its number, or its name where another column is named like that number. */
export function columnValue(names: readonly string[], index: number): string {
  const number = String(index + 1)
  return names.some((name, at) => at !== index && name.trim() === number) ? (names[index] ?? number) : number
}
