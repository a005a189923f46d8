/** @jsxImportSource preact */
import { JOB_FORMAT_NAMES, JOB_LIMITS } from "../../../../contract/jobs.ts"
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
  const { format, delimiter, encoding, hasHeader, isForced } = values
  const reading = found?.reading ?? null
  const isColumnSampled = reading !== null && (found?.columns.length ?? 0) <= COLUMNS_SHOWN_MAX
  return (
    <div id="reading" class="folded reading-fields">
      {isColumnSampled ? null : (
        <ColumnField value={values.column} error={errorAt("column")} found={found} choice={choice} />
      )}
      <ChoiceField
        {...{ name: "format", label: "Format", labels: FORMAT_OPTIONS, selected: format, error: errorAt("format") }}
        found={reading === null ? null : FORMAT_NAMES[reading.format]}
      />
      <ChoiceField
        {...{ name: "delimiter", label: "Delimiter", labels: DELIMITER_LABELS, selected: delimiter }}
        error={errorAt("delimiter")}
        found={reading === null || reading.delimiter === null ? null : delimiterLabel(reading.delimiter)}
      />
      <ChoiceField
        {...{ name: "encoding", label: "Encoding", labels: ENCODING_LABELS, selected: encoding }}
        error={errorAt("encoding")}
        found={reading === null ? null : encodingLabel(reading.encoding)}
      />
      <PlaceFields values={values} errorAt={errorAt} found={found} />
      <label class="check">
        <input type="checkbox" name="headless" value="yes" checked={!hasHeader} />
        <span>No header: the first row is data</span>
      </label>
      <label class="check">
        <input type="checkbox" name="force" value="yes" checked={isForced} />
        <span>Check it anyway, even if nothing looks like an address, a domain or a website</span>
      </label>
    </div>
  )
}

/** Where the table stands in the file. */
function PlaceFields({ values: { skip, sheet }, errorAt, found }: Omit<ReadingFieldsProps, "choice">) {
  return (
    <>
      <TextField
        name="skip"
        label="Lines above the header"
        hint="Such as a title or notes. They stay above the results."
        value={skip}
        placeholder={found === null ? "Detect automatically" : `Found: ${found.reading.lines_above}`}
        inputMode="numeric"
        pattern="[0-9]*"
        maxLength={String(JOB_LIMITS.skippedLinesMax).length}
        autocomplete="off"
        error={errorAt("skip")}
      />
      <TextField
        name="sheet"
        label="Sheet"
        hint="Of a spreadsheet, by name or number."
        value={sheet}
        placeholder="First sheet"
        maxLength={JOB_LIMITS.columnNameLengthMax}
        autocomplete="off"
        error={errorAt("sheet")}
      />
    </>
  )
}

const FORMAT_OPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  JOB_FORMAT_NAMES.map(name => [name, FORMAT_LABELS[name]]),
)

type ChoiceFieldProps = {
  readonly name: ReadingField
  readonly label: string
  readonly labels: Readonly<Record<string, string>>
  readonly selected: string
  readonly error: string | null
  /** What a preview found; null: nothing yet. */
  readonly found: string | null
}

/** A drop-down list whose first option leaves it to the server, and says what it found. */
const ChoiceField = ({ labels, found, ...field }: ChoiceFieldProps) => (
  <SelectField
    {...field}
    options={[
      { value: "", label: field.selected === "" && found !== null ? `Found: ${found}` : "Detect automatically" },
      ...Object.entries(labels).map(([value, label]) => ({ value, label })),
    ]}
  />
)

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
  const isFound = number !== null && value === ""
  const first = isFound ? `Found: ${columnLabel(number, known.names[number - 1])}` : "Detect automatically"
  return (
    <SelectField
      {...field}
      hint="The one to check."
      options={[
        { value: "", label: number === null ? "Choose a column" : first },
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
