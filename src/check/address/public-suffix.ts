import { parse } from "tldts"
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
export function classifySuffix(name: string): SuffixClassification {
  const cached = classificationCache.get(name)
  if (cached !== undefined) return cached
  const classification = classifyUncached(name)
  classificationCache.set(name, classification)
  return classification
}

/** Names recur, and the walk through the suffix rules is the most expensive part of parsing one. */
const classificationCache = new TwoGenerationCache<string, SuffixClassification>(CACHED_NAMES_MIN)

function classifyUncached(name: string): SuffixClassification {
  const { domain, isIcann, isPrivate } = parse(name, TLDTS_OPTIONS)
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
