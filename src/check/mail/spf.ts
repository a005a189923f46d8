import { type CachingResolver, txtValues } from "../dns/dns-types.ts"
import { DOMAIN_NAME_CHARS_MAX } from "../dns/domain-name.ts"
import { providerOfSpfDomain } from "./mail-providers.ts"
import type { SuiteIndicator } from "./suite-indicators.ts"

/** How many characters of an SPF record are read. Real ones have a few hundred (RFC 7208 §3.4). */
export const SPF_CHARS_MAX = 2048

/**
 * The SPF record among a domain's TXT records (RFC 7208 §4.5): the one that is `v=spf1`, alone or before a space. Null:
 * there is none, more than one, or it holds more than printable ASCII (§3.1). What goes beyond `SPF_LENGTH_MAX` is cut
 * between two terms.
 */
export function selectSpfRecord(texts: readonly string[]): string | null {
  const records = texts.filter(text => /^v=spf1(?: |$)/i.test(text))
  const [record] = records
  if (record === undefined || records.length > 1 || !/^[ -~]*$/.test(record)) return null
  if (record.length <= SPF_CHARS_MAX) return record
  return record.slice(0, record.lastIndexOf(" ", SPF_CHARS_MAX)).trimEnd()
}

const LOOKUP_TERM = /^[+?~-]?(?:include:(?<include>.+)|(?:a|mx|ptr)(?:[:/].+)?|exists:.+)$/i
const ALL_TERM = /^[+?~-]?all$/i
const REDIRECT_TERM = /^redirect=(.+)$/i

/** A domain as RFC 7208 §7.1 has it, but for literals that no host name has: names, and macros such as `%{d2}`. */
const SPF_DOMAIN = /^(?:[a-z0-9_.-]|%\{[slodiphcrtv]\d{0,3}r?[.\-+,/_=]*\}|%[%_-])+$/

/**
 * A term of an SPF record that costs a DNS question (RFC 7208 §4.6.4): the domain whose record `include` and `redirect`
 * go on with, lower case, without a trailing dot; null: a term of another kind, or one whose domain cannot be read.
 */
type SpfLookupTerm = { readonly domain: string | null }

/**
 * The terms that cost a DNS question, in their order, `redirect` last; it counts only where no `all` stands (RFC 7208
 * §6.1). Terms that do not parse are passed over, though the record as a whole would fail by them (§4.6).
 */
export function parseSpfLookups(record: string): readonly SpfLookupTerm[] {
  const terms = record.split(" ").slice(1)
  const lookups = terms.flatMap(term => {
    const match = LOOKUP_TERM.exec(term)
    return match === null ? [] : [{ domain: parseSpfDomain(match.groups?.["include"]) }]
  })
  const redirects = terms.flatMap(term => REDIRECT_TERM.exec(term)?.[1] ?? [])
  // Two of them are a fault (§6), and then neither can be meant.
  if (redirects.length !== 1 || terms.some(term => ALL_TERM.test(term))) return lookups
  return [...lookups, { domain: parseSpfDomain(redirects[0]) }]
}

function parseSpfDomain(written: string | undefined): string | null {
  if (written === undefined || written.length > DOMAIN_NAME_CHARS_MAX + 1) return null
  const domain = written.toLowerCase().replace(/\.$/, "")
  return domain.length <= DOMAIN_NAME_CHARS_MAX && SPF_DOMAIN.test(domain) ? domain : null
}

/** How many terms that cost a question are read, of all records together (RFC 7208 §4.6.4). */
const SPF_LOOKUPS_MAX = 10

/** How many names without a TXT record may be met (RFC 7208 §4.6.4). */
const VOID_LOOKUPS_MAX = 2

const QUERYABLE_NAME = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/

/**
 * The suites that a domain's SPF record names, itself or through `include` and `redirect`, whose records are asked for
 * level by level. A provider's own domain is what is looked for and is not asked for; neither is one with macros. A
 * question without an answer ends its branch, a limit that is reached the search: what was found until then stands.
 */
export async function lookupSpfSuites(
  ask: CachingResolver,
  domain: string,
  record: string,
): Promise<readonly SuiteIndicator[]> {
  const found: SuiteIndicator[] = []
  const seen = new Set([domain])
  let lookupsLeft = SPF_LOOKUPS_MAX
  let voidsLeft = VOID_LOOKUPS_MAX
  for (let level = [record]; level.length > 0; ) {
    const lookups = level.flatMap(parseSpfLookups).slice(0, lookupsLeft)
    lookupsLeft -= lookups.length
    const names = lookups.flatMap(({ domain: name }) => name ?? []).filter(name => !seen.has(name))
    for (const name of names) seen.add(name)
    found.push(...new Set(names).values().flatMap(spfIndicators))
    const further = [...new Set(names)].filter(name => QUERYABLE_NAME.test(name) && providerOfSpfDomain(name) === null)
    const answers = await Promise.all(further.map(name => ask({ name, type: "TXT" })))
    level = []
    for (const answer of answers) {
      if (!answer.known) continue
      if (answer.value.outcome !== "records" && voidsLeft-- === 0) return found
      level.push(...[selectSpfRecord(txtValues(answer.value))].filter(text => text !== null))
    }
  }
  return found
}

function spfIndicators(domain: string): readonly SuiteIndicator[] {
  const operator = providerOfSpfDomain(domain)?.operator ?? null
  return operator === "suite_a" || operator === "suite_b" ? [{ operator, entry: `spf:${domain}` }] : []
}
