/** @jsxImportSource preact */

import type { Manifest } from "../../check/lists/manifest.ts"
import { SET_NAMES, SETS } from "../../check/lists/sets.ts"
import type { Lists } from "../../check/lists.ts"
import { Layout, Table } from "./layout.tsx"

/** What the page tells of the lists in use. */
export type ListsInUse = {
  /** Version of the lists. */
  readonly version: string
  /** When they were built: an instant in ISO 8601, UTC. */
  readonly builtAt: string
  /** In the order of the page. */
  readonly sets: readonly {
    readonly name: string
    readonly says: string
    /** How many names the set has. */
    readonly entryCount: number
  }[]
  readonly sources: readonly {
    readonly id: string
    /** Name of the set that the source fills. */
    readonly fills: string
    /** How far the source is believed. */
    readonly trust: string
    readonly licence: string
    /** Where it comes from, for people; it may be an address and is not made a link. */
    readonly origin: string
    /** The day that the entries are of. */
    readonly date: string
    /** How many of its entries were kept. */
    readonly entryCount: number
  }[]
}

/** The lists in use: version, how many names each set has, and every source with its licence. */
export function ListsPage({ lists }: { readonly lists: ListsInUse }) {
  return (
    <Layout route="docsLists" title="Lists">
      <p class="lead">
        Verdicts that need no network come from these lists. They are part of the server; nothing is downloaded while a
        request is answered.
      </p>
      <dl class="facts">
        <dt>Version</dt>
        <dd>
          <code>{lists.version}</code>
        </dd>
        <dt>Built</dt>
        <dd>
          <time dateTime={lists.builtAt}>{lists.builtAt}</time>
        </dd>
      </dl>
      <h2 id="sets">Sets</h2>
      <Table caption="Sets" columns={["Set", "Meaning", "Names"]}>
        {lists.sets.map(({ name, says, entryCount }) => (
          <tr key={name} id={`set-${name}`}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{says}</td>
            <td class="number">{grouped(entryCount)}</td>
          </tr>
        ))}
      </Table>
      <h2 id="sources">Sources</h2>
      <Table caption="Sources" columns={["Source", "Fills", "Trust", "Licence", "Origin", "Date", "Entries"]}>
        {lists.sources.map(({ id, fills, trust, licence, origin, date, entryCount }) => (
          <tr key={id} id={`source-${id}`}>
            <th scope="row">
              <code>{id}</code>
            </th>
            <td>{fills}</td>
            <td>{trust}</td>
            <td class="short">{licence}</td>
            <td class="origin">{origin}</td>
            <td class="short">{date}</td>
            <td class="number">{grouped(entryCount)}</td>
          </tr>
        ))}
      </Table>
    </Layout>
  )
}

/** A count with its digits in threes. */
const grouped = (count: number): string => new Intl.NumberFormat("en").format(count)

/** What the page tells of the lists, with the manifest of what they were built from. */
export const shownLists = ({ pack }: Lists, { sources }: Manifest): ListsInUse => ({
  version: pack.version,
  builtAt: pack.builtAt,
  sets: SET_NAMES.map(name => ({ name, says: SETS[name].says, entryCount: pack.entries[name] })),
  sources: Object.entries(sources).map(([id, { set, trust, licence, origin, date, kept }]) => ({
    id,
    fills: set,
    trust,
    licence,
    origin,
    date,
    entryCount: kept,
  })),
})
