/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { OWN_LISTS, type OwnList } from "../../../customers/own-lists/own-lists.ts"
import type { SignedInUser } from "../guards.ts"
import { withQuery } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { FlashMessage, FormError, TextArea, TextField, Timestamp } from "../ui/forms.tsx"
import { Empty, Panel, Segmented } from "../ui/panels.tsx"
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
      <EntriesSection scope={scope} data={data} rejected={rejected?.selected === null ? null : rejected} />
      <PasteSection
        scope={scope}
        list={data.list}
        rejected={rejected?.selected === null && !rejected.isFile ? rejected : null}
      />
      <FileSection scope={scope} list={data.list} rejected={rejected?.isFile === true ? rejected : null} />
      <EntryHelp precedence={precedence} />
    </Layout>
  )
}

const NOTHING_CHANGED = "Nothing was changed. Fix the marked field and try again."

/** Whether one field is wrong, beside which the message stands. The table of entries has no place for it. */
const isAtField = ({ field, selected }: RejectedListChange): boolean =>
  field === "note" || (field === "entries" && selected === null)

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

type EntriesSectionProps = {
  readonly scope: OwnListScope
  readonly data: OwnListPageData
  /** A rejected change of selected entries; null: there was none. */
  readonly rejected: RejectedListChange | null
}

function EntriesSection({ scope, data, rejected }: EntriesSectionProps) {
  const { list, search, after, entries, nextAfter, counts } = data
  const name = LIST_LABELS[list].toLowerCase()
  if (counts[list] === 0) return <Empty>There is nothing on the {name} yet.</Empty>
  return (
    <Panel>
      {entries.length === 0 ? (
        <Empty action={<a href={ownListPath(scope, { list, search: "", after: "" })}>Show all</a>}>
          {search === "" ? "There are no further entries." : "No entry matches."}
        </Empty>
      ) : (
        <SelectionForm scope={scope} data={data} rejected={rejected} />
      )}
      <p class="actions">
        {after === "" ? null : <a href={ownListPath(scope, { list, search, after: "" })}>First page</a>}
        {nextAfter === null ? null : <a href={ownListPath(scope, { list, search, after: nextAfter })}>Next page</a>}
        <a href={ownListTablePath(scope, list)} download>
          Download as CSV, with notes
        </a>
        <a href={ownListFilePath(scope, list)} download>
          Download as text
        </a>
      </p>
    </Panel>
  )
}

/** The entries, and what can be done with those that are selected. */
function SelectionForm({ scope, data, rejected }: EntriesSectionProps) {
  const { list, search, after } = data
  const name = LIST_LABELS[list].toLowerCase()
  return (
    <form method="post" action={scope.paths.entries}>
      {Object.entries({ from: "selection", list, search, after }).map(([field, value]) => (
        <input key={field} type="hidden" name={field} value={value} />
      ))}
      <EntryTable data={data} selected={new Set(rejected?.selected)} />
      <fieldset class="selection">
        <legend class="unseen">Selected entries</legend>
        <TextField
          name="selected_note"
          label="Note for the selected entries"
          value={rejected?.note ?? ""}
          maxLength={LIMITS.ownListNoteLengthMax}
          autocomplete="off"
          error={fieldError(rejected, "note")}
          hint="Leave it empty to delete the note."
        />
        <div class="actions">
          <button type="submit" name="list_action" value="note" class="small">
            Save note
          </button>
          <button type="submit" name="list_action" value="remove" class="danger small">
            Remove from the {name}
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

function EntrySearchForm({ scope, data: { list, search } }: Pick<EntriesSectionProps, "scope" | "data">) {
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
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
        />
        <button type="submit" class="small">
          Find
        </button>
        {search === "" ? null : <a href={ownListPath(scope, { list, search: "", after: "" })}>Show all</a>}
      </form>
    </search>
  )
}

type PasteSectionProps = {
  readonly scope: OwnListScope
  readonly list: OwnList
  /** A rejected change by this form; null: there was none. */
  readonly rejected: RejectedListChange | null
}

function PasteSection({ scope, list, rejected }: PasteSectionProps) {
  const pastedText = rejected?.pastedText ?? ""
  const name = LIST_LABELS[list].toLowerCase()
  return (
    <Panel id="paste" title="Add or remove entries">
      <form class="form" method="post" action={scope.paths.entries} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextArea
          name="entries"
          label="Addresses and domains"
          value={pastedText}
          required
          autocomplete="off"
          spellcheck={false}
          error={fieldError(rejected, "entries")}
          hint="One per line, or separated by commas. Lines of a hosts file and rules of ad blockers work too. Lines that start with # are ignored."
        />
        <TextField
          name="note"
          label="Note (optional)"
          value={rejected?.note ?? ""}
          maxLength={LIMITS.ownListNoteLengthMax}
          autocomplete="off"
          error={fieldError(rejected, "note")}
          hint="For all of these entries. Do not write an email address here. We remove it."
        />
        <div class="actions">
          <button type="submit" name="list_action" value="add">
            Add to the {name}
          </button>
          <button type="submit" name="list_action" value="remove" class="small">
            Remove from the {name}
          </button>
        </div>
      </form>
    </Panel>
  )
}

function FileSection({ scope, list, rejected }: PasteSectionProps) {
  const name = LIST_LABELS[list].toLowerCase()
  return (
    <Panel id="import" title="Import a file">
      <form class="form" method="post" action={scope.paths.import} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextField
          name="file"
          type="file"
          accept=".txt,.csv,.tsv,text/plain,text/csv"
          required
          label="Text or CSV file"
          error={fieldError(rejected, "entries")}
          hint={`Up to ${formatEntryCount(LIMITS.ownListEntriesMax)}, in UTF-8. In a CSV file the first column has the entries, and a column with the heading “note” has the notes. You can import a file that you downloaded here.`}
        />
        <button type="submit">Import into the {name}</button>
      </form>
    </Panel>
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
