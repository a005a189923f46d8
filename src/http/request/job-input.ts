import { TypeCompiler } from "@sinclair/typebox/compiler"
import { holdsAddress, urlHoldsAddress } from "../../base/address-redaction.ts"
import { lazy } from "../../base/lazy.ts"
import { FETCH_ERROR_CAUSES, parseFetchTarget, parseLocalTarget } from "../../check/fetch/fetch-target.ts"
import { CALLBACK_LIMITS } from "../../contract/callbacks.ts"
import { JOB_FORMAT_NAMES, JOB_LIMITS, type JobFormat } from "../../contract/jobs.ts"
import { JobQuery, JobResultsQuery } from "../../contract/jobs-schema.ts"
import { POLICY_DEFAULT, RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { DELIMITER_NAMES, delimiterOf } from "../../contract/reading.ts"
import { parseResultColumns, RESULT_COLUMNS_RULE } from "../../contract/result-columns.ts"
import type { JobOptions } from "../../customers/jobs/job-row.ts"
import type { ListReading } from "../../jobs/receive-list.ts"
import { encodingName } from "../../rows/file-format.ts"
import { INVALID_POLICY, type InputFault, invalidInput } from "../response/problem.ts"
import type { ArrivingUpload } from "./job-upload.ts"
import { parameterCountFault, uriParameters } from "./request-url.ts"

const BOOLEAN_VALUES: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false }
const BOOLEANS: readonly string[] = ["header", "workspace", "dry", "force", "canonical", "duplicates"]
const INTEGERS: readonly string[] = ["skip"]

const jobQuery = lazy(() => TypeCompiler.Compile(JobQuery))

/** The options of an upload, how its list is asked to be read, and whether it is only estimated. */
export type UploadInput = {
  readonly options: JobOptions
  readonly reading: ListReading
  readonly isDry: boolean
}

/** What is known of the list of an upload beside the query. */
type KnownList = Pick<ArrivingUpload, "fields" | "format" | "delimiter" | "isJson">

/** Reads the parameters of POST /v1/jobs, of which a form may have some as fields. Throws `invalid_input`. */
export function parseUploadQuery(url: string, list: KnownList, allowsLocalCallbacks = false): UploadInput {
  const query: unknown = readQuery(url, Object.keys(JobQuery.properties), list.fields)
  const isValid = jobQuery()
  if (!isValid.Check(query)) throw invalidInput([faultOf(isValid.Errors(query).First()?.path.slice(1) ?? "")])
  const { policy = POLICY_DEFAULT, workspace = true, name = null, dry: isDry = false } = query
  const reading = parseReading(query, list)
  const { column, hasHeader } = reading
  const callback = query.callback === undefined ? null : parseCallback(query.callback, allowsLocalCallbacks)
  if (callback?.kind === "fault") throw invalidInput([{ parameter: "callback", detail: callback.message }])
  const format = query.format ?? list.format ?? "text"
  const callbackUrl = callback?.url ?? null
  const { canonical: tellsCanonical = false, duplicates = false } = query
  const columns = named(query, "columns", parseResultColumns)
  if (columns !== null && format === "ndjson") throw invalidInput([{ parameter: "columns", detail: NDJSON_COLUMNS }])
  const results = { includesTenant: workspace, tellsCanonical, tellsDuplicates: duplicates !== false, columns }
  return {
    options: { name, format, column, hasHeader, policy, ...results, callbackUrl },
    reading,
    isDry,
  }
}

