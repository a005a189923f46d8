import { utf8Text } from "../../../base/utf8.ts"
import { namedIn } from "../../../check/address/named-in.ts"
import { LIMITS } from "../../../contract/limits.ts"
import {
  type EntryLines,
  LINES_MAX,
  type LineFault,
  type LineForm,
  readEntryLines,
} from "../../../customers/own-lists/entry-lines.ts"
import type { Entry } from "../../../customers/own-lists/own-list-entry.ts"
import { addEntries, type OwnList, removeEntries } from "../../../customers/own-lists/own-lists.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { FAULTS_MAX, invalidInput, Problem } from "../../problem.ts"
import type { Form, SentFile } from "../form.ts"
import { listNamed } from "./own-list-view.ts"
import { grouped } from "./own-list-words.tsx"

type Deed = "added" | "removed"

/** What a form wants done to a list. */
export type ListChange = {
  readonly list: OwnList
  readonly deed: Deed
  readonly sent: EntryLines | { readonly kind: "no_text" }
  /** The text as it was pasted; empty where a file was sent. */
  readonly pasted: string
}

/** What was refused, and what was sent, to be mended. */
export type ListRefusal = {
  readonly says: string
  /** The first lines that cannot be read, and how many there are. */
  readonly faults: readonly LineFault[]
  readonly faultCount: number
  readonly pasted: string
}

/** What came of a change; `leftCount` entries were so before. Refused, nothing was changed. */
export type ListOutcome =
  | { readonly kind: Deed; readonly changedCount: number; readonly leftCount: number }
  | { readonly kind: "refused"; readonly refusal: ListRefusal }

/** What the form for pasted entries wants. Throws `invalid_input` where it does not say what to do to which list. */
export function pastedChange(form: Form): ListChange {
  // Not trimmed: lines are told by their number.
  const pasted = form.all("entries")[0] ?? ""
  return { list: chosenList(form), deed: chosenDeed(form), sent: read(pasted, "pasted"), pasted }
}

/** What the form for a file wants: to add what the file holds. Rejects with `invalid_input` where it names no list. */
export async function importedChange(form: Form): Promise<ListChange> {
  const list = chosenList(form)
  const file = form.file("file")
  const text = file === null ? "" : utf8Text(await file.bytes())
  const sent = text === null ? ({ kind: "no_text" } as const) : read(text, lineForm(file))
  return { list, deed: "added", sent, pasted: "" }
}

/** Makes the change, all of it or nothing. */
export async function changeList(changes: ChangeLog, accountId: string, change: ListChange): Promise<ListOutcome> {
  const { sent, deed, list, pasted } = change
  if (sent.kind !== "read") {
    const { faults, faultCount } = sent.kind === "faulty" ? sent : NO_FAULTS
    return { kind: "refused", refusal: { says: SAYS[sent.kind], faults, faultCount, pasted } }
  }
  const refused = (why: keyof typeof SAYS): ListOutcome => ({
    kind: "refused",
    refusal: { says: SAYS[why], ...NO_FAULTS, pasted },
  })
  if (sent.entries.length === 0) return refused("nothing")
  if (deed === "removed") return await removed(changes, accountId, list, sent.entries)
  const addition = await addEntries(changes, { accountId }, list, sent.entries)
  if (addition.kind === "too_many") return refused("over_limit")
  if (addition.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
  return { kind: "added", changedCount: addition.addedCount, leftCount: addition.presentCount }
}

async function removed(
  changes: ChangeLog,
  accountId: string,
  list: OwnList,
  entries: readonly Entry[],
): Promise<ListOutcome> {
  const { removedCount, absentCount } = await removeEntries(changes, { accountId }, list, entries)
  return { kind: "removed", changedCount: removedCount, leftCount: absentCount }
}

const NO_FAULTS = { faults: [], faultCount: 0 } as const

const MOST = grouped(LIMITS.ownListEntriesMax)

/** Why nothing was changed. */
const SAYS = {
  nothing: "Nothing was changed: there was no entry in what you sent.",
  faulty: "Nothing was changed. These are no address, no domain and no *.domain:",
  too_many: `Nothing was changed: at most ${MOST} entries, in at most ${grouped(LINES_MAX)} lines, are taken at once.`,
  over_limit: `Nothing was added: your two lists would have more than ${MOST} entries together. Remove some first.`,
  no_text: "Nothing was changed: the file is no text in UTF-8. Spreadsheets save such a file as “CSV UTF-8”.",
} as const satisfies Record<string, string>

/** Nothing stands in for a list that was not named: to allow what should be blocked is no default. */
function chosenList(form: Form): OwnList {
  const list = listNamed(form.text("list"))
  if (list === null)
    throw invalidInput([{ pointer: "/list", detail: "The form names neither the block nor the allow list." }])
  return list
}

const DEEDS: ReadonlyMap<string, Deed> = new Map([
  ["add", "added"],
  ["remove", "removed"],
])

function chosenDeed(form: Form): Deed {
  const deed = DEEDS.get(form.text("deed"))
  if (deed === undefined)
    throw invalidInput([{ pointer: "/deed", detail: "The form says neither to add nor to remove." }])
  return deed
}

const read = (text: string, form: LineForm): EntryLines => readEntryLines(text, form, namedIn, FAULTS_MAX)

/** A table by its name, or by what the browser takes it for. */
const lineForm = (file: SentFile | null): LineForm =>
  file !== null && (/\.[ct]sv$/i.test(file.name) || /^text\/(?:csv|tab-separated-values)/i.test(file.mediaType))
    ? "table"
    : "pasted"
