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
import { formatNumber } from "./own-list-labels.tsx"
import { parseListName } from "./own-list-query.ts"

type ListAction = "added" | "removed"

/** What a form wants done to a list. */
export type ListChange = {
  readonly list: OwnList
  readonly action: ListAction
  readonly entries: ParsedEntries | { readonly kind: "no_text" }
  /** The text as it was pasted; empty where a file was sent. */
  readonly pastedText: string
}

/** What was refused, and what was sent, to be mended. */
export type RejectedListChange = {
  readonly message: string
  /** The first lines that cannot be read, and how many there are. */
  readonly faults: readonly InvalidEntry[]
  readonly faultCount: number
  readonly pastedText: string
}

/** What came of a change; `leftCount` entries were so before. Refused, nothing was changed. */
export type ListChangeResult =
  | { readonly kind: ListAction; readonly changedCount: number; readonly unchangedCount: number }
  | { readonly kind: "refused"; readonly rejected: RejectedListChange }

/** What the form for pasted entries wants. Throws `invalid_input` where it does not say what to do to which list. */
export function parsePastedChange(form: SubmittedForm): ListChange {
  // Not trimmed: lines are told by their number.
  const pastedText = form.all("entries")[0] ?? ""
  return {
    list: requireList(form),
    action: requireAction(form),
    entries: readEntries(pastedText, "pasted"),
    pastedText,
  }
}

/** What the form for a file wants: to add what the file holds. Rejects with `invalid_input` where it names no list. */
export async function parseImportedChange(form: SubmittedForm): Promise<ListChange> {
  const list = requireList(form)
  const file = form.file("file")
  const text = file === null ? "" : decodeUtf8(await file.bytes())
  const sent = text === null ? ({ kind: "no_text" } as const) : readEntries(text, lineFormat(file))
  return { list, action: "added", entries: sent, pastedText: "" }
}

/** Makes the change, all of it or nothing. */
export async function applyListChange(
  changes: ChangeLog,
  accountId: string,
  change: ListChange,
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
  if (action === "removed") return await removeFromList(changes, accountId, list, sent.entries)
  const addition = await addEntries(changes, { accountId }, list, sent.entries)
  if (addition.kind === "too_many") return refused("over_limit")
  if (addition.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
  return { kind: "added", changedCount: addition.addedCount, unchangedCount: addition.presentCount }
}

async function removeFromList(
  changes: ChangeLog,
  accountId: string,
  list: OwnList,
  entries: readonly OwnListEntry[],
): Promise<ListChangeResult> {
  const { removedCount, absentCount } = await removeEntries(changes, { accountId }, list, entries)
  return { kind: "removed", changedCount: removedCount, unchangedCount: absentCount }
}

const NO_FAULTS = { faults: [], faultCount: 0 } as const

const ENTRIES_MAX_LABEL = formatNumber(LIMITS.ownListEntriesMax)

/** Why nothing was changed. */
const REJECTION_MESSAGES = {
  nothing: "Nothing was changed: there was no entry in what you sent.",
  faulty: "Nothing was changed. These are no address, no domain and no *.domain:",
  too_many: `Nothing was changed: at most ${ENTRIES_MAX_LABEL} entries, in at most ${formatNumber(LINES_MAX)} lines, are taken at once.`,
  over_limit: `Nothing was added: your two lists would have more than ${ENTRIES_MAX_LABEL} entries together. Remove some first.`,
  no_text: "Nothing was changed: the file is no text in UTF-8. Spreadsheets save such a file as “CSV UTF-8”.",
} as const satisfies Record<string, string>

/** Nothing stands in for a list that was not named: to allow what should be blocked is no default. */
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

const readEntries = (text: string, form: EntryTextFormat): ParsedEntries =>
  parseEntries(text, form, parseAddressOrDomain, INPUT_FAULTS_MAX)

/** A table by its name, or by what the browser takes it for. */
const lineFormat = (file: UploadedFile | null): EntryTextFormat =>
  file !== null && (/\.[ct]sv$/i.test(file.name) || /^text\/(?:csv|tab-separated-values)/i.test(file.mediaType))
    ? "table"
    : "pasted"
