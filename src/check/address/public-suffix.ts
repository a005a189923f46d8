import { suffixRules } from "../../base/suffix-rules.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"

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

/** A classification that is cached under its name. */
export type CachedName = {
  readonly classification: SuffixClassification
  /** The name as a parsed host, if it was parsed as one and is written as it parses; null: it was not. */
  plainHost: PlainHost | null
}

/** A host whose text is the name itself, as it is parsed and classified. */
export type PlainHost = {
  readonly parsed: { readonly name: string; readonly fault: null }
  readonly suffix: SuffixClassification
}

/** The number of recent names that are cached at least, about 200 bytes each. */
const CACHED_NAMES_MIN = 5_000

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
export const classifySuffix = (name: string): SuffixClassification =>
  (nameCache.get(name) ?? classifyAndCache(name)).classification

/**
 * What is cached under this text, if anything. The name in it is the very string that was parsed then, which makes later Map look-ups
 * by it faster.
 */
export const cachedName = (text: string): CachedName | undefined => nameCache.get(text)

/** Caches that the name is a host written as it parses. `cached` is what is cached under it already. */
export function cachePlainHost(name: string, cached: CachedName = classifyAndCache(name)): PlainHost {
  cached.plainHost = { parsed: { name, fault: null }, suffix: cached.classification }
  return cached.plainHost
}

/** Names recur, and the walk through the suffix rules is the most expensive part of parsing one. */
const nameCache = new TwoGenerationCache<string, CachedName>(CACHED_NAMES_MIN)

function classifyAndCache(name: string): CachedName {
  const classified = { classification: classifyUncached(name), plainHost: null }
  nameCache.set(name, classified)
  return classified
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
