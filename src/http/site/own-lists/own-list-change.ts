import type { Pause } from "../../../base/concurrency.ts"
import { hasAtMostCharacters } from "../../../base/text.ts"
import { parseAddressOrDomain } from "../../../check/address/parse-subject.ts"
import { LIMITS } from "../../../contract/limits.ts"
import {
  type EntryTextFormat,
  type InvalidEntry,
  type LabelledEntry,
  LINES_MAX,
  type ParsedEntries,
  parseEntries,
} from "../../../customers/own-lists/entries.ts"
import { normalizeNote } from "../../../customers/own-lists/entry-labels.ts"
import {
  addEntries,
  type ListOwner,
  type OwnList,
  removeEntries,
  setNotes,
} from "../../../customers/own-lists/own-lists.ts"
import type { AttributedLog } from "../../../customers/store/change-log/change-log.ts"
import { INPUT_FAULTS_MAX, invalidInput, Problem } from "../../response/problem.ts"
import type { SubmittedForm, UploadedFile } from "../form-body.ts"
import { formatNumber } from "../ui/format.ts"
import { parseListName } from "./own-list-query.ts"

type ListAction = "added" | "removed" | "noted"

/** The change of a list that a form requests. */
export type ListChange = {
  readonly list: OwnList
  readonly action: ListAction
  readonly entries: ParsedEntries | { readonly kind: "no_text" }
  /** The form that was sent. */
  readonly from: keyof typeof FORM_FIELDS | "file"
  /** The text that was typed or pasted, unchanged. Empty when a file was uploaded, or when entries of the page were selected. */
  readonly typedText: string
  /** The note for all of the entries, as it was typed. Empty: none. */
  readonly note: string
  /** The stored forms that were selected on the page. */
  readonly selected: readonly string[]
}

/** The fields of the forms on the page for entries and note, which differ since a page has each id once. */
const FORM_FIELDS = {
  paste: ["entries", "note"],
  line: ["entry", "entry_note"],
  selection: ["entries", "selected_note"],
} as const

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
  /** The field that is wrong; null: the change as a whole was refused. */
  readonly field: "entries" | "note" | null
} & Pick<ListChange, "from" | "typedText" | "note" | "selected">

/** The result of a change. `unchangedCount` entries were on the list (or not on it) before. A rejected change changes nothing. */
export type ListChangeResult =
  | { readonly kind: ListAction; readonly changedCount: number; readonly unchangedCount: number }
  | { readonly kind: "refused"; readonly rejected: RejectedListChange }

/** The text of a form for typed, pasted or selected entries. Throws `invalid_input` when action or list is missing. */
export function readTypedText(form: SubmittedForm): ListChangeText {
  const named = form.text("from")
  const from = named === "line" || named === "selection" ? named : "paste"
  const [entriesField, noteField] = FORM_FIELDS[from]
  // Not trimmed, because error messages refer to line numbers.
  const texts = form.all(entriesField)
  const selected = from === "selection" ? texts : []
  const typedText = from === "selection" ? "" : (texts[0] ?? "")
  return {
    list: requireList(form),
    action: requireAction(form),
    text: typedText || selected.join("\n"),
    format: "pasted",
    from,
    typedText,
    note: form.text(noteField),
    selected,
  }
}

/** The text that the upload form sends, whose entries are added. Throws `invalid_input` when the list is missing. */
export function readImportedText(form: SubmittedForm): ListChangeText {
  const list = requireList(form)
  const file = form.file("file")
  const text = file === null ? "" : file.text
  return {
    list,
    action: "added",
    text,
    format: lineFormat(file),
    from: "file",
    typedText: "",
    note: "",
    selected: [],
  }
}

/** Parses the entries of a change. */
export async function parseListChange({ text, format, ...change }: ListChangeText, pause: Pause): Promise<ListChange> {
  if (text === null) return { ...change, entries: { kind: "no_text" } }
  return { ...change, entries: await parseEntries(text, format, parseAddressOrDomain, INPUT_FAULTS_MAX, pause) }
}

/** Whose lists are changed, and who changes them. */
export type ListTarget = {
  readonly changes: AttributedLog
  readonly owner: ListOwner
}

