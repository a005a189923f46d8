/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { OWN_LISTS, type OwnList } from "../../../customers/own-lists/own-lists.ts"
import type { SignedInUser } from "../guards.ts"
import { withQuery } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { FlashMessage, FormError, TextArea, TextField, Timestamp, VERBATIM } from "../ui/forms.tsx"
import { Panel, Segmented } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import type { RejectedListChange } from "./own-list-change.ts"
import { ENTRY_KIND_LABELS, EntryHelp, LIST_LABELS } from "./own-list-labels.tsx"
import { formatEntryCount, type OwnListPageData, ownListPath } from "./own-list-query.ts"
import type { OwnListScope } from "./own-list-scope.tsx"

type OwnListPageProps = {
  readonly scope: OwnListScope
  readonly user: SignedInUser
  readonly data: OwnListPageData
  readonly flash: string | null
  /** Null: no change was rejected. */
  readonly rejected: RejectedListChange | null
}

/** The account's block or allow list with its entries, and the forms that change it. */
export function OwnListPage({ scope, user, data, flash, rejected }: OwnListPageProps) {
  const { Layout, lead, effects, precedence } = scope
  const rejectedOf = (from: RejectedListChange["from"]) => (rejected?.from === from ? rejected : null)
  return (
    <Layout user={user}>
      <FlashMessage message={flash} />
      <FormError message={rejected && (isAtField(rejected) ? NOTHING_CHANGED : rejected.message)} />
      <div class="filter-row">
        <Segmented
          label="Lists"
          choices={OWN_LISTS.map(list => ({
            label: `${LIST_LABELS[list]} (${formatNumber(data.counts[list])})`,
            href: ownListPath(scope, { list, search: "", after: "" }),
            isCurrent: list === data.list,
          }))}
        />
        {data.counts[data.list] === 0 ? null : <EntrySearchForm scope={scope} data={data} />}
      </div>
      <p class="hint">
        {lead} {effects[data.list]}
      </p>
      <Panel>
        <AddForm list={data.list} path={scope.paths.entries} rejected={rejectedOf("line")} />
        {data.counts[data.list] === 0 ? null : <Entries scope={scope} data={data} rejected={rejectedOf("selection")} />}
      </Panel>
      <ManyEntries scope={scope} data={data} pasted={rejectedOf("paste")} brought={rejectedOf("file")} />
      <EntryHelp precedence={precedence} />
    </Layout>
  )
}

const NOTHING_CHANGED = "Nothing was changed. Fix the marked field and try again."

/** Whether one field is wrong, beside which the message stands. The table of entries has no place for it. */
const isAtField = ({ field, from }: RejectedListChange): boolean =>
  field === "note" || (field === "entries" && from !== "selection")

/** What is wrong with a field of a rejected change; null: nothing. */
function fieldError(rejected: RejectedListChange | null, field: RejectedListChange["field"]) {
  if (rejected === null || rejected.field !== field) return null
  return rejected.faults.length === 0 ? rejected.message : <FaultyLines rejected={rejected} />
}

function FaultyLines({ rejected: { message, faults, faultCount } }: { readonly rejected: RejectedListChange }) {
  const hiddenCount = faultCount - faults.length
  return (
    <>
      <p>{message}</p>
      <ul>
        {faults.map((fault, index) => (
          <li key={index}>
            Line {formatNumber(fault.line)}: <code class="any">{fault.excerpt}</code>
            {fault.isNote === true ? ` has more than ${LIMITS.ownListNoteLengthMax} characters` : null}
          </li>
        ))}
        {hiddenCount > 0 ? <li>and {formatNumber(hiddenCount)} more</li> : null}
      </ul>
    </>
  )
}

type AddFormProps = {
  readonly list: OwnList
  readonly path: string
  /** A rejected change by this form; null: there was none. */
  readonly rejected: RejectedListChange | null
}

