import type { JobFormat, JobReason, JobState } from "../../../../contract/jobs.ts"
import type { JobBody, ListReadingBody } from "../../../../contract/jobs-schema.ts"
import type { Recommendation } from "../../../../contract/policies.ts"
import { DELIMITER_NAMES, delimiterName } from "../../../../contract/reading.ts"
import type { OptionNames } from "../../../../rows/unreadable-file.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"

/** The states of a list in words. */
export const STATE_LABELS: { readonly [S in JobState]: string } = {
  receiving: "Arriving",
  queued: "Waiting",
  running: "Being checked",
  stopped: "Stopped",
  done: "Done",
  failed: "Ended early",
  deleted: "Deleted",
}

/** What a state means. One with a reason has that in its place. */
const STATE_MEANINGS: { readonly [S in JobState]: string } = {
  receiving: "The list is being uploaded.",
  queued: "It waits for its turn. One list of an account is checked at a time.",
  running: "You can close this page: the check continues.",
  stopped: "The check waits, and continues by itself.",
  done: "All rows have their results.",
  failed: "The check cannot continue.",
  deleted: "Nothing of it is left.",
}

const REASON_MEANINGS: { readonly [R in JobReason]: string } = {
  units_used_up:
    "Your units of today are used up. The check continues by itself after 00:00 UTC, or at once when your tier rises. You can download the results so far.",
  space_used_up:
    "Your lists and results take as much space as they may. The check continues by itself when you delete another list, or one expires. You can download the results so far.",
  account_suspended:
    "Your account is suspended. The check continues by itself when the account is resumed. You can download the results so far.",
  key_revoked:
    "The key that uploaded the list was revoked or has expired. You can download the results so far. To check the rest, upload it again.",
  files_lost: "The files of this list are damaged or missing on the server. Please upload the list again.",
  no_progress:
    "The check broke off twice before it got further. The first row without a result is the likely cause. You can download the results so far. To check the rest, upload it again without that row.",
}

/** What the state of a list means, and why it is in it. */
export const stateMeaning = ({ state, reason }: Pick<JobBody, "state" | "reason">): string =>
  reason === null ? STATE_MEANINGS[state] : REASON_MEANINGS[reason]

/** Whether the state may change by itself: also that of a list that waits for units. */
export const isLive = ({ state }: Pick<JobBody, "state">): boolean =>
  state === "receiving" || state === "queued" || state === "running" || state === "stopped"

/** How many rows are done: `1,200 of 100,000 rows`. */
export const rowsDone = ({ rows: { done, total } }: Pick<JobBody, "rows">): string =>
  done === total ? formatCount(total, "row") : `${formatNumber(done)} of ${formatCount(total, "row")}`

/** A list without a name is called by its id. */
export const listName = ({ id, name }: Pick<JobBody, "id" | "name">): string => name ?? id

const MINUTE_S = 60
const HOUR_S = 3600

/** How long it still takes, in words. */
export function timeLeft(seconds: number): string {
  if (seconds < 10) return "a few seconds left"
  if (seconds < MINUTE_S) return `about ${Math.ceil(seconds / 10) * 10} seconds left`
  if (seconds < HOUR_S) return `about ${formatCount(Math.ceil(seconds / MINUTE_S), "minute")} left`
  return `about ${formatCount(Math.ceil(seconds / HOUR_S), "hour")} left`
}

/** What the formats are called. */
export const FORMAT_NAMES: { readonly [F in JobFormat]: string } = { csv: "CSV", text: "Text", ndjson: "NDJSON" }

/** The formats that a form offers. */
export const FORMAT_LABELS: { readonly [F in JobFormat]: string } = {
  csv: "CSV: a table, such as from a spreadsheet",
  text: "Text: one address, domain or website on each line",
  ndjson: "NDJSON: one JSON value on each line",
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
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${character === "" ? "" : ` ( ${character} )`}`
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

/** What a column holds, in words. */
export const KIND_LABELS: Readonly<Record<NonNullable<ListReadingBody["kind"]>, string>> = {
  email: "addresses",
  domain: "domains",
  url: "websites",
}

/** A column in words: its number, and its name if it has one. */
export const columnLabel = (number: number, name: string | undefined): string =>
  name === undefined || name.trim() === "" ? `Column ${number}` : `${number}. ${name}`

/** The parts of the results, as their buttons say it. */
export const PART_LABELS: { readonly [R in Recommendation]: string } = {
  allow: "Only allowed",
  review: "Only to review",
  block: "Only blocked",
}

/** How the fields of the form are called in messages about a file. */
export const FIELD_NAMES: OptionNames = {
  column: "“Column”",
  noHeader: "“The first row has no names”",
  format: "“Format”",
  delimiter: "“Delimiter”",
  skip: "“Lines above the header”",
  force: "“Check it all the same”",
}
