import { NAME_LENGTH_MAX } from "./host-name.ts"

/** How many characters of an SPF record are read. Real ones have a few hundred (RFC 7208 §3.4). */
export const SPF_LENGTH_MAX = 2048

/**
 * The SPF record among a domain's TXT records (RFC 7208 §4.5): the one that is `v=spf1`, alone or before a space. Null:
 * there is none, more than one, or it holds more than printable ASCII (§3.1). What goes beyond `SPF_LENGTH_MAX` is cut
 * between two terms.
 */
export function spfRecord(texts: readonly string[]): string | null {
  const records = texts.filter(text => /^v=spf1(?: |$)/i.test(text))
  const [record] = records
  if (record === undefined || records.length > 1 || !/^[ -~]*$/.test(record)) return null
  if (record.length <= SPF_LENGTH_MAX) return record
  return record.slice(0, record.lastIndexOf(" ", SPF_LENGTH_MAX)).trimEnd()
}

const LOOKUP = /^[+?~-]?(?:include:(?<include>.+)|(?:a|mx|ptr)(?:[:/].+)?|exists:.+)$/i
const ALL = /^[+?~-]?all$/i
const REDIRECT = /^redirect=(.+)$/i

/** A domain as RFC 7208 §7.1 has it, but for literals that no host name has: names, and macros such as `%{d2}`. */
const DOMAIN = /^(?:[a-z0-9_.-]|%\{[slodiphcrtv]\d{0,3}r?[.\-+,/_=]*\}|%[%_-])+$/

/**
 * A term of an SPF record that costs a DNS question (RFC 7208 §4.6.4): the domain whose record `include` and `redirect`
 * go on with, lower case, without a trailing dot; null: a term of another kind, or one whose domain cannot be read.
 */
export type SpfLookup = { readonly domain: string | null }

/**
 * The terms that cost a DNS question, in their order, `redirect` last; it counts only where no `all` stands (RFC 7208
 * §6.1). Terms that do not parse are passed over, though the record as a whole would fail by them (§4.6).
 */
export function spfLookups(record: string): readonly SpfLookup[] {
  const terms = record.split(" ").slice(1)
  const lookups = terms.flatMap(term => {
    const match = LOOKUP.exec(term)
    return match === null ? [] : [{ domain: domainIn(match.groups?.["include"]) }]
  })
  const redirects = terms.flatMap(term => REDIRECT.exec(term)?.[1] ?? [])
  // Two of them are a fault (§6), and then neither can be meant.
  if (redirects.length !== 1 || terms.some(term => ALL.test(term))) return lookups
  return [...lookups, { domain: domainIn(redirects[0]) }]
}

function domainIn(written: string | undefined): string | null {
  if (written === undefined || written.length > NAME_LENGTH_MAX + 1) return null
  const domain = written.toLowerCase().replace(/\.$/, "")
  return domain.length <= NAME_LENGTH_MAX && DOMAIN.test(domain) ? domain : null
}
