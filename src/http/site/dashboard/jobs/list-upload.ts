import { holdsAddress } from "../../../../base/address-redaction.ts"
import { hasAtMostCharacters } from "../../../../base/text.ts"
import { JOB_FORMATS, JOB_LIMITS, type JobFormat } from "../../../../contract/jobs.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, type Policy } from "../../../../contract/policies.ts"
import { delimiterOf } from "../../../../contract/reading.ts"
import type { JobOptions } from "../../../../customers/jobs/job-row.ts"
import type { ListReading } from "../../../../jobs/receive-list.ts"
import { encodingName, readFileName } from "../../../../rows/file-format.ts"
import type { ColumnChoice } from "../../../../rows/unreadable-file.ts"
import type { BodyReservations } from "../../../request/body.ts"
import { COLUMN_ADDRESS, parseCallback } from "../../../request/job-input.ts"
import {
  FIELD_BYTES_MAX,
  FORM_BYTES_MAX,
  type FormPart,
  formBoundary,
  formParts,
  readField,
} from "../../../request/multipart.ts"
import { type UploadDeps, uploadChunks } from "../../../request/upload.ts"
import { invalidInput, Problem } from "../../../response/problem.ts"
import { readForm } from "../../form-body.ts"
import { formatBytes } from "../../ui/format.ts"
import { printableInput } from "../keys/printable-input.ts"

/** The fields that say how the file is read. */
export type ReadingField = "format" | "column" | "delimiter" | "encoding" | "skip" | "sheet"

/** What is entered in the fields besides the file. Empty: how the file is read is found, and its first sheet is taken. */
export type UploadValues = { readonly [F in ReadingField]: string } & {
  readonly name: string
  readonly policy: string
  readonly hasHeader: boolean
  readonly isForced: boolean
  /** Whether the results tell which rows have the input of an earlier one. */
  readonly marksDuplicates: boolean
  /** Addresses that are entered in place of a file. */
  readonly pasted: string
  /** Tells one form from another: what is sent twice is one list. */
  readonly once: string
  /** The URL that gets callbacks. Empty: none. */
  readonly callback: string
}

/** What is wrong with a field; `form`: with the upload as a whole. */
export type UploadFault = {
  readonly field: "name" | "policy" | "callback" | "file" | "form" | ReadingField
  readonly message: string
  /** The columns to choose from; absent: they are not known. */
  readonly choice?: ColumnChoice | null
}

/** An upload whose fields were read, and whose file is arriving. */
export type ArrivingList = {
  readonly values: UploadValues
  /** Null: none was chosen. */
  readonly file: Pick<FormPart, "fileName" | "mediaType" | "content"> | null
  /** The length of the form, as the browser tells it. */
  readonly formBytes: number
  /** Must be called when nothing more is read. */
  readonly close: () => Promise<void>
}

const FIELDS_MAX = 20

/** Addresses in place of a file: so many characters, of three bytes at most. */
export const PASTED_LENGTH_MAX = 40_000
const PASTED = "pasted"
const PASTED_NAME = "Pasted addresses"

/**
 * Reads the fields of the form up to the file, which comes last. Throws `payload_too_large` for a form that is longer than the largest
 * list, and `invalid_input` for one that is malformed.
 */
export async function readListUpload(
  request: Request,
  deps: UploadDeps & { readonly loadShedder: BodyReservations },
  bytesMax: number,
): Promise<ArrivingList> {
  const boundary = formBoundary(request.headers.get("content-type"))
  const formBytes = Number(request.headers.get("content-length") ?? 0)
  if (boundary === null) {
    const form = await readForm(request, LIMITS.bodyBytesMax, deps.loadShedder)
    const values = valuesOf(form.text)
    return { values, file: pastedFile(values), formBytes, close: async () => undefined }
  }
  if (formBytes > bytesMax + FORM_BYTES_MAX) throw listTooLarge(bytesMax)
  const parts = formParts(uploadChunks(request, deps), boundary)
  const fields = new Map<string, string>()
  const close = async (): Promise<void> => void (await parts.return(undefined))
  const upload = (file: ArrivingList["file"]): ArrivingList => {
    const values = valuesOf(name => fields.get(name)?.trim() ?? "")
    return { values, file: file ?? pastedFile(values), formBytes, close }
  }
  try {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      const { name, fileName, content } = next.value
      if (fileName === null && fields.size < FIELDS_MAX) {
        fields.set(name, await readShortField(name, content))
      } else if (fileName !== null && fileName !== "") return upload(next.value)
    }
    return upload(null)
  } catch (error) {
    await close()
    throw error
  }
}

async function readShortField(name: string, content: FormPart["content"]): Promise<string> {
  const text = await readField(content, name === PASTED ? 3 * PASTED_LENGTH_MAX : FIELD_BYTES_MAX)
  if (text === null) throw invalidInput([{ pointer: "", detail: "A field of the form is too long." }])
  return text
}

/** What was pasted, as a file; null: nothing was. Addresses in one line are one each, as in the field of a mail. */
function pastedFile({ pasted }: UploadValues): ArrivingList["file"] {
  if (pasted === "") return null
  const content = (async function* () {
    yield Buffer.from(`${pasted.includes("\n") ? pasted : pasted.replaceAll(/[,;]\s*/g, "\n")}\n`)
    return undefined
  })()
  return { fileName: PASTED_NAME, mediaType: "", content }
}

