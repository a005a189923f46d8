/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { OWN_LISTS, type OwnList } from "../../../../customers/own-lists/own-lists.ts"
import type { SignedInUser } from "../../guards.ts"
import { formatNumber } from "../../ui/format.ts"
import { ActionButton, FlashMessage, TextArea, TextField, Timestamp } from "../../ui/forms.tsx"
import { Table } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import type { RejectedListChange } from "./own-list-change.ts"
import { ENTRY_KIND_LABELS, EntryHelp, LIST_LABELS } from "./own-list-labels.tsx"
import { formatEntryCount, type OwnListPageData, ownListPath } from "./own-list-query.ts"

type OwnListPageProps = {
  readonly user: SignedInUser
  readonly data: OwnListPageData
  readonly flash: string | null
  /** Null: no change was rejected. */
  readonly rejected: RejectedListChange | null
}

/** The account's block or allow list with its entries, and the forms that change it. */
export function OwnListPage({ user, data, flash, rejected }: OwnListPageProps) {
  const { label, description } = LIST_LABELS[data.list]
  return (
    <DashboardLayout route="ownLists" title="Block and allow lists" user={user}>
      <FlashMessage message={flash} />
      {rejected === null ? null : <RejectedEntries rejected={rejected} />}
      <p class="lead">Decide for yourself what a check says of certain addresses and domains.</p>
      <nav class="actions" aria-label="Lists">
        {OWN_LISTS.map(list => (
          <a
            key={list}
            class="button small"
            href={ownListPath({ list, search: "", after: "" })}
            {...(list === data.list ? { "aria-current": "page" as const } : {})}
          >
            {LIST_LABELS[list].label} ({formatNumber(data.counts[list])})
          </a>
        ))}
      </nav>
      <h2 id="list">{label}</h2>
      <p>{description}</p>
      <EntriesSection data={data} />
      <PasteSection list={data.list} pastedText={rejected?.pastedText ?? ""} isRejected={rejected !== null} />
      <FileSection list={data.list} />
      <EntryHelp />
    </DashboardLayout>
  )
}

function RejectedEntries({ rejected: { message, faults, faultCount } }: { readonly rejected: RejectedListChange }) {
  const hiddenCount = faultCount - faults.length
  return (
    <div class="fault boxed" role="alert">
      <p>{message}</p>
      {faults.length === 0 ? null : (
        <ul>
          {faults.map((fault, index) => (
            <li key={index}>
              Line {formatNumber(fault.line)}: <code class="any">{fault.excerpt}</code>
            </li>
          ))}
          {hiddenCount > 0 ? <li>and {formatNumber(hiddenCount)} more</li> : null}
        </ul>
      )}
    </div>
  )
}

function EntriesSection({ data }: { readonly data: OwnListPageData }) {
  const { list, search, after, entries, nextAfter, counts } = data
  const name = LIST_LABELS[list].label.toLowerCase()
  if (counts[list] === 0) return <p>There is nothing on your {name} yet.</p>
  return (
    <>
      <EntrySearchForm data={data} />
      {entries.length === 0 ? (
        <p>{search === "" ? "There are no further entries." : "No entry matches."}</p>
      ) : (
        <EntryTable data={data} />
      )}
      <p class="actions">
        {after === "" ? null : <a href={ownListPath({ list, search, after: "" })}>First page</a>}
        {nextAfter === null ? null : <a href={ownListPath({ list, search, after: nextAfter })}>Next page</a>}
        <a href={ownListFilePath(list)}>Download the {name} as a text file</a>
      </p>
    </>
  )
}

function EntryTable({ data }: { readonly data: OwnListPageData }) {
  const { list, search, after } = data
  return (
    <Table caption={LIST_LABELS[list].label} columns={["Entry", "Covers", "Added", ""]}>
      {data.entries.map(({ storedText, kind, domain, addedAtMs }) => (
        <tr key={storedText}>
          <th scope="row">
            <code class="any">{kind === "address" ? shortHash(storedText, domain) : storedText}</code>
          </th>
          <td>{ENTRY_KIND_LABELS[kind].label}</td>
          <td>
            <Timestamp atMs={addedAtMs} />
          </td>
          <td>
            <ActionButton
              path={ROUTES.postListEntries.path}
              fields={{ deed: "remove", list, entries: storedText, search, after }}
              label="Remove"
              hiddenLabel={kind === "address" ? `an address at ${domain}` : storedText}
            />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function EntrySearchForm({ data: { list, search } }: { readonly data: OwnListPageData }) {
  return (
    <search>
      <form class="form" method="get" action={ROUTES.ownLists.path}>
        <input type="hidden" name="list" value={list} />
        <TextField
          name="search"
          label="Find an entry"
          value={search}
          maxLength={LIMITS.addressBytesMax}
          autocomplete="off"
          spellcheck={false}
          hint="A domain, or a part of one. An address is found by its domain."
        />
        <div class="actions">
          <button type="submit" class="small">
            Find
          </button>
          {search === "" ? null : <a href={ownListPath({ list, search: "", after: "" })}>Show all</a>}
        </div>
      </form>
    </search>
  )
}

type PasteSectionProps = { readonly list: OwnList; readonly pastedText: string; readonly isRejected: boolean }

function PasteSection({ list, pastedText, isRejected }: PasteSectionProps) {
  const name = LIST_LABELS[list].label.toLowerCase()
  return (
    <section aria-labelledby="paste">
      <h2 id="paste">Add or remove entries</h2>
      <form class="form" method="post" action={ROUTES.postListEntries.path} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextArea
          name="entries"
          label="Addresses and domains"
          value={pastedText}
          required
          autocomplete="off"
          spellcheck={false}
          error={
            isRejected && pastedText !== "" ? "What you pasted is still here. Correct it, and send it again." : null
          }
          hint="One a line, or several between commas. Lines that begin with # are left out. If one of them cannot be read, nothing is changed."
        />
        <div class="actions">
          <button type="submit" name="deed" value="add">
            Add to the {name}
          </button>
          <button type="submit" name="deed" value="remove" class="small">
            Remove from the {name}
          </button>
        </div>
      </form>
    </section>
  )
}

function FileSection({ list }: { readonly list: OwnList }) {
  const name = LIST_LABELS[list].label.toLowerCase()
  return (
    <section aria-labelledby="import">
      <h2 id="import">Import a file</h2>
      <form class="form" method="post" action={ROUTES.postListImport.path} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextField
          name="file"
          type="file"
          accept=".txt,.csv,.tsv,text/plain,text/csv"
          required
          label="Text or CSV file"
          hint={`Up to ${formatEntryCount(LIMITS.ownListEntriesMax)}, in UTF-8. Of a CSV file the first column counts, and a heading is left out. A file that you downloaded here can be imported again.`}
        />
        <button type="submit">Import into the {name}</button>
      </form>
    </section>
  )
}

/** The path of the list's text file. */
export const ownListFilePath = (list: OwnList): string => ROUTES.ownListFile.path.replace(":list", `${list}.txt`)

/** The beginning of the hash, which distinguishes entries. The text file has the complete hash. */
const shortHash = (storedText: string, domain: string): string =>
  `${storedText.slice(0, DISPLAYED_HASH_LENGTH)}…@${domain}`
const DISPLAYED_HASH_LENGTH = "sha256:".length + 12
