/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { OWN_LISTS, type OwnList } from "../../../customers/own-lists/own-lists.ts"
import { ActionButton, Done, Instant, TextArea, TextField } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"
import type { ListRefusal } from "./own-list-change.ts"
import { counted, type OwnListView, pathOfLooked } from "./own-list-view.ts"
import { ENTRY_KINDS, EntryHelp, grouped, LIST_WORDS } from "./own-list-words.tsx"

type Props = {
  readonly visitor: Visitor
  readonly view: OwnListView
  readonly done: string | null
  /** Null: nothing was refused. */
  readonly refusal: ListRefusal | null
}

/** The account's block and allow lists: one of them with its entries, and the ways to change it. */
export function OwnListPage({ visitor, view, done, refusal }: Props) {
  const { label, says } = LIST_WORDS[view.list]
  return (
    <DashboardLayout route="ownLists" title="Block and allow lists" visitor={visitor}>
      <Done says={done} />
      {refusal === null ? null : <RefusedEntries refusal={refusal} />}
      <p class="lead">Decide for yourself what a check says of certain addresses and domains.</p>
      <nav class="actions" aria-label="Lists">
        {OWN_LISTS.map(list => (
          <a
            key={list}
            class="button small"
            href={pathOfLooked({ list, search: "", after: "" })}
            {...(list === view.list ? { "aria-current": "page" as const } : {})}
          >
            {LIST_WORDS[list].label} ({grouped(view.counts[list])})
          </a>
        ))}
      </nav>
      <h2 id="list">{label}</h2>
      <p>{says}</p>
      <Entries view={view} />
      <PasteSection list={view.list} pasted={refusal?.pasted ?? ""} isFaulty={refusal !== null} />
      <FileSection list={view.list} />
      <EntryHelp />
    </DashboardLayout>
  )
}

function RefusedEntries({ refusal: { says, faults, faultCount } }: { readonly refusal: ListRefusal }) {
  const more = faultCount - faults.length
  return (
    <div class="fault boxed" role="alert">
      <p>{says}</p>
      {faults.length === 0 ? null : (
        <ul>
          {faults.map((fault, at) => (
            <li key={at}>
              Line {grouped(fault.line)}: <code class="any">{fault.shown}</code>
            </li>
          ))}
          {more > 0 ? <li>and {grouped(more)} more</li> : null}
        </ul>
      )}
    </div>
  )
}

function Entries({ view }: { readonly view: OwnListView }) {
  const { list, search, after, entries, next, counts } = view
  const name = LIST_WORDS[list].label.toLowerCase()
  if (counts[list] === 0) return <p>There is nothing on your {name} yet.</p>
  return (
    <>
      <SearchForm view={view} />
      {entries.length === 0 ? (
        <p>{search === "" ? "There are no further entries." : "No entry matches."}</p>
      ) : (
        <EntryTable view={view} />
      )}
      <p class="actions">
        {after === "" ? null : <a href={pathOfLooked({ list, search, after: "" })}>First page</a>}
        {next === null ? null : <a href={pathOfLooked({ list, search, after: next })}>Next page</a>}
        <a href={filePath(list)}>Download the {name} as a text file</a>
      </p>
    </>
  )
}

function EntryTable({ view }: { readonly view: OwnListView }) {
  const { list, search, after } = view
  return (
    <Table caption={LIST_WORDS[list].label} columns={["Entry", "Covers", "Added", ""]}>
      {view.entries.map(({ kept, kind, domain, addedAtMs }) => (
        <tr key={kept}>
          <th scope="row">
            <code class="any">{kind === "address" ? shortHash(kept, domain) : kept}</code>
          </th>
          <td>{ENTRY_KINDS[kind].label}</td>
          <td>
            <Instant atMs={addedAtMs} />
          </td>
          <td>
            <ActionButton
              path={ROUTES.postListEntries.path}
              fields={{ deed: "remove", list, entries: kept, search, after }}
              label="Remove"
              about={kind === "address" ? `an address at ${domain}` : kept}
            />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function SearchForm({ view: { list, search } }: { readonly view: OwnListView }) {
  return (
    <search>
      <form class="form" method="get" action={ROUTES.ownLists.path}>
        <input type="hidden" name="list" value={list} />
        <TextField
          name="search"
          label="Find an entry"
          value={search}
          maxLength={LIMITS.addressOctetsMax}
          autocomplete="off"
          spellcheck={false}
          hint="A domain, or a part of one. An address is found by its domain."
        />
        <div class="actions">
          <button type="submit" class="small">
            Find
          </button>
          {search === "" ? null : <a href={pathOfLooked({ list, search: "", after: "" })}>Show all</a>}
        </div>
      </form>
    </search>
  )
}

type PasteProps = { readonly list: OwnList; readonly pasted: string; readonly isFaulty: boolean }

function PasteSection({ list, pasted, isFaulty }: PasteProps) {
  const name = LIST_WORDS[list].label.toLowerCase()
  return (
    <section aria-labelledby="paste">
      <h2 id="paste">Add or remove entries</h2>
      <form class="form" method="post" action={ROUTES.postListEntries.path} encType="multipart/form-data">
        <input type="hidden" name="list" value={list} />
        <TextArea
          name="entries"
          label="Addresses and domains"
          value={pasted}
          required
          autocomplete="off"
          spellcheck={false}
          fault={isFaulty && pasted !== "" ? "What you pasted is still here. Mend it, and send it again." : null}
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
  const name = LIST_WORDS[list].label.toLowerCase()
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
          hint={`Up to ${counted(LIMITS.ownListEntriesMax)}, in UTF-8. Of a CSV file the first column counts, and a heading is left out. A file that you downloaded here can be imported again.`}
        />
        <button type="submit">Import into the {name}</button>
      </form>
    </section>
  )
}

/** The path of a list as a file. */
export const filePath = (list: OwnList): string => ROUTES.ownListFile.path.replace(":list", `${list}.txt`)

/** As much of the hash as tells two entries apart; the whole of it is in the file. */
const shortHash = (kept: string, domain: string): string => `${kept.slice(0, SHOWN_HASH)}…@${domain}`
const SHOWN_HASH = "sha256:".length + 12
