/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { OWN_LISTS } from "../../../customers/own-lists/own-lists.ts"
import type { SignedInUser } from "../guards.ts"
import { withQuery } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { DateStamp, FlashMessage, FormError, HiddenFields, TextArea, TextField, VERBATIM } from "../ui/forms.tsx"
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

/** What all parts of the page are about. */
type ListView = Pick<OwnListPageProps, "scope" | "data"> & {
  /** A rejected change by this form; null: there was none. */
  readonly rejectedOf: (from: RejectedListChange["from"]) => RejectedListChange | null
}

type ViewProps = { readonly view: ListView }

/** The account's block or allow list with its entries, and the forms that change it. */
export function OwnListPage({ scope, user, data, flash, rejected }: OwnListPageProps) {
  const { Layout, effects, precedence } = scope
  const view = { scope, data, rejectedOf: (from: string) => (rejected?.from === from ? rejected : null) }
  const isEmpty = data.counts[data.list] === 0
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
        {isEmpty ? null : <EntrySearchForm view={view} />}
      </div>
      <p class="hint">{effects[data.list]}</p>
      <Panel>
        <AddForm view={view} />
        {isEmpty ? <EmptyList list={data.list} /> : <Entries view={view} />}
      </Panel>
      <ManyEntries view={view} />
      <EntryHelp precedence={precedence} />
    </Layout>
  )
}

const EmptyList = ({ list }: Pick<OwnListPageData, "list">) => (
  <p class="because">
    Nothing is {list === "block" ? "blocked" : "allowed"} yet. Add example.com and the list covers all its addresses.
  </p>
)

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

type ListFormProps = ViewProps & {
  readonly from: RejectedListChange["from"]
  /** What the form sends besides the list. */
  readonly fields?: Readonly<Record<string, string>>
  readonly class?: string
  readonly children: ComponentChildren
}

/** A form that changes the list. Its entries may be many, so that it is sent in parts. */
const ListForm = ({ view: { scope, data }, from, fields, class: look, children }: ListFormProps) => (
  <form
    class={look}
    method="post"
    action={scope.paths[from === "file" ? "import" : "entries"]}
    encType="multipart/form-data"
  >
    <HiddenFields fields={{ from, list: data.list, ...fields }} />
    {children}
  </form>
)

const NOTE_FIELDS = {
  line: { name: "entry_note", label: "Note (optional)" },
  paste: {
    ...{ name: "note", label: "Note (optional)" },
    hint: "For all of these entries. We remove anything that looks like an email address.",
  },
  selection: {
    ...{ name: "selected_note", label: "Note for the selected entries" },
    placeholder: "Empty: the note is deleted",
  },
} as const

/** The note of a form. Each form has a field of its own, since a page has each id once. */
const NoteField = ({ view, of }: ViewProps & { readonly of: keyof typeof NOTE_FIELDS }) => (
  <TextField
    {...NOTE_FIELDS[of]}
    value={view.rejectedOf(of)?.note ?? ""}
    maxLength={LIMITS.ownListNoteLengthMax}
    autocomplete="off"
    error={fieldError(view.rejectedOf(of), "note")}
  />
)

/** Adds one entry, which is what most people come for. */
const AddForm = ({ view }: ViewProps) => (
  <ListForm view={view} from="line" class="field-row">
    <TextField
      name="entry"
      label="Address or domain"
      placeholder="example.com"
      value={view.rejectedOf("line")?.typedText ?? ""}
      required
      {...VERBATIM}
      error={fieldError(view.rejectedOf("line"), "entries")}
    />
    <NoteField view={view} of="line" />
    <button type="submit" name="list_action" value="add">
      Add
    </button>
  </ListForm>
)

function Entries({ view }: ViewProps) {
  const { scope, data } = view
  const { list, search, after, entries, nextAfter } = data
  return (
    <>
      {entries.length === 0 ? (
        <p>{search === "" ? "There are no further entries." : "No entry matches."}</p>
      ) : (
        <SelectionForm view={view} />
      )}
      <p class="actions">
        {after === "" ? null : <a href={ownListPath(scope, { list, search, after: "" })}>First page</a>}
        {nextAfter === null ? null : <a href={ownListPath(scope, { list, search, after: nextAfter })}>Next page</a>}
        <a href={withQuery(scope.paths.table, { list })} download>
          Download CSV with notes
        </a>
        <a href={scope.paths.file.replace(":list", `${list}.txt`)} download>
          Download text
        </a>
      </p>
    </>
  )
}

/** The entries, and what can be done with those that are selected. */
const SelectionForm = ({ view }: ViewProps) => (
  <ListForm view={view} from="selection" fields={{ search: view.data.search, after: view.data.after }}>
    <EntryTable data={view.data} selected={new Set(view.rejectedOf("selection")?.selected)} />
    <p class="hint">Select entries to remove them, or to change their note.</p>
    <fieldset class="field-row selection">
      <legend class="unseen">Selected entries</legend>
      <NoteField view={view} of="selection" />
      <div class="actions">
        <button type="submit" name="list_action" value="note" class="small">
          Save note
        </button>
        <button type="submit" name="list_action" value="remove" class="danger small">
          Remove selected
        </button>
      </div>
    </fieldset>
  </ListForm>
)

const ENTRY_COLUMNS: readonly TableColumn[] = [
  { name: "Entry", kind: "text" },
  { name: "Note", kind: "text" },
  { name: "Covers", kind: "time" },
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
              <input type="checkbox" name="entries" value={storedText} checked={selected.has(storedText)} />
              <bdi>{kind === "address" ? (shownAs ?? shortHash(storedText, domain)) : storedText}</bdi>
            </label>
          </th>
          <td>{note === null ? null : <bdi>{note}</bdi>}</td>
          <td>{ENTRY_KIND_LABELS[kind].label}</td>
          <td>
            <DateStamp atMs={addedAtMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function EntrySearchForm({ view: { scope, data } }: ViewProps) {
  const { list, search } = data
  return (
    <search>
      <form class="find-row" method="get" action={scope.paths.page}>
        <HiddenFields fields={{ list }} />
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

/** Adds and removes many entries at once: pasted ones, and those of a file. */
function ManyEntries({ view }: ViewProps) {
  const { list, counts } = view.data
  const name = LIST_LABELS[list].toLowerCase()
  const [pasted, brought] = [view.rejectedOf("paste"), view.rejectedOf("file")]
  return (
    <details class="panel" id="many" open={pasted !== null || brought !== null}>
      <summary>Paste many, or import a file</summary>
      <ListForm view={view} from="paste" class="form">
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
        <NoteField view={view} of="paste" />
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
      </ListForm>
      <ListForm view={view} from="file" class="form">
        <TextField
          name="file"
          type="file"
          accept=".txt,.csv,.tsv,text/plain,text/csv"
          required
          label="Text or CSV file"
          error={fieldError(brought, "entries")}
          hint={`Up to ${formatEntryCount(LIMITS.ownListEntriesMax)}, in UTF-8. In a CSV file the first column has the entries, and a column with the heading “note” has the notes. You can import a file that you downloaded here.`}
        />
        <button type="submit">Import into the {name}</button>
      </ListForm>
    </details>
  )
}

/** The beginning of the hash, which distinguishes entries. The text file has the complete hash. */
const shortHash = (storedText: string, domain: string): string =>
  `${storedText.slice(0, DISPLAYED_HASH_LENGTH)}…@${domain}`
const DISPLAYED_HASH_LENGTH = "sha256:".length + 12
