import { parse } from "tldts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"

/** Where a name stands in public DNS. */
export type SuffixClassification = {
  /** Null: it is a name that people can register, or one under such a name. */
  readonly fault: "public_suffix" | "unknown_tld" | "reserved_tld" | null
  /** The name or the parent of it that has one registrant; the name itself where it is a public suffix. */
  readonly registrable: string
}

/** Special-use names that stand for a whole top level (RFC 6761, 6762, 7686, 9476; ICANN for `internal`). */
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

/** RFC 8375: names of home networks. */
const HOME_NETWORK_DOMAIN = "home.arpa"

/** How many names' standings are kept at least, about 200 bytes each. */
const CACHED_NAMES_MIN = 5_000

/** Names come parsed, so nothing is extracted or checked again. The private section keeps tenants of one host apart. */
const TLDTS_OPTIONS = {
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
} as const

/**
 * Tells where a name stands by the Public Suffix List. A suffix of the ICANN section and a single label are
 * `public_suffix`; a suffix of the private section (`github.io`) is a registrable name of its own. The name is A-labels,
 * lower case.
 */
export function classifySuffix(name: string): SuffixClassification {
  const held = classificationCache.get(name)
  if (held !== undefined) return held
  const standing = classifyUncached(name)
  classificationCache.set(name, standing)
  return standing
}

/** Names come again, and the walk through the suffix rules is the dearest part of reading one. */
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

/** Whether `name` is `parent` or a name below it. */
export function isSameOrSubdomain(name: string, parent: string): boolean {
  const start = name.length - parent.length
  // Nearly every name lacks the dot, which is quicker to see than its end.
  if (start < 0 || (start > 0 && name.charCodeAt(start - 1) !== 46)) return false
  return name.endsWith(parent)
}
