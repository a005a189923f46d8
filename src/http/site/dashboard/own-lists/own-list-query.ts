import { parseAddressOrDomain } from "../../../../check/address/parse-subject.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { parseEntry } from "../../../../customers/own-lists/entries.ts"
import {
  countEntries,
  type DatedOwnListEntry,
  type ListOwner,
  listEntries,
  OWN_LISTS,
  type OwnList,
} from "../../../../customers/own-lists/own-lists.ts"
import type { Store } from "../../../../customers/store/core/store.ts"
import { queryParameters } from "../../../request/request-url.ts"
import { formatNumber } from "./own-list-labels.tsx"

/** How many entries a page shows. */
const ENTRIES_PER_PAGE = 100

/** Which part of a list is looked at. */
export type OwnListQuery = {
  readonly list: OwnList
  /** As it was typed, cut to what can be looked for; empty: everything. */
  readonly search: string
  /** The last entry of the page before; empty: the first page. */
  readonly after: string
}

/** A part of a list as the page shows it. */
export type OwnListPageData = OwnListQuery & {
  readonly counts: { readonly [L in OwnList]: number }
  readonly entries: readonly DatedOwnListEntry[]
  /** After which entry the next page begins; null: there is none. */
  readonly nextAfter: string | null
}

/** The list that a text names, or null. */
export const parseListName = (text: string): OwnList | null => OWN_LISTS.find(list => list === text) ?? null

/** What a page's URL asks to see, or the page that a form stood on; the block list, unless another is named. */
export function parseOwnListQuery(parameter: (name: string) => string): OwnListQuery {
  return {
    list: parseListName(parameter("list")) ?? "block",
    search: parameter("search").trim().slice(0, LIMITS.addressBytesMax),
    after: parameter("after").slice(0, STORED_LENGTH_MAX),
  }
}

/** The kept form of an address at the longest domain. */
const STORED_LENGTH_MAX = 325

/** The path of the page that shows this; `more` goes with it. */
export function ownListPath(looked: OwnListQuery, more: Readonly<Record<string, string>> = {}): string {
  const asked = Object.entries({ ...looked, ...more }).filter(([, value]) => value !== "")
  return `${ROUTES.ownLists.path}?${new URLSearchParams(asked)}`
}

/** Reads what the page shows. */
export async function readOwnListPage(store: Store, owner: ListOwner, looked: OwnListQuery): Promise<OwnListPageData> {
  const { list, search, after } = looked
  const counts = await countEntries(store, owner)
  const found = await listEntries(store, owner, list, after, ENTRIES_PER_PAGE + 1, storedSearchText(search))
  const entries = found.slice(0, ENTRIES_PER_PAGE)
  return {
    ...looked,
    counts,
    entries,
    nextAfter: found.length > ENTRIES_PER_PAGE ? (entries.at(-1)?.storedText ?? null) : null,
  }
}

/** What is looked for in the kept forms: an address by its hash, a whole domain by its A-labels, anything else as it is. */
function storedSearchText(search: string): string {
  return parseEntry(search, parseAddressOrDomain)?.storedText ?? search.toLowerCase()
}

/** What was done just before, by the counts in the page's URL; null: nothing. */
export function ownListFlashMessage(url: string): string | null {
  const parameters = queryParameters(url)
  const countOf = (name: string): number => {
    const text = parameters.get(name) ?? ""
    return /^\d{1,5}$/.test(text) ? Number(text) : 0
  }
  const [changed, left] = [countOf("changed"), countOf("left")]
  const rest = (words: string): string => (left === 0 ? "" : ` ${formatEntryCount(left)} ${words}`)
  switch (parameters.get("done")) {
    case "added":
      return `${formatEntryCount(changed)} added.${rest(`${left === 1 ? "was" : "were"} on the list already.`)}`
    case "removed":
      return `${formatEntryCount(changed)} removed.${rest(`${left === 1 ? "was" : "were"} not on the list.`)}`
    default:
      return null
  }
}

/** `1 entry`, `2,000 entries`. */
export const formatEntryCount = (count: number): string => `${formatNumber(count)} ${count === 1 ? "entry" : "entries"}`
