import { parseAddressOrDomain } from "../../../check/address/parse-subject.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { parseEntry } from "../../../customers/own-lists/entries.ts"
import {
  countEntries,
  type DatedOwnListEntry,
  type ListOwner,
  listEntries,
  OWN_LISTS,
  type OwnList,
} from "../../../customers/own-lists/own-lists.ts"
import type { Store } from "../../../customers/store/core/store.ts"
import { queryParameters } from "../../request/request-url.ts"
import { withQuery } from "../links.ts"
import { formatCount } from "../ui/format.ts"
import { paginate } from "../ui/pagination.tsx"
import type { OwnListScope } from "./own-list-scope.tsx"

/** How many entries a page displays. */
const ENTRIES_PER_PAGE = 100

/** Which part of a list is displayed. */
export type OwnListQuery = {
  readonly list: OwnList
  /** The search text, cut to a searchable length. Empty: all entries. */
  readonly search: string
  /** The last entry of the previous page. Empty: the first page. */
  readonly after: string
}

/** The data of a page of own lists. */
export type OwnListPageData = OwnListQuery & {
  readonly counts: { readonly [L in OwnList]: number }
  readonly entries: readonly DatedOwnListEntry[]
  /** The entry after which the next page begins. Null on the last page. */
  readonly nextAfter: string | null
}

/** Null when the text names no list. */
export const parseListName = (text: string): OwnList | null => OWN_LISTS.find(list => list === text) ?? null

/** Reads the query from the parameters of a URL or a form. The default list is the block list. */
export function parseOwnListQuery(parameter: (name: string) => string): OwnListQuery {
  return {
    list: parseListName(parameter("list")) ?? "block",
    search: parameter("search").trim().slice(0, LIMITS.addressBytesMax),
    after: parameter("after").slice(0, STORED_LENGTH_MAX),
  }
}

/** The length of a stored address at the longest possible domain. */
const STORED_LENGTH_MAX = 325

/** The path of the page that displays this, with further query parameters. */
export const ownListPath = (
  { paths }: OwnListScope,
  query: OwnListQuery,
  parameters: Readonly<Record<string, string>> = {},
): string => withQuery(paths.page, { ...query, ...parameters })

/** Reads a page of own lists. Rejects when the store fails. */
export async function readOwnListPage(store: Store, owner: ListOwner, query: OwnListQuery): Promise<OwnListPageData> {
  const { list, search, after } = query
  const counts = await countEntries(store, owner)
  const entriesRead = await listEntries(
    store,
    owner,
    list,
    after,
    ENTRIES_PER_PAGE + 1,
    storedSearchText(search),
    search.toLowerCase(),
  )
  const { rows, lastRow } = paginate(entriesRead, ENTRIES_PER_PAGE)
  return { ...query, counts, entries: rows, nextAfter: lastRow?.storedText ?? null }
}

/** The search text as entries are stored: an address as its hash, a domain in A-labels, anything else as it is. */
function storedSearchText(search: string): string {
  return parseEntry(search, parseAddressOrDomain)?.storedText ?? search.toLowerCase()
}

/** The message for the previous change, with the counts from the page's URL. Null when there was none. */
export function ownListFlashMessage(url: string): string | null {
  const parameters = queryParameters(url)
  const countOf = (name: string): number => {
    const text = parameters.get(name) ?? ""
    return /^\d{1,5}$/.test(text) ? Number(text) : 0
  }
  const changed = countOf("changed")
  const unchanged = countOf("left")
  const rest = (text: string): string => (unchanged === 0 ? "" : ` ${formatEntryCount(unchanged)} ${text}`)
  switch (parameters.get("done")) {
    case "added":
      return `${formatEntryCount(changed)} added.${rest(`${unchanged === 1 ? "was" : "were"} on the list already.`)}`
    case "removed":
      return `${formatEntryCount(changed)} removed.${rest(`${unchanged === 1 ? "was" : "were"} not on the list.`)}`
    case "noted":
      return `Note saved for ${formatEntryCount(changed)}.${rest(`${unchanged === 1 ? "is" : "are"} not on the list any more.`)}`
    default:
      return null
  }
}

/** `1 entry`, `2,000 entries`. */
export const formatEntryCount = (count: number): string => formatCount(count, "entry", "entries")
