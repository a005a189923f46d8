import { domainToUnicode } from "node:url"
import PLACES from "../../../data/homepage/places.txt" with { type: "text" }
import TEXTS from "../../../data/homepage/texts.txt" with { type: "text" }
import { lazy } from "../../base/lazy.ts"
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
/** What a domain shows instead of a website. */
export type ParkingSignalKind = (typeof PARKING_SIGNAL_KINDS)[number]

/** A sign that a domain has no website of its own: the row of a table. */
export type ParkingSignal = { readonly key: string; readonly kind: ParkingSignalKind }

/** A page with the redirects that led to it. */
export type VisitedPage = {
  /** A-labels, lower case. */
  readonly domain: string
  /** Every URL of the redirects, the page's own last. */
  readonly redirectChain: readonly string[]
  readonly page: PageContent
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
}

/** Weak signals count only on a page with no more text than this. */
const SPARSE_CHARS_MAX = 1500
/** The greatest length of a heading or a sentence. A match within a longer block is part of an article. */
const BLOCK_CHARS_MAX = 240

/** Replaces the domain's own name in texts and patterns. No page contains this word. */
const OWN_NAME_TOKEN = "qdomainq"

/** The visitor was led to the URL, the page loads it, or it links to it. */
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

/** The first signal of the page; null: it has none, so that it is a website. */
export function detectParking(visited: VisitedPage): ParkingSignal | null {
  const { page, domain } = visited
  const maskName = createNameMasker(domain)
  const blocks = page.blocks.map(maskName)
  const text = blocks.join(" ")
  const isSparse = !page.isTruncated && text.length <= SPARSE_CHARS_MAX
  const urlRule = urlRules().find(rule => matchesUrlRule(rule, visited, isSparse))
  if (urlRule !== undefined) return toSignal(urlRule)
  if (isEmptyListing(page, blocks)) return EMPTY_LISTING
  const title = maskName(page.title)
  const textRule = textRules().find(rule => matchesTextRule(rule, title, blocks, text, isSparse))
  return textRule === undefined ? null : toSignal(textRule)
}

const toSignal = ({ key, kind }: ParkingSignal): ParkingSignal => ({ key, kind })

/** Makes a function that replaces the domain by `OWN_NAME_TOKEN`, as A-labels or in Unicode, but not where it is part of another name. */
function createNameMasker(domain: string): (text: string) => string {
  const forms = [domain, foldText(domainToUnicode(domain))].filter(form => form !== "").map(form => RegExp.escape(form))
  const name = new RegExp(`(?<![\\w@.-])(?:https?://)?(?:www\\.)?(?:${forms.join("|")})(?![\\w-]|\\.\\w)/?`, "gu")
  return text => text.replace(name, OWN_NAME_TOKEN)
}

function matchesUrlRule(
  rule: UrlRule,
  { page, redirectChain, domain, registrableOf }: VisitedPage,
  isSparse: boolean,
): boolean {
  const { linkContext } = rule
  if (linkContext === "loaded") return page.resourceUrls.some(url => urlMatches(rule, url, () => true))
  if (linkContext === "linked")
    return isSparse && page.linkUrls.some(url => urlMatches(rule, url, ({ href }) => mentionsDomain(href, domain)))
  const ownDomain = registrableOf(domain)
  // A marketplace's own homepage is a website.
  const isForeign = ({ hostname }: URL): boolean => rule.matchesHost === null || registrableOf(hostname) !== ownDomain
  return [...redirectChain, ...page.destinationUrls].some(url => urlMatches(rule, url, isForeign))
}

function urlMatches({ matchesHost, path }: UrlRule, text: string, condition: (url: URL) => boolean): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const isHost = matchesHost === null || matchesHost(url.hostname)
  return isHost && hasPathPrefix((url.pathname + url.search).toLowerCase(), path) && condition(url)
}

/** Whether the text begins with `path` and the last word of `path` ends there: `/lander` begins `/lander?x`, but not `/landerneau`. */
const hasPathPrefix = (text: string, path: string): boolean =>
  text.startsWith(path) && (/[^a-z0-9]$|^$/.test(path) || !/^[a-z0-9]/.test(text.slice(path.length)))

const mentionsDomain = (href: string, domain: string): boolean => href.toLowerCase().includes(domain)

function matchesTextRule(
  { title, block, text }: TextRule,
  pageTitle: string,
  blocks: readonly string[],
  pageText: string,
  isSparse: boolean,
): boolean {
  if (title === null ? !isSparse : !title.test(pageTitle)) return false
  if (block !== null && !blocks.some(each => each.length <= BLOCK_CHARS_MAX && block.test(each))) return false
  return text === null || text.test(pageText)
}

const EMPTY_LISTING: ParkingSignal = { key: "empty_listing", kind: "listing" }
const LISTING_TITLE = /^(?:index of \/|directory listing (?:for|of) \/|.* - \/)$/
/** The paths in the directory listing of a new website: the root, and what the host creates. */
const EMPTY_LISTING_PATHS = /^(?:\/|\/(?:cgi-bin|\.well-known|icons|favicon\.ico|robots\.txt)\/?)$/

/** Whether the page is a directory listing without files of the owner. */
function isEmptyListing({ title, linkUrls }: PageContent, blocks: readonly string[]): boolean {
  const isListing = LISTING_TITLE.test(title) && blocks.some(block => block === title || block.startsWith("index of /"))
  return isListing && linkUrls.every(link => EMPTY_LISTING_PATHS.test(URL.parse(link)?.pathname ?? ""))
}

const urlRules = lazy(() =>
  parseTable(PLACES, ["key", "kind", "where", "hosts", "path"]).map((row): UrlRule => {
    const hosts = splitWords(row.hosts)
    const match = createNameMatcher(hosts.map(pattern => [pattern, row] as const))
    return {
      key: row.key,
      kind: requireOneOf(PARKING_SIGNAL_KINDS, row.kind),
      linkContext: requireOneOf(LINK_CONTEXTS, row.where),
      matchesHost: hosts.length === 0 ? null : name => match(name) !== null,
      path: row.path,
    }
  }),
)

const textRules = lazy(() =>
  parseTable(TEXTS, ["key", "kind", "title", "block", "text"]).map(
    (row): TextRule => ({
      key: row.key,
      kind: requireOneOf(PARKING_SIGNAL_KINDS, row.kind),
      title: parsePattern(row.title),
      block: parsePattern(row.block),
      text: parsePattern(row.text),
    }),
  ),
)

function parsePattern(pattern: string): RegExp | null {
  return pattern === "" ? null : new RegExp(foldPattern(pattern.replaceAll("{domain}", OWN_NAME_TOKEN)))
}