function parseReading(query: JobQuery, list: KnownList): ListReading {
  const { column = null, header: hasHeader = true, skip = null, force = false, sheet = null } = query
  const format = query.format ?? list.format
  const delimiter = named(query, "delimiter", delimiterOf)
  const encoding = named(query, "encoding", encodingName)
  const isTable = !hasHeader || delimiter !== null
  const fault = formatFault(format, query)
  if (fault !== null) throw invalidInput([fault])
  if (column !== null && holdsAddress(column)) throw invalidInput([{ parameter: "column", detail: COLUMN_ADDRESS }])
  return {
    ...{ format: format ?? (isTable || column !== null ? "csv" : null), column, hasHeader, encoding },
    ...{ delimiter: delimiter ?? list.delimiter, skippedLines: skip, isForced: force, sheet, isJson: list.isJson },
  }
}

/** Why a list of a format cannot be read as asked. */
function formatFault(format: JobFormat | null, { column, header, delimiter }: JobQuery): InputFault | null {
  if (format === "text" && column !== undefined)
    return { parameter: "column", detail: "A text has no columns. `format` names another format." }
  if (format === null || format === "csv" || (header !== false && delimiter === undefined)) return null
  const parameter = header === false ? "header" : "delimiter"
  return { parameter, detail: `Only CSV has a ${parameter}. \`format\` names another format.` }
}

/** What a parameter names; null: it is absent. Throws `invalid_input` when it names nothing. */
function named<T>(
  query: JobQuery,
  parameter: "delimiter" | "encoding" | "columns",
  find: (text: string) => T | null,
): T | null {
  const text = query[parameter]
  const found = text === undefined ? null : find(text)
  if (text !== undefined && found === null) throw invalidInput([faultOf(parameter)])
  return found
}

/** Why a column cannot be named so. Its name is stored with the job. */
export const COLUMN_ADDRESS =
  "The name of the column looks like an address, which is not stored. Name the column by its number, and say when the file has no header."

type Callback = { readonly kind: "url"; readonly url: string } | { readonly kind: "fault"; readonly message: string }

const NDJSON_COLUMNS = "Only CSV has columns. Results of NDJSON have all members."

/** The URL of callbacks as it is asked for, or why callbacks cannot go there. `allowsLocal`: `MAILKIND_CALLBACKS` is `local`. */
export function parseCallback(text: string, allowsLocal: boolean): Callback {
  const local = allowsLocal ? parseLocalTarget(text) : null
  const target = local ?? parseFetchTarget(text)
  const fault = (message: string): Callback => ({ kind: "fault", message })
  if (typeof target === "string") return fault(`A callback cannot go there. ${FETCH_ERROR_CAUSES[target]}`)
  if (!target.isTls && local === null) return fault("A callback needs a URL of https.")
  // The parser drops line breaks and turns backslashes.
  if ([text, target.path].some(urlHoldsAddress))
    return fault("The URL of a callback is stored, and this one holds an email address. Use an id in its place.")
  if (local !== null) return { kind: "url", url: local.href }
  const port = target.port === HTTPS_PORT ? "" : `:${target.port}`
  return { kind: "url", url: `https://${target.host}${port}${target.path}` }
}

const HTTPS_PORT = 443

/** Which results are wanted, and whether they are for a spreadsheet. */
export type ResultsInput = { readonly only: ReadonlySet<Recommendation> | null; readonly isForSpreadsheet: boolean }

/** Reads the parameters of GET /v1/jobs/{id}/results. Throws `invalid_input`. */
export function parseResultsQuery(request: Request): ResultsInput {
  const { only, format } = readQuery(request.url, Object.keys(JobResultsQuery.properties))
  if (format !== undefined && format !== "excel")
    throw invalidInput([{ parameter: "format", detail: "`format` is `excel`, or absent." }])
  const isForSpreadsheet = format === "excel"
  if (typeof only !== "string") return { only: null, isForSpreadsheet }
  const wanted = RECOMMENDATIONS.filter(name => only.split(",").includes(name))
  if (wanted.length !== only.split(",").length)
    throw invalidInput([
      {
        parameter: "only",
        detail: `\`only\` has some of ${RECOMMENDATIONS.join(", ")}, each once, separated by commas.`,
      },
    ])
  return { only: new Set(wanted), isForSpreadsheet }
}

