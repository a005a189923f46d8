import { domainToUnicode } from "node:url"
import PLACES from "../../../data/homepage/places.txt" with { type: "text" }
import TEXTS from "../../../data/homepage/texts.txt" with { type: "text" }
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import { createNameMatcher } from "../dns/domain-name.ts"
import { foldPattern, foldText } from "./folded-text.ts"
import type { PageContent } from "./page-parser.ts"

const PARKING_SIGNAL_KINDS = [
  "marketplace",
  "parking",
  "registrar",
  "server",
  "builder",
  "suspended",
  "sale",
  "listing",
] as const
/** What stands in the place of a website. */
export type ParkingSignalKind = (typeof PARKING_SIGNAL_KINDS)[number]

/** What decided that nobody has built a website: a row of a table by its key. */
export type ParkingSignal = { readonly key: string; readonly kind: ParkingSignalKind }

/** What a page is judged by. */
export type VisitedPage = {
  /** A-labels, lower case. */
  readonly domain: string
  /** Every URL on the way, the page's own last. */
  readonly redirectChain: readonly string[]
  readonly page: PageContent
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
}

/** A row that reads the same to everybody counts on any page; others on pages that have hardly more to say than this. */
const SPARSE_CHARS_MAX = 1500
/** A heading or a sentence; what stands within more than that is part of a story. */
const BLOCK_CHARS_MAX = 240

/** Stands in texts and patterns for the domain's own name: a word that nobody writes. */
const OWN_NAME_TOKEN = "qdomainq"

const LINK_CONTEXTS = ["led", "loaded", "linked"] as const

type UrlRule = ParkingSignal & {
  readonly linkContext: (typeof LINK_CONTEXTS)[number]
  readonly matchesHost: ((name: string) => boolean) | null
  readonly path: string
}

type TextRule = ParkingSignal & {
  readonly title: RegExp | null
  readonly block: RegExp | null
  readonly text: RegExp | null
}

/** The first mark that the page bears; null: it bears none, so somebody has built it. */
export function detectParking(visited: VisitedPage): ParkingSignal | null {
  const { page, domain } = visited
  const own = createNameMasker(domain)
  const blocks = page.blocks.map(own)
  const text = blocks.join(" ")
  const isSparse = !page.isTruncated && text.length <= SPARSE_CHARS_MAX
  const placed = URL_RULES.find(row => matchesUrlRule(row, visited, isSparse))
  if (placed !== undefined) return toSignal(placed)
  if (isEmptyListing(page, blocks)) return EMPTY_LISTING
  const worded = TEXT_RULES.find(row => matchesTextRule(row, own(page.title), blocks, text, isSparse))
  return worded === undefined ? null : toSignal(worded)
}

const toSignal = ({ key, kind }: ParkingSignal): ParkingSignal => ({ key, kind })

/** Puts `OWN_NAME` in the place of the domain, in either form of it, where it is a name of its own and not part of another. */
function createNameMasker(domain: string): (text: string) => string {
  const forms = [domain, foldText(domainToUnicode(domain))].filter(form => form !== "").map(form => RegExp.escape(form))
  const name = new RegExp(`(?<![\\w@.-])(?:https?://)?(?:www\\.)?(?:${forms.join("|")})(?![\\w-]|\\.\\w)/?`, "gu")
  return text => text.replace(name, OWN_NAME_TOKEN)
}

function matchesUrlRule(
  row: UrlRule,
  { page, redirectChain, domain, registrableOf }: VisitedPage,
  isSparse: boolean,
): boolean {
  const { linkContext } = row
  if (linkContext === "loaded") return page.resourceUrls.some(url => urlMatches(row, url, () => true))
  if (linkContext === "linked")
    return isSparse && page.linkUrls.some(url => urlMatches(row, url, ({ href }) => mentionsDomain(href, domain)))
  const home = registrableOf(domain)
  // A marketplace's own homepage is a website.
  const isForeign = ({ hostname }: URL): boolean => row.matchesHost === null || registrableOf(hostname) !== home
  return [...redirectChain, ...page.destinationUrls].some(url => urlMatches(row, url, isForeign))
}

function urlMatches({ matchesHost, path }: UrlRule, text: string, also: (url: URL) => boolean): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const isThere = matchesHost === null || matchesHost(url.hostname)
  return isThere && hasPathPrefix((url.pathname + url.search).toLowerCase(), path) && also(url)
}

/** Whether the text begins with the words of `path`, the last of which ends there: `/lander` begins `/lander?x`, not `/landerneau`. */
const hasPathPrefix = (text: string, path: string): boolean =>
  text.startsWith(path) && (/[^a-z0-9]$|^$/.test(path) || !/^[a-z0-9]/.test(text.slice(path.length)))

const mentionsDomain = (href: string, domain: string): boolean => href.toLowerCase().includes(domain)

function matchesTextRule(
  { title, block, text }: TextRule,
  pageTitle: string,
  blocks: readonly string[],
  all: string,
  isSparse: boolean,
): boolean {
  if (title === null ? !isSparse : !title.test(pageTitle)) return false
  if (block !== null && !blocks.some(one => one.length <= BLOCK_CHARS_MAX && block.test(one))) return false
  return text === null || text.test(all)
}

const EMPTY_LISTING: ParkingSignal = { key: "empty_listing", kind: "listing" }
const LISTING_TITLE = /^(?:index of \/|directory listing (?:for|of) \/|.* - \/)$/
/** What a listing has before anything was put there, as a path: itself, what is above it, and what its host made. */
const EMPTY_LISTING_PATHS = /^(?:\/|\/(?:cgi-bin|\.well-known|icons|favicon\.ico|robots\.txt)\/?)$/

/** A server shows what is in the folder of a website, and nothing is. */
function isEmptyListing({ title, linkUrls }: PageContent, blocks: readonly string[]): boolean {
  const isListing = LISTING_TITLE.test(title) && blocks.some(block => block === title || block.startsWith("index of /"))
  return isListing && linkUrls.every(link => EMPTY_LISTING_PATHS.test(URL.parse(link)?.pathname ?? ""))
}

const URL_RULES: readonly UrlRule[] = parseTable(PLACES, ["key", "kind", "where", "hosts", "path"]).map(row => {
  const hosts = splitWords(row.hosts)
  const match = createNameMatcher(hosts.map(pattern => [pattern, row] as const))
  return {
    key: row.key,
    kind: requireOneOf(PARKING_SIGNAL_KINDS, row.kind),
    linkContext: requireOneOf(LINK_CONTEXTS, row.where),
    matchesHost: hosts.length === 0 ? null : name => match(name) !== null,
    path: row.path,
  }
})

const TEXT_RULES: readonly TextRule[] = parseTable(TEXTS, ["key", "kind", "title", "block", "text"]).map(row => ({
  key: row.key,
  kind: requireOneOf(PARKING_SIGNAL_KINDS, row.kind),
  title: parsePattern(row.title),
  block: parsePattern(row.block),
  text: parsePattern(row.text),
}))

function parsePattern(pattern: string): RegExp | null {
  return pattern === "" ? null : new RegExp(foldPattern(pattern.replaceAll("{domain}", OWN_NAME_TOKEN)))
}