/** Applies the change completely or not at all. */
export async function applyListChange(target: ListTarget, change: ListChange, pause: Pause): Promise<ListChangeResult> {
  const { entries: sent, action, list, note } = change
  const refused = (why: keyof typeof REJECTION_MESSAGES, faults: Faults = NO_FAULTS): ListChangeResult => ({
    kind: "refused",
    rejected: { ...change, ...faults, message: REJECTION_MESSAGES[why], field: why === "note" ? "note" : "entries" },
  })
  if (sent.kind !== "read") return refused(sent.kind, sent.kind === "faulty" ? sent : NO_FAULTS)
  if (sent.entries.length === 0) return refused(change.from === "selection" ? "nothing_selected" : "nothing")
  if (action === "removed") return await removeFromList(target, list, sent.entries, pause)
  if (!hasAtMostCharacters(note, LIMITS.ownListNoteLengthMax)) return refused("note")
  if (action === "noted") return await noteOnList(target, change, sent.entries)
  const noted = note === "" ? sent.entries : sent.entries.map(entry => ({ ...entry, note: normalizeNote(note) }))
  const { changes, owner } = target
  const addition = await addEntries(changes, owner, list, noted, pause)
  if (addition.kind === "too_many") return refused("over_limit")
  if (addition.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
  return { kind: "added", changedCount: addition.addedCount, unchangedCount: addition.presentCount }
}

async function removeFromList(
  { changes, owner }: ListTarget,
  list: OwnList,
  entries: readonly LabelledEntry[],
  pause: Pause,
): Promise<ListChangeResult> {
  const { removedCount, absentCount } = await removeEntries(changes, owner, list, entries, pause)
  return { kind: "removed", changedCount: removedCount, unchangedCount: absentCount }
}

async function noteOnList(
  { changes, owner }: ListTarget,
  { list, note }: ListChange,
  entries: readonly LabelledEntry[],
): Promise<ListChangeResult> {
  const changedCount = await setNotes(changes, owner, list, entries, normalizeNote(note))
  return { kind: "noted", changedCount, unchangedCount: entries.length - changedCount }
}

type Faults = Pick<RejectedListChange, "faults" | "faultCount">

const NO_FAULTS: Faults = { faults: [], faultCount: 0 }

const ENTRIES_MAX_LABEL = formatNumber(LIMITS.ownListEntriesMax)

const REJECTION_MESSAGES = {
  nothing: "Nothing was changed. You sent no entries.",
  nothing_selected: "Nothing was changed. Select at least one entry.",
  note: `Use at most ${LIMITS.ownListNoteLengthMax} characters.`,
  faulty: "Nothing was changed. These lines are not an address, a domain or *.domain:",
  too_many: `Nothing was changed. Send at most ${ENTRIES_MAX_LABEL} entries, in at most ${formatNumber(LINES_MAX)} lines, at once.`,
  over_limit: `Nothing was added. Your two lists together can have ${ENTRIES_MAX_LABEL} entries. Remove some first.`,
  no_text: "Nothing was changed. The file is not text in UTF-8. Spreadsheets save such a file as “CSV UTF-8”.",
} as const satisfies Record<string, string>

/** There is no default list: allowing an entry that should be blocked would be a bad default. */
function requireList(form: SubmittedForm): OwnList {
  const list = parseListName(form.text("list"))
  if (list === null)
    throw invalidInput([{ pointer: "/list", detail: "The form does not name a list. Reload the page and try again." }])
  return list
}

const LIST_ACTIONS: ReadonlyMap<string, ListAction> = new Map([
  ["add", "added"],
  ["remove", "removed"],
  ["note", "noted"],
])

function requireAction(form: SubmittedForm): ListAction {
  const action = LIST_ACTIONS.get(form.text("list_action"))
  if (action === undefined)
    throw invalidInput([
      { pointer: "/list_action", detail: "The form does not name an action. Reload the page and try again." },
    ])
  return action
}

/** CSV by its file name or media type, else plain lines. */
const lineFormat = (file: UploadedFile | null): EntryTextFormat =>
  file !== null && (/\.[ct]sv$/i.test(file.name) || /^text\/(?:csv|tab-separated-values)/i.test(file.mediaType))
    ? "table"
    : "pasted"