/** The problem 413 of a list. */
export const listTooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The list is larger than ${formatBytes(bytesMax)}.`, { limit: bytesMax })

/** Reads the fields. Of a field that is missing the text is empty. */
const valuesOf = (text: (name: string) => string): UploadValues => ({
  policy: text("policy") === "" ? POLICY_DEFAULT : text("policy"),
  ...{ name: text("name"), callback: text("callback"), pasted: text(PASTED), once: text("once") },
  ...{ format: text("format"), column: text("column"), delimiter: text("delimiter"), encoding: text("encoding") },
  ...{ skip: text("skip"), sheet: text("sheet"), hasHeader: text("headless") !== "yes" },
  ...{ isForced: text("force") === "yes", marksDuplicates: text("duplicates") === "yes" },
})

/** Nothing is entered yet. */
export const EMPTY_UPLOAD = valuesOf(() => "")

/** What is asked for, or what is wrong with it. Callbacks need a secret of the account. */
export function parseUpload(
  { values, file }: Pick<ArrivingList, "values" | "file">,
  hasCallbackSecret: boolean,
  allowsLocalCallbacks: boolean,
): AskedUpload | UploadFault {
  if (file === null) return { field: "file", message: "Choose a file or paste addresses." }
  const fileName = file.fileName ?? ""
  const { policy } = values
  if (!isPolicy(policy)) return { field: "policy", message: "Choose one of the policies." }
  if (!hasAtMostCharacters(values.name, JOB_LIMITS.nameLengthMax))
    return { field: "name", message: `A name has at most ${JOB_LIMITS.nameLengthMax} characters.` }
  const reading = parseReading(values, fileName, file.mediaType)
  if ("field" in reading) return reading
  const callback = callbackOf(values.callback, hasCallbackSecret, allowsLocalCallbacks)
  if (callback !== null && typeof callback === "object") return callback
  const { format, column, hasHeader } = reading
  const options = {
    ...{ format: format ?? "text", column, hasHeader, policy, includesTenant: true, callbackUrl: callback },
    ...{ tellsCanonical: false, tellsDuplicates: values.marksDuplicates, columns: null },
    name: printableInput(values.name === "" ? fileName : values.name),
  }
  return { options, reading }
}

/** How the list is asked to be read, or what is wrong with that. */
function parseReading(values: UploadValues, fileName: string, mediaType: string): ListReading | UploadFault {
  const format = formatOf(values.format, fileName, mediaType)
  if (format === "unknown") return { field: "format", message: "Choose one of the formats." }
  const columnMessage = columnFault(values.column, format)
  if (columnMessage !== null) return { field: "column", message: columnMessage }
  const delimiter = entered(values.delimiter, delimiterOf)
  if (delimiter === undefined) return { field: "delimiter", message: "Choose one of the delimiters." }
  const encoding = entered(values.encoding, encodingName)
  if (encoding === undefined) return { field: "encoding", message: "Choose one of the encodings." }
  const skippedLines = entered(values.skip, lineCount)
  if (skippedLines === undefined)
    return { field: "skip", message: `Enter a whole number from 0 to ${JOB_LIMITS.skippedLinesMax}.` }
  const column = entered(values.column, asItIs) ?? null
  const isTable = !values.hasHeader || delimiter !== null || column !== null
  const named = readFileName(fileName)
  return {
    ...{ format: format ?? (isTable ? "csv" : null), column, delimiter: delimiter ?? named.delimiter, encoding },
    ...{ hasHeader: values.hasHeader || (format !== null && format !== "csv"), skippedLines },
    ...{ isForced: values.isForced, sheet: entered(values.sheet, asItIs) ?? null, isJson: named.isJson },
  }
}

/** What a field says; null: nothing was entered. Undefined: nothing that it can say. */
const entered = <T>(text: string, parse: (text: string) => T | null): T | null | undefined =>
  text === "" ? null : (parse(text) ?? undefined)
const asItIs = (text: string): string => text

/** A number of lines above a header; null: it is none, or too large. */
const lineCount = (text: string): number | null =>
  /^\d{1,9}$/.test(text) && Number(text) <= JOB_LIMITS.skippedLinesMax ? Number(text) : null

/** What is wrong with the name of a column; null: nothing. */
function columnFault(column: string, format: JobFormat | null): string | null {
  if (!hasAtMostCharacters(column, JOB_LIMITS.columnNameLengthMax))
    return `A column has at most ${JOB_LIMITS.columnNameLengthMax} characters.`
  if (holdsAddress(column)) return COLUMN_ADDRESS
  return format === "text" && column !== ""
    ? "A text has no columns. Leave this empty, or choose another format."
    : null
}

/** What is asked of a list, and how it is to be read. */
export type AskedUpload = { readonly options: JobOptions; readonly reading: ListReading }

/** The URL that gets callbacks, or what is wrong with it; null: none. */
function callbackOf(url: string, hasSecret: boolean, allowsLocal: boolean): string | UploadFault | null {
  if (url === "") return null
  const callback = parseCallback(url, allowsLocal)
  if (callback.kind === "fault") return { field: "callback", message: callback.message }
  if (hasSecret) return callback.url
  return {
    field: "callback",
    message: "Callbacks are signed. Make a callback secret first, at the bottom of this page.",
  }
}

const isPolicy = (policy: string): policy is Policy => Object.hasOwn(POLICIES, policy)
const isFormat = (format: string): format is JobFormat => Object.hasOwn(JOB_FORMATS, format)

/** The chosen format, else that of the file's name or media type. Null: it is found. `unknown`: there is no such format. */
function formatOf(chosen: string, fileName: string, mediaType: string): JobFormat | null | "unknown" {
  if (chosen !== "") return isFormat(chosen) ? chosen : "unknown"
  return readFileName(fileName).format ?? (/^text\/csv\b/i.test(mediaType) ? "csv" : null)
}