/** The parameters by name, and the fields of a form. Throws `invalid_input` for one that is given twice or is not UTF-8, and for a bad boolean. */
function readQuery(
  url: string,
  names: readonly string[],
  fields: KnownList["fields"] = [],
): Readonly<Record<string, string | boolean | number>> {
  const query: Record<string, string | boolean | number> = {}
  const sent = uriParameters(url)
  const tooMany = parameterCountFault(sent)
  if (tooMany !== null) throw invalidInput([tooMany])
  for (const { name, value } of [...sent, ...fields.map(([name, value]) => ({ name, value }))]) {
    if (name === null || value === null) throw invalidInput([{ detail: "The query is not UTF-8." }])
    if (!names.includes(name)) continue
    if (Object.hasOwn(query, name))
      throw invalidInput([{ parameter: name, detail: `\`${name}\` is given more than once.` }])
    query[name] = readValue(name, value)
  }
  return query
}

function readValue(name: string, value: string): string | boolean | number {
  if (INTEGERS.includes(name)) return /^\d{1,9}$/.test(value) ? Number(value) : value
  if (!BOOLEANS.includes(name)) return value
  if (name === "duplicates" && value === "mark") return value
  if (Object.hasOwn(BOOLEAN_VALUES, value)) return BOOLEAN_VALUES[value] ?? false
  const others = name === "duplicates" ? "mark, " : ""
  throw invalidInput([{ parameter: name, detail: `\`${name}\` must be ${others}true, false, 1 or 0.` }])
}

const RULES: Readonly<Record<string, string>> = {
  format: `\`format\` must be one of ${JOB_FORMAT_NAMES.join(", ")}.`,
  policy: INVALID_POLICY,
  name: `\`name\` must have 1 to ${JOB_LIMITS.nameLengthMax} characters.`,
  callback: `\`callback\` must be a URL of https with at most ${CALLBACK_LIMITS.urlLengthMax} characters.`,
  delimiter: `\`delimiter\` must be one character but a quote or a line end, or one of ${Object.keys(DELIMITER_NAMES).join(", ")}.`,
  skip: `\`skip\` must be a whole number from 0 to ${JOB_LIMITS.skippedLinesMax}.`,
  columns: `\`columns\` must have ${RESULT_COLUMNS_RULE}.`,
  sheet: `\`sheet\` must have 1 to ${JOB_LIMITS.columnNameLengthMax} characters.`,
  encoding: "`encoding` must be the name of an encoding, such as utf-8, utf-16le, windows-1252 or iso-8859-2.",
  column: `\`column\` must have at most ${JOB_LIMITS.columnNameLengthMax} characters.`,
}

const faultOf = (parameter: string): InputFault => ({
  parameter,
  detail: RULES[parameter] ?? "The query does not have the documented form.",
})

/** A range of bytes: from the first up to before the second one. */
export type ByteRange = { readonly from: number; readonly to: number }

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * The range that a request asks for (RFC 9110 §14.2). Null: the whole, also for several ranges or other units, and when `If-Range` names another state.
 * "unsatisfiable": it begins behind the end.
 */
export function requestedRange(
  { headers }: Request,
  length: number,
  entityTag: string,
): ByteRange | null | "unsatisfiable" {
  const [, first = "", last = ""] = RANGE.exec(headers.get("range")?.trim() ?? "") ?? []
  if (first === "" && last === "") return null
  const ifRange = headers.get("if-range")
  if (ifRange !== null && ifRange.trim() !== entityTag) return null
  if (first === "")
    return last === "0" || length === 0 ? "unsatisfiable" : { from: Math.max(0, length - Number(last)), to: length }
  if (last !== "" && Number(last) < Number(first)) return null
  if (Number(first) >= length) return "unsatisfiable"
  return { from: Number(first), to: last === "" ? length : Math.min(length, Number(last) + 1) }
}