/** Adds one entry. */
function AddForm({ list, path, rejected }: AddFormProps) {
  return (
    <form class="field-row" method="post" action={path}>
      <input type="hidden" name="from" value="line" />
      <input type="hidden" name="list" value={list} />
      <TextField
        name="entry"
        label="Address or domain"
        placeholder="example.com"
        value={rejected?.typedText ?? ""}
        required
        {...VERBATIM}
        error={fieldError(rejected, "entries")}
      />
      <TextField
        name="entry_note"
        label="Note (optional)"
        value={rejected?.note ?? ""}
        maxLength={LIMITS.ownListNoteLengthMax}
        autocomplete="off"
        error={fieldError(rejected, "note")}
      />
      <button type="submit" name="list_action" value="add">
        Add
      </button>
    </form>
  )
}

type EntriesProps = {
  readonly scope: OwnListScope
  readonly data: OwnListPageData
  /** A rejected change of selected entries; null: there was none. */
  readonly rejected: RejectedListChange | null
}

function Entries({ scope, data, rejected }: EntriesProps) {
  const { list, search, after, entries, nextAfter } = data
  return (
    <>
      {entries.length === 0 ? (
        <p>{search === "" ? "There are no further entries." : "No entry matches."}</p>
      ) : (
        <SelectionForm scope={scope} data={data} rejected={rejected} />
      )}
      <p class="actions">
        {after === "" ? null : <a href={ownListPath(scope, { list, search, after: "" })}>First page</a>}
        {nextAfter === null ? null : <a href={ownListPath(scope, { list, search, after: nextAfter })}>Next page</a>}
        <a href={ownListTablePath(scope, list)} download>
          Download CSV with notes
        </a>
        <a href={ownListFilePath(scope, list)} download>
          Download text
        </a>
      </p>
    </>
  )
}

/** The entries, and what can be done with those that are selected. */
function SelectionForm({ scope, data, rejected }: EntriesProps) {
  const { list, search, after } = data
  return (
    <form method="post" action={scope.paths.entries}>
      {Object.entries({ from: "selection", list, search, after }).map(([field, value]) => (
        <input key={field} type="hidden" name={field} value={value} />
      ))}
      <EntryTable data={data} selected={new Set(rejected?.selected)} />
      <fieldset class="field-row selection">
        <legend class="unseen">Selected entries</legend>
        <TextField
          name="selected_note"
          label="Note for the selected entries"
          value={rejected?.note ?? ""}
          maxLength={LIMITS.ownListNoteLengthMax}
          autocomplete="off"
          error={fieldError(rejected, "note")}
          placeholder="Empty: the note is deleted"
        />
        <div class="actions">
          <button type="submit" name="list_action" value="note" class="small">
            Save note
          </button>
          <button type="submit" name="list_action" value="remove" class="danger small">
            Remove selected
          </button>
        </div>
      </fieldset>
    </form>
  )
}

const ENTRY_COLUMNS: readonly TableColumn[] = [
  { name: "Entry", kind: "text" },
  { name: "Note", kind: "text" },
  { name: "Covers", kind: "text", onPhone: "hidden" },
  { name: "Added", kind: "time" },
]

type EntryTableProps = { readonly data: OwnListPageData; readonly selected: ReadonlySet<string> }

