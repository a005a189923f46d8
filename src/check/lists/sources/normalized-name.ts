import { domainToALabels } from "../../../base/idna.ts"
import { suffixRules } from "../../../base/suffix-rules.ts"
import type { ListingRule } from "../listing-rules.ts"

/** A name in the normal form of packs, or the rule that drops the entry. */
export type NormalizedName =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "dropped"; readonly rule: ListingRule }

const NAME_LENGTH_MAX = 253
const HOST_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const MALFORMED = { kind: "dropped", rule: "malformed" } as const
const UNKNOWN_TLD = { kind: "dropped", rule: "unknown_tld" } as const

/**
 * Normalizes a name: A-labels in lower case (UTS 46, non-transitional), without a trailing dot. A text that is not a host
 * name (RFC 1123 §2.1), is an IP address, or has no public top-level domain is dropped.
 */
export function normalizeName(text: string): NormalizedName {
  const name = toAsciiName(text)
  if (name === null) return MALFORMED
  const parsed = suffixRules().parse(name, {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  })
  if (parsed.isIp === true) return MALFORMED
  return parsed.isIcann === true ? { kind: "name", name } : UNKNOWN_TLD
}

/** Normalizes an entry of a suffix set: labels may be `*` (exactly one label), but not the last one. */
export function normalizePattern(text: string): NormalizedName {
  const labels = text.toLowerCase().split(".")
  const tail = labels.slice(labels.lastIndexOf("*") + 1).join(".")
  const filled = normalizeName(labels.map(label => (label === "*" ? "x" : label)).join("."))
  if (tail === "") return MALFORMED
  if (filled.kind === "dropped" || !labels.includes("*")) return filled
  const pattern = filled.name.split(".").map((label, index) => (labels[index] === "*" ? "*" : label))
  return { kind: "name", name: pattern.join(".") }
}

/** Whether `name` is a public suffix of the ICANN or the private section, under which anyone can register. */
export const isPublicSuffix = (name: string): boolean =>
  suffixRules().getPublicSuffix(name, {
    allowPrivateDomains: true,
    extractHostname: false,
    validateHostname: false,
  }) === name

/** The registrable domain of a normalized name by both sections of the Public Suffix List; for a public suffix, the name itself. */
export function registrableDomain(name: string): string {
  const { domain } = suffixRules().parse(name, {
    allowPrivateDomains: true,
    extractHostname: false,
    validateHostname: false,
  })
  return domain ?? name
}

/** The proper parents of `name`, most specific first, down to the registrable domain. */
export function parentDomains(name: string, registrable: string): readonly string[] {
  const parents: string[] = []
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    if (name.length - dot - 1 < registrable.length) break
    parents.push(name.slice(dot + 1))
  }
  return parents
}

function toAsciiName(text: string): string | null {
  const trimmed = text.trim().replace(/\.$/, "").toLowerCase()
  const needsPunycode = /[^\0-\x7f]|xn--/.test(trimmed)
  const name = needsPunycode ? domainToALabels(trimmed) : trimmed
  if (name.length > NAME_LENGTH_MAX || !HOST_PATTERN.test(name)) return null
  return name
}
