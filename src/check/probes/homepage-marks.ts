import { domainToUnicode } from "node:url"
import PLACES from "../../../data/homepage/places.txt" with { type: "text" }
import TEXTS from "../../../data/homepage/texts.txt" with { type: "text" }
import { folded, foldedPattern } from "./folded-text.ts"
import { namePatterns } from "./name-patterns.ts"
import type { PageReading } from "./page-reading.ts"
import { oneOfWords, readTable, wordsOf } from "./text-table.ts"

const MARK_KINDS = ["marketplace", "parking", "registrar", "server", "builder", "suspended", "sale", "listing"] as const
/** What stands in the place of a website. */
export type MarkKind = (typeof MARK_KINDS)[number]

/** What decided that nobody has built a website: a row of a table by its key. */
export type Mark = { readonly key: string; readonly kind: MarkKind }

/** What a page is judged by. */
export type Visited = {
  /** A-labels, lower case. */
  readonly domain: string
  /** Every URL on the way, the page's own last. */
  readonly trail: readonly string[]
  readonly page: PageReading
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
}

/** A row that reads the same to everybody counts on any page; others on pages that have hardly more to say than this. */
const SPARSE_CHARS_MAX = 1500
/** A heading or a sentence; what stands within more than that is part of a story. */
const BLOCK_CHARS_MAX = 240

/** Stands in texts and patterns for the domain's own name: a word that nobody writes. */
const OWN_NAME = "qdomainq"

const WAYS = ["led", "loaded", "linked"] as const

type Place = Mark & {
  readonly where: (typeof WAYS)[number]
  readonly isHost: ((name: string) => boolean) | null
  readonly path: string
}

type Wording = Mark & { readonly title: RegExp | null; readonly block: RegExp | null; readonly text: RegExp | null }

/** The first mark that the page bears; null: it bears none, so somebody has built it. */
export function markOf(visited: Visited): Mark | null {
  const { page, domain } = visited
  const own = namesOf(domain)
  const blocks = page.blocks.map(own)
  const text = blocks.join(" ")
  const isSparse = !page.isLong && text.length <= SPARSE_CHARS_MAX
  const placed = PLACE_ROWS.find(row => holdsAt(row, visited, isSparse))
  if (placed !== undefined) return bare(placed)
  if (isEmptyListing(page, blocks)) return EMPTY_LISTING
  const worded = WORDING_ROWS.find(row => holdsIn(row, own(page.title), blocks, text, isSparse))
  return worded === undefined ? null : bare(worded)
}

const bare = ({ key, kind }: Mark): Mark => ({ key, kind })

/** Puts `OWN_NAME` in the place of the domain, in either form of it, where it is a name of its own and not part of another. */
function namesOf(domain: string): (text: string) => string {
  const forms = [domain, folded(domainToUnicode(domain))].filter(form => form !== "").map(form => RegExp.escape(form))
  const name = new RegExp(`(?<![\\w@.-])(?:https?://)?(?:www\\.)?(?:${forms.join("|")})(?![\\w-]|\\.\\w)/?`, "gu")
  return text => text.replace(name, OWN_NAME)
}

function holdsAt(row: Place, { page, trail, domain, registrableOf }: Visited, isSparse: boolean): boolean {
  const { where } = row
  if (where === "loaded") return page.loads.some(url => isAt(row, url, () => true))
  if (where === "linked") return isSparse && page.linksTo.some(url => isAt(row, url, ({ href }) => names(href, domain)))
  const home = registrableOf(domain)
  // A marketplace's own homepage is a website.
  const isForeign = ({ hostname }: URL): boolean => row.isHost === null || registrableOf(hostname) !== home
  return [...trail, ...page.leadsTo].some(url => isAt(row, url, isForeign))
}

function isAt({ isHost, path }: Place, text: string, also: (url: URL) => boolean): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const isThere = isHost === null || isHost(url.hostname)
  return isThere && beginsWith((url.pathname + url.search).toLowerCase(), path) && also(url)
}

/** Whether the text begins with the words of `path`, the last of which ends there: `/lander` begins `/lander?x`, not `/landerneau`. */
const beginsWith = (text: string, path: string): boolean =>
  text.startsWith(path) && (/[^a-z0-9]$|^$/.test(path) || !/^[a-z0-9]/.test(text.slice(path.length)))

const names = (href: string, domain: string): boolean => href.toLowerCase().includes(domain)

function holdsIn(
  { title, block, text }: Wording,
  pageTitle: string,
  blocks: readonly string[],
  all: string,
  isSparse: boolean,
): boolean {
  if (title === null ? !isSparse : !title.test(pageTitle)) return false
  if (block !== null && !blocks.some(one => one.length <= BLOCK_CHARS_MAX && block.test(one))) return false
  return text === null || text.test(all)
}

const EMPTY_LISTING: Mark = { key: "empty_listing", kind: "listing" }
const LISTING_TITLE = /^(?:index of \/|directory listing (?:for|of) \/|.* - \/)$/
/** What a listing has before anything was put there, as a path: itself, what is above it, and what its host made. */
const UNFILLED = /^(?:\/|\/(?:cgi-bin|\.well-known|icons|favicon\.ico|robots\.txt)\/?)$/

/** A server shows what is in the folder of a website, and nothing is. */
function isEmptyListing({ title, linksTo }: PageReading, blocks: readonly string[]): boolean {
  const isListing = LISTING_TITLE.test(title) && blocks.some(block => block === title || block.startsWith("index of /"))
  return isListing && linksTo.every(link => UNFILLED.test(URL.parse(link)?.pathname ?? ""))
}

const PLACE_ROWS: readonly Place[] = readTable(PLACES, ["key", "kind", "where", "hosts", "path"]).map(row => {
  const hosts = wordsOf(row.hosts)
  const match = namePatterns(hosts.map(pattern => [pattern, row] as const))
  return {
    key: row.key,
    kind: oneOfWords(MARK_KINDS, row.kind),
    where: oneOfWords(WAYS, row.where),
    isHost: hosts.length === 0 ? null : name => match(name) !== null,
    path: row.path,
  }
})

const WORDING_ROWS: readonly Wording[] = readTable(TEXTS, ["key", "kind", "title", "block", "text"]).map(row => ({
  key: row.key,
  kind: oneOfWords(MARK_KINDS, row.kind),
  title: expressionOf(row.title),
  block: expressionOf(row.block),
  text: expressionOf(row.text),
}))

function expressionOf(pattern: string): RegExp | null {
  return pattern === "" ? null : new RegExp(foldedPattern(pattern.replaceAll("{domain}", OWN_NAME)))
}