function EntryTable({ data, selected }: EntryTableProps) {
  return (
    <Table caption={LIST_LABELS[data.list]} columns={ENTRY_COLUMNS}>
      {data.entries.map(({ storedText, kind, domain, shownAs, note, addedAtMs }) => (
        <tr key={storedText}>
          <th scope="row">
            <label>
              <input type="checkbox" name="entries" value={storedText} checked={selected.has(storedText)} />{" "}
              <bdi>{kind === "address" ? (shownAs ?? shortHash(storedText, domain)) : storedText}</bdi>
            </label>
          </th>
          <td>{note === null ? null : <bdi>{note}</bdi>}</td>
          <td>{ENTRY_KIND_LABELS[kind].label}</td>
          <td>
            <Timestamp atMs={addedAtMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function EntrySearchForm({ scope, data: { list, search } }: Pick<EntriesProps, "scope" | "data">) {
  return (
    <search>
      <form class="find-row" method="get" action={scope.paths.page}>
        <input type="hidden" name="list" value={list} />
        <input
          type="search"
          name="search"
          aria-label="Find an entry: an address, a domain, a part of one, or words of a note"
          placeholder="Find an entry or a note"
          value={search}
          maxLength={LIMITS.addressBytesMax}
          {...VERBATIM}
        />
        <button type="submit" class="small">
          Find
        </button>
        {search === "" ? null : <a href={ownListPath(scope, { list, search: "", after: "" })}>Show all</a>}
      </form>
    </search>
  )
}

type ManyEntriesProps = {
  readonly scope: OwnListScope
  readonly data: OwnListPageData
  /** What was pasted and rejected; null: nothing was. */
  readonly pasted: RejectedListChange | null
  /** A file that was rejected; null: none was. */
  readonly brought: RejectedListChange | null
}

/** Adds and removes many entries at once: pasted ones, and those of a file. */
function ManyEntries({ scope, data: { list, counts }, pasted, brought }: ManyEntriesProps) {
  const name = LIST_LABELS[list].toLowerCase()
  return (
    <details class="panel" id="many" open={pasted !== null || brought !== null}>
      <summary>Paste many, or import a file</summary>
      <form class="form" method="post" action={scope.paths.entries} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextArea
          name="entries"
          label="Addresses and domains"
          value={pasted?.typedText ?? ""}
          required
          autocomplete="off"
          spellcheck={false}
          error={fieldError(pasted, "entries")}
          hint="One per line, or separated by commas. Lines of a hosts file and rules of ad blockers work too. Lines that start with # are ignored."
        />
        <TextField
          name="note"
          label="Note (optional)"
          value={pasted?.note ?? ""}
          maxLength={LIMITS.ownListNoteLengthMax}
          autocomplete="off"
          error={fieldError(pasted, "note")}
          hint="For all of these entries. We remove anything that looks like an email address."
        />
        <div class="actions">
          <button type="submit" name="list_action" value="add">
            Add to the {name}
          </button>
          {counts[list] === 0 ? null : (
            <button type="submit" name="list_action" value="remove" class="small">
              Remove these from the {name}
            </button>
          )}
        </div>
      </form>
      <ImportForm scope={scope} list={list} brought={brought} />
    </details>
  )
}

function ImportForm({
  scope,
  list,
  brought,
}: Pick<ManyEntriesProps, "scope" | "brought"> & { readonly list: OwnList }) {
  return (
    <form class="form" method="post" action={scope.paths.import} encType="multipart/form-data">
      <input type="hidden" name="list" value={list} />
      <TextField
        name="file"
        type="file"
        accept=".txt,.csv,.tsv,text/plain,text/csv"
        required
        label="Text or CSV file"
        error={fieldError(brought, "entries")}
        hint={`Up to ${formatEntryCount(LIMITS.ownListEntriesMax)}, in UTF-8. In a CSV file the first column has the entries, and a column with the heading “note” has the notes. You can import a file that you downloaded here.`}
      />
      <button type="submit">Import into the {LIST_LABELS[list].toLowerCase()}</button>
    </form>
  )
}

/** The path of the list's text file. */
export const ownListFilePath = ({ paths }: OwnListScope, list: OwnList): string =>
  paths.file.replace(":list", `${list}.txt`)

/** The path of the list's CSV file. */
const ownListTablePath = ({ paths }: OwnListScope, list: OwnList): string => withQuery(paths.table, { list })

/** The beginning of the hash, which distinguishes entries. The text file has the complete hash. */
const shortHash = (storedText: string, domain: string): string =>
  `${storedText.slice(0, DISPLAYED_HASH_LENGTH)}…@${domain}`
const DISPLAYED_HASH_LENGTH = "sha256:".length + 12
