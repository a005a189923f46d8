import type { Pause } from "../../../../base/concurrency.ts"
import { decodeUtf8 } from "../../../../base/text.ts"
import { parseAddressOrDomain } from "../../../../check/address/parse-subject.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import {
  type EntryTextFormat,
  type InvalidEntry,
  LINES_MAX,
  type OwnListEntry,
  type ParsedEntries,
  parseEntries,
} from "../../../../customers/own-lists/entries.ts"
import { addEntries, type OwnList, removeEntries } from "../../../../customers/own-lists/own-lists.ts"
import type { ChangeLog } from "../../../../customers/store/change-log/change-log.ts"
import { INPUT_FAULTS_MAX, invalidInput, Problem } from "../../../response/problem.ts"
import type { SubmittedForm, UploadedFile } from "../../form-body.ts"
import { formatNumber } from "../../ui/format.ts"
import { parseListName } from "./own-list-query.ts"

type ListAction = "added" | "removed"

/** The change of a list that a form requests. */
export type ListChange = {
  readonly list: OwnList
  readonly action: ListAction
  readonly entries: ParsedEntries | { readonly kind: "no_text" }
  /** The pasted text, unchanged. Empty when a file was uploaded. */
  readonly pastedText: string
}

/** The text with the entries of a change, before it is parsed. `text` null: not UTF-8. */
export type ListChangeText = Omit<ListChange, "entries"> & {
  readonly text: string | null
  readonly format: EntryTextFormat
}

/** Why a change was rejected, and the text to correct. */
export type RejectedListChange = {
  readonly message: string
  /** The first invalid lines. `faultCount` counts all. */
  readonly faults: readonly InvalidEntry[]
  readonly faultCount: number
  readonly pastedText: string
}

/** The result of a change. `unchangedCount` entries were on the list (or not on it) before. A rejected change changes nothing. */
export type ListChangeResult =
  | { readonly kind: ListAction; readonly changedCount: number; readonly unchangedCount: number }
  | { readonly kind: "refused"; readonly rejected: RejectedListChange }

/** The text that the form for pasted entries sends. Throws `invalid_input` when action or list is missing. */
export function readPastedText(form: SubmittedForm): ListChangeText {
  // Not trimmed, because error messages refer to line numbers.
  const pastedText = form.all("entries")[0] ?? ""
  return { list: requireList(form), action: requireAction(form), text: pastedText, format: "pasted", pastedText }
}

/** The text that the upload form sends, whose entries are added. Rejects with `invalid_input` when the list is missing. */
export async function readImportedText(form: SubmittedForm): Promise<ListChangeText> {
  const list = requireList(form)
  const file = form.file("file")
  const text = file === null ? "" : decodeUtf8(await file.bytes())
  return { list, action: "added", text, format: lineFormat(file), pastedText: "" }
}

/** Parses the entries of a change. */
export async function parseListChange({ text, format, ...change }: ListChangeText, pause: Pause): Promise<ListChange> {
  if (text === null) return { ...change, entries: { kind: "no_text" } }
  return { ...change, entries: await parseEntries(text, format, parseAddressOrDomain, INPUT_FAULTS_MAX, pause) }
}

/** Applies the change completely or not at all. */
export async function applyListChange(
  changes: ChangeLog,
  accountId: string,
  change: ListChange,
  pause: Pause,
): Promise<ListChangeResult> {
  const { entries: sent, action, list, pastedText } = change
  if (sent.kind !== "read") {
    const { faults, faultCount } = sent.kind === "faulty" ? sent : NO_FAULTS
    return { kind: "refused", rejected: { message: REJECTION_MESSAGES[sent.kind], faults, faultCount, pastedText } }
  }
  const refused = (why: keyof typeof REJECTION_MESSAGES): ListChangeResult => ({
    kind: "refused",
    rejected: { message: REJECTION_MESSAGES[why], ...NO_FAULTS, pastedText },
  })
  if (sent.entries.length === 0) return refused("nothing")
  if (action === "removed") return await removeFromList(changes, accountId, list, sent.entries, pause)
  const addition = await addEntries(changes, { accountId }, list, sent.entries, pause)
  if (addition.kind === "too_many") return refused("over_limit")
  if (addition.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
  return { kind: "added", changedCount: addition.addedCount, unchangedCount: addition.presentCount }
}

async function removeFromList(
  changes: ChangeLog,
  accountId: string,
  list: OwnList,
  entries: readonly OwnListEntry[],
  pause: Pause,
): Promise<ListChangeResult> {
  const { removedCount, absentCount } = await removeEntries(changes, { accountId }, list, entries, pause)
  return { kind: "removed", changedCount: removedCount, unchangedCount: absentCount }
}

const NO_FAULTS = { faults: [], faultCount: 0 } as const

const ENTRIES_MAX_LABEL = formatNumber(LIMITS.ownListEntriesMax)

const REJECTION_MESSAGES = {
  nothing: "Nothing was changed: there was no entry in what you sent.",
  faulty: "Nothing was changed. These are no address, no domain and no *.domain:",
  too_many: `Nothing was changed: at most ${ENTRIES_MAX_LABEL} entries, in at most ${formatNumber(LINES_MAX)} lines, are taken at once.`,
  over_limit: `Nothing was added: your two lists would have more than ${ENTRIES_MAX_LABEL} entries together. Remove some first.`,
  no_text: "Nothing was changed: the file is no text in UTF-8. Spreadsheets save such a file as “CSV UTF-8”.",
} as const satisfies Record<string, string>

/** There is no default list: allowing an entry that should be blocked would be a bad default. */
function requireList(form: SubmittedForm): OwnList {
  const list = parseListName(form.text("list"))
  if (list === null)
    throw invalidInput([{ pointer: "/list", detail: "The form names neither the block nor the allow list." }])
  return list
}

const LIST_ACTIONS: ReadonlyMap<string, ListAction> = new Map([
  ["add", "added"],
  ["remove", "removed"],
])

function requireAction(form: SubmittedForm): ListAction {
  const deed = LIST_ACTIONS.get(form.text("deed"))
  if (deed === undefined)
    throw invalidInput([{ pointer: "/deed", detail: "The form says neither to add nor to remove." }])
  return deed
}

/** CSV by its file name or media type, else plain lines. */
const lineFormat = (file: UploadedFile | null): EntryTextFormat =>
  file !== null && (/\.[ct]sv$/i.test(file.name) || /^text\/(?:csv|tab-separated-values)/i.test(file.mediaType))
    ? "table"
    : "pasted"
