import { capitalized } from "../../../../base/text.ts"
import { formatInstant } from "../../../../base/time.ts"
import type { JobFormat, JobReason, JobState } from "../../../../contract/jobs.ts"
import type { JobBody, ListReadingBody } from "../../../../contract/jobs-schema.ts"
import { DELIMITER_NAMES, delimiterName } from "../../../../contract/reading.ts"
import type { OptionNames } from "../../../../rows/unreadable-file.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"

/** The states of a list in words. */
export const STATE_LABELS: { readonly [S in JobState]: string } = {
  receiving: "Uploading…",
  queued: "Waiting",
  running: "Checking…",
  stopped: "Paused",
  done: "Done",
  failed: "Stopped early",
  deleted: "Deleted",
}

/** What a state means. One with a reason has that in its place, and one that is done says how long it took. */
const STATE_MEANINGS: { readonly [S in Exclude<JobState, "done">]: string } = {
  receiving: "The file is still arriving.",
  queued: "It starts as soon as your other lists are checked. You can close this page.",
  running: "You can close this page.",
  stopped: "The check continues automatically.",
  failed: "It cannot continue.",
  deleted: "Nothing of it is left.",
}

const KEPT = "The results so far are kept."

const REASON_MEANINGS: { readonly [R in Exclude<JobReason, "no_progress">]: string } = {
  units_used_up: `You have used today's units. The check continues after 00:00 UTC, or at once on a larger plan. ${KEPT}`,
  space_used_up: `Your lists have used up their storage. The check continues when you delete another list or one expires. ${KEPT}`,
  account_suspended: `Your account is suspended. The check continues when the account is resumed. ${KEPT}`,
  key_revoked: `The key that uploaded this list was revoked or has expired. ${KEPT} To check the rest, upload it again.`,
  files_lost: "The files of this list are damaged or missing on the server. Please upload it again.",
}

/** What the state of a list means, and why it is in it. */
export function stateMeaning(list: JobBody): string {
  const { state, reason, rows, started_at: startedAt, ended_at: endedAt } = list
  if (reason === "no_progress") return brokenOffMeaning(list)
  if (reason !== null) return REASON_MEANINGS[reason]
  if (state !== "done") return STATE_MEANINGS[state]
  const tookMs = startedAt === null || endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt)
  return `${formatCount(rows.done, "row")} checked in ${duration(tookMs / SECOND_MS)}.`
}

/** Where a check broke off: the first row without a result is the likely cause. */
function brokenOffMeaning({ rows, reading }: JobBody): string {
  const header = typeof reading?.header_line === "number" ? ", not counting the header" : ""
  const row = formatNumber(rows.done + 1)
  return `The check failed twice, most likely at row ${row}${header}. ${KEPT} To check the others, upload a file with the rows after row ${row}${header === "" ? "" : " and the header"}.`
}

/** Whether the state may change by itself: also that of a list that waits for units. */
export const isLive = ({ state }: Pick<JobBody, "state">): boolean =>
  state === "receiving" || state === "queued" || state === "running" || state === "stopped"

/** How many rows are done: `1,200 of 100,000 rows`. */
export const rowsDone = ({ rows: { done, total } }: Pick<JobBody, "rows">): string =>
  done === total ? formatCount(total, "row") : `${formatNumber(done)} of ${formatCount(total, "row")}`

/** A list without a name is called by its id. */
export const listName = ({ id, name }: Pick<JobBody, "id" | "name">): string => name ?? id

const SECOND_MS = 1000

/** The longest first. Each is used from twice its length on, so that no length of time is far off. */
const TIME_UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const

/** A length of time in words: `11 seconds`. */
function duration(seconds: number): string {
  const [unit, length] = TIME_UNITS.find(([, size]) => seconds >= 2 * size) ?? ["second", 1]
  return formatCount(Math.max(1, Math.round(seconds / length)), unit)
}

/** How long it still takes, in words. */
export const timeLeft = (seconds: number): string =>
  seconds < 10 ? "a few seconds left" : `about ${duration(Math.ceil(seconds / 10) * 10)} left`

/** When a list is deleted: `29 Nov, 22:33 UTC`. */
export const deletionTime = (instant: string): string => formatInstant(Date.parse(instant)).replace(/ \d{4},/, ",")

/** What the formats are called. */
export const FORMAT_NAMES: { readonly [F in JobFormat]: string } = { csv: "CSV", text: "Text", ndjson: "NDJSON" }

/** The formats that a form offers. */
export const FORMAT_LABELS: { readonly [F in JobFormat]: string } = {
  csv: "CSV: a table, such as from a spreadsheet",
  text: "Text: one address, domain or website per line",
  ndjson: "NDJSON: one JSON value per line",
}

/** The delimiters that a form offers, by their names in `contract/reading.ts`. */
export const DELIMITER_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  ["comma", "semicolon", "tab", "pipe"].map(name => [name, labelOf(name)]),
)

/** A delimiter in words. */
export function delimiterLabel(delimiter: string): string {
  const name = delimiterName(delimiter)
  return name === null ? `“${delimiter}”` : labelOf(name)
}

function labelOf(name: string): string {
  const character = DELIMITER_NAMES[name]?.trim() ?? ""
  return `${capitalized(name)}${character === "" ? "" : ` ( ${character} )`}`
}

/** The encodings that a form offers. */
export const ENCODING_LABELS: Readonly<Record<string, string>> = {
  "utf-8": "UTF-8",
  "windows-1252": "Windows-1252: Western Europe",
  "windows-1250": "Windows-1250: Central Europe",
  "windows-1251": "Windows-1251: Cyrillic",
  "windows-1253": "Windows-1253: Greek",
  "windows-1254": "Windows-1254: Turkish",
  "utf-16le": "UTF-16, little-endian",
  "utf-16be": "UTF-16, big-endian",
  shift_jis: "Shift JIS: Japanese",
  gb18030: "GB 18030: Chinese, simplified",
  big5: "Big5: Chinese, traditional",
  "euc-kr": "EUC-KR: Korean",
  macintosh: "Mac Roman",
}

/** An encoding in words. */
export const encodingLabel = (encoding: string): string => ENCODING_LABELS[encoding] ?? encoding

/** A column in words: its number, and its name if it has one. */
export const columnLabel = (number: number, name: string | undefined): string =>
  name === undefined || name.trim() === "" ? `Column ${number}` : `${number}. ${name}`

/** How a list is read, in a few words each: `CSV, comma, Windows-1252`, `header in line 3`, `column email`. */
export function readingParts(reading: ListReadingBody, columnName: string | null): readonly string[] {
  const { format, encoding, delimiter, header_line: line, column_number: number } = reading
  const [name = encoding] = encodingLabel(encoding).split(":")
  const character = delimiter === null ? null : (delimiterName(delimiter) ?? `“${delimiter}”`)
  const file = [FORMAT_NAMES[format], ...(character === null ? [] : [character]), name].join(", ")
  if (number === null) return [file]
  const header = line === null ? "no header" : `header in line ${line}`
  return [file, header, `column ${columnName === null || columnName.trim() === "" ? number : columnName}`]
}

/** How the fields of the form are called in messages about a file. */
export const FIELD_NAMES: OptionNames = {
  column: "“Column”",
  noHeader: "“No header”",
  format: "“Format”",
  delimiter: "“Delimiter”",
  skip: "“Lines above the header”",
  force: "“Check it anyway”",
}
