import { domainToASCII } from "node:url"
import { getPublicSuffix, parse } from "tldts"
import type { ListingRule } from "../listing-rules.ts"

/** A name as packs hold it, or the rule that drops it. */
export type NormalizedName =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "dropped"; readonly rule: ListingRule }

const NAME_LENGTH_MAX = 253
const HOST_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const MALFORMED = { kind: "dropped", rule: "malformed" } as const
const UNKNOWN_TLD = { kind: "dropped", rule: "unknown_tld" } as const

/**
 * The name in lower case, as A-labels (UTS 46, non-transitional), without a trailing dot. What is no host name (RFC 1123
 * §2.1), is an IP address, or ends in no public top-level domain is dropped with its rule.
 */
export function normalizeName(text: string): NormalizedName {
  const name = toAsciiName(text)
  if (name === null) return MALFORMED
  const parsed = parse(name, { allowPrivateDomains: false, extractHostname: false, validateHostname: false })
  if (parsed.isIp === true) return MALFORMED
  return parsed.isIcann === true ? { kind: "name", name } : UNKNOWN_TLD
}

/** The same for an entry of a suffix set: a label may be `*` (exactly one label), but not the last, and not all. */
export function normalizePattern(text: string): NormalizedName {
  const labels = text.toLowerCase().split(".")
  const tail = labels.slice(labels.lastIndexOf("*") + 1).join(".")
  const whole = normalizeName(labels.map(label => (label === "*" ? "x" : label)).join("."))
  if (tail === "") return MALFORMED
  if (whole.kind === "dropped" || !labels.includes("*")) return whole
  let at = 0
  const named = whole.name.split(".").map(label => (labels[at++] === "*" ? "*" : label))
  return { kind: "name", name: named.join(".") }
}

/** Whether strangers register under `name`: it is a public suffix of the ICANN or the private section. */
export const isPublicSuffix = (name: string): boolean =>
  getPublicSuffix(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false }) === name

/** The registrable domain of a normal name, by both sections of the Public Suffix List; a public suffix is its own. */
export function registrableDomain(name: string): string {
  const { domain } = parse(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false })
  return domain ?? name
}

/** The proper parents of `name`, most specific first, down to the registrable domain. */
export function parentDomains(name: string, registrable: string): readonly string[] {
  const parents: string[] = []
  for (let at = name.indexOf("."); at >= 0; at = name.indexOf(".", at + 1)) {
    if (name.length - at - 1 < registrable.length) break
    parents.push(name.slice(at + 1))
  }
  return parents
}

function toAsciiName(text: string): string | null {
  const trimmed = text.trim().replace(/\.$/, "").toLowerCase()
  const needsPunycode = /[^\0-\x7f]|xn--/.test(trimmed)
  const name = needsPunycode ? domainToASCII(trimmed) : trimmed
  if (name.length > NAME_LENGTH_MAX || !HOST_PATTERN.test(name)) return null
  return name
}
