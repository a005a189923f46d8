import { RecurringTextCache } from "../../base/recurring-text-cache.ts"
import { suffixRules } from "../../base/suffix-rules.ts"

/** A name as seen by the Public Suffix List. */
export type SuffixClassification = {
  /** Null: the name is registrable, or is under a registrable name. */
  readonly fault: "public_suffix" | "unknown_tld" | "reserved_tld" | null
  /** The registrable domain: the name or one of its parents. The name itself if that is a public suffix. */
  readonly registrable: string
}

/** Special-use top-level domains (RFC 6761, 6762, 7686, 9476; ICANN for `internal`). */
const RESERVED_TLDS: ReadonlySet<string> = new Set([
  "alt",
  "example",
  "internal",
  "invalid",
  "local",
  "localhost",
  "onion",
  "test",
])

/** The special-use domain of home networks (RFC 8375). */
const HOME_NETWORK_DOMAIN = "home.arpa"

/** A name as a parsed host, with its classification. */
export type ClassifiedName = {
  readonly name: string
  readonly fault: null
  readonly suffix: SuffixClassification
  /** Whether it was parsed as a host, and is written as it parses. */
  isPlainHost: boolean
}

/** About how many names that recur are cached, about 200 bytes each. */
const CACHED_NAMES = 5_000

/** Names are parsed already, so nothing is extracted or validated again. The private section separates tenants of one host (`DECISIONS 3`). */
const TLDTS_OPTIONS = {
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
} as const

/**
 * Classifies a name by the Public Suffix List. A suffix of the ICANN section and a single label are `public_suffix`; a
 * suffix of the private section (`github.io`) is a registrable name itself. The name is A-labels in lower case.
 */
export const classifySuffix = (name: string): SuffixClassification => classifiedName(name).suffix

/** The name with its classification. */
export function classifiedName(name: string): ClassifiedName {
  if (lastName.name !== name) lastName = cachedNames.get(name) ?? classifyAndCache(name)
  return lastName
}

/** The name that a text ends with from an index on, if it is cached. Nothing is cut out of the text. */
export const cachedName = (text: string, from: number): ClassifiedName | undefined => cachedNames.get(text, from)

/** Names recur, and the walk through the suffix rules is the most expensive part of parsing one. */
const cachedNames = new RecurringTextCache<ClassifiedName>(CACHED_NAMES)

function classifyAndCache(name: string): ClassifiedName {
  const classified: ClassifiedName = { name, fault: null, suffix: classifyUncached(name), isPlainHost: false }
  cachedNames.offer(name, classified)
  return classified
}

/** The name that was classified last: several steps of a check ask for the same one. */
let lastName: ClassifiedName = {
  ...{ name: "", fault: null, isPlainHost: false },
  suffix: { fault: "public_suffix", registrable: "" },
}

function classifyUncached(name: string): SuffixClassification {
  const { domain, isIcann, isPrivate } = suffixRules().parse(name, TLDTS_OPTIONS)
  const registrable = domain ?? name
  const lastDot = name.lastIndexOf(".")
  if (RESERVED_TLDS.has(name.slice(lastDot + 1)) || isSameOrSubdomain(name, HOME_NETWORK_DOMAIN)) {
    return { fault: "reserved_tld", registrable }
  }
  if (lastDot < 0 || (isIcann && domain === null)) return { fault: "public_suffix", registrable }
  return { fault: isIcann || isPrivate ? null : "unknown_tld", registrable }
}

/** Whether `name` is `parent` or a subdomain of it. */
export function isSameOrSubdomain(name: string, parent: string): boolean {
  const start = name.length - parent.length
  // Most names lack the dot at this position; comparing one character is faster than comparing the end.
  if (start < 0 || (start > 0 && name.charCodeAt(start - 1) !== 46)) return false
  return name.endsWith(parent)
}

/** Whether a suffix is that of a country, other than those that companies take for how they read. */
export const isCountrySuffix = (suffix: string): boolean => OF_COUNTRY.test(suffix)
const OF_COUNTRY = /^([a-z]{2,3}\.)?(?!ai$|cc$|gg$|io$|me$|sh$|so$|to$|tv$)[a-z]{2}$/
