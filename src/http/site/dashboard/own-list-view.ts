import { namedIn } from "../../../check/address/named-in.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { parseEntry } from "../../../customers/own-lists/own-list-entry.ts"
import {
  countEntries,
  type ListedEntry,
  type ListOwner,
  listEntries,
  OWN_LISTS,
  type OwnList,
} from "../../../customers/own-lists/own-lists.ts"
import type { Store } from "../../../customers/store/store.ts"
import { queryOf } from "../../query.ts"
import { grouped } from "./own-list-words.tsx"

/** How many entries a page shows. */
const PAGE_MAX = 100

/** Which part of a list is looked at. */
export type Looked = {
  readonly list: OwnList
  /** As it was typed, cut to what can be looked for; empty: everything. */
  readonly search: string
  /** The last entry of the page before; empty: the first page. */
  readonly after: string
}

/** A part of a list as the page shows it. */
export type OwnListView = Looked & {
  readonly counts: { readonly [L in OwnList]: number }
  readonly entries: readonly ListedEntry[]
  /** After which entry the next page begins; null: there is none. */
  readonly next: string | null
}

/** The list that a text names, or null. */
export const listNamed = (text: string): OwnList | null => OWN_LISTS.find(list => list === text) ?? null

/** What a page's URL asks to see, or the page that a form stood on; the block list, unless another is named. */
export function lookedAt(parameter: (name: string) => string): Looked {
  return {
    list: listNamed(parameter("list")) ?? "block",
    search: parameter("search").trim().slice(0, LIMITS.addressOctetsMax),
    after: parameter("after").slice(0, KEPT_LENGTH_MAX),
  }
}

/** The kept form of an address at the longest domain. */
const KEPT_LENGTH_MAX = 325

/** The path of the page that shows this; `more` goes with it. */
export function pathOfLooked(looked: Looked, more: Readonly<Record<string, string>> = {}): string {
  const asked = Object.entries({ ...looked, ...more }).filter(([, value]) => value !== "")
  return `${ROUTES.ownLists.path}?${new URLSearchParams(asked)}`
}

/** Reads what the page shows. */
export async function ownListView(store: Store, owner: ListOwner, looked: Looked): Promise<OwnListView> {
  const { list, search, after } = looked
  const counts = await countEntries(store, owner)
  const found = await listEntries(store, owner, list, after, PAGE_MAX + 1, soughtText(search))
  const entries = found.slice(0, PAGE_MAX)
  return { ...looked, counts, entries, next: found.length > PAGE_MAX ? (entries.at(-1)?.kept ?? null) : null }
}

/** What is looked for in the kept forms: an address by its hash, a whole domain by its A-labels, anything else as it is. */
function soughtText(search: string): string {
  return parseEntry(search, namedIn)?.kept ?? search.toLowerCase()
}

/** What was done just before, by the counts in the page's URL; null: nothing. */
export function listDeedWords(url: string): string | null {
  const parameters = queryOf(url)
  const countOf = (name: string): number => {
    const text = parameters.get(name) ?? ""
    return /^\d{1,5}$/.test(text) ? Number(text) : 0
  }
  const [changed, left] = [countOf("changed"), countOf("left")]
  const rest = (words: string): string => (left === 0 ? "" : ` ${counted(left)} ${words}`)
  switch (parameters.get("done")) {
    case "added":
      return `${counted(changed)} added.${rest(`${left === 1 ? "was" : "were"} on the list already.`)}`
    case "removed":
      return `${counted(changed)} removed.${rest(`${left === 1 ? "was" : "were"} not on the list.`)}`
    default:
      return null
  }
}

/** `1 entry`, `2,000 entries`. */
export const counted = (count: number): string => `${grouped(count)} ${count === 1 ? "entry" : "entries"}`
