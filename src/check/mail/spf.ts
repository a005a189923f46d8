import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { type CachingResolver, trimSpace, txtValues } from "../dns/dns-types.ts"
import { DOMAIN_NAME_CHARS_MAX } from "../dns/domain-name.ts"
import { type MailOperator, type MailProvider, providerOfSpfDomain } from "./mail-providers.ts"
import type { SuiteIndicator } from "./suite-indicators.ts"

/** How many characters of an SPF record are read. Real records have a few hundred (RFC 7208 §3.4). */
export const SPF_CHARS_MAX = 2048

/**
 * The SPF record among a domain's TXT records (RFC 7208 §4.5): the one that is `v=spf1`, or begins with it and white space, which is
 * SP, and HTAB too (`DECISIONS 111`). Null: there is none or more than one, or it has other characters than these and printable ASCII
 * (§3.1). A record longer than `SPF_CHARS_MAX` is cut between two terms.
 */
export function selectSpfRecord(texts: readonly string[]): string | null {
  const records = texts.filter(text => /^v=spf1(?:[ \t]|$)/i.test(text))
  const [record] = records
  if (record === undefined || records.length > 1 || !/^[\t -~]*$/.test(record)) return null
  if (record.length <= SPF_CHARS_MAX) return record
  const cut = Math.max(record.lastIndexOf(" ", SPF_CHARS_MAX), record.lastIndexOf("\t", SPF_CHARS_MAX))
  return trimSpace(record.slice(0, cut))
}

const LOOKUP_TERM = /^[+?~-]?(?:include:(?<include>.+)|(?:a|mx|ptr)(?:[:/].+)?|exists:.+)$/i
const ALL_TERM = /^[+?~-]?all$/i
const REDIRECT_TERM = /^redirect=(.+)$/i

/** A domain-spec (RFC 7208 §7.1) without characters that no host name has: names, and macros such as `%{d2}`. */
const SPF_DOMAIN = /^(?:[a-z0-9_.-]|%\{[slodiphcrtv]\d{0,3}r?[.\-+,/_=]*\}|%[%_-])+$/

/**
 * A term of an SPF record that costs a DNS lookup (RFC 7208 §4.6.4). `domain` is the target of `include` or `redirect` in lower
 * case, without a trailing dot; null: the term is of another kind, or its domain is malformed.
 */
type SpfLookupTerm = { readonly domain: string | null }

/**
 * The terms that cost a DNS lookup, in order, with `redirect` last. `redirect` counts only without `all` (RFC 7208 §6.1).
 * Malformed terms are skipped, though by §4.6 they would invalidate the record.
 */
export function parseSpfLookups(record: string): readonly SpfLookupTerm[] {
  const lookups: SpfLookupTerm[] = []
  const redirects: string[] = []
  let hasAll = false
  for (const term of record.split(/[ \t]/).slice(1)) {
    const lookup = LOOKUP_TERM.exec(term)
    if (lookup !== null) lookups.push({ domain: parseSpfDomain(lookup.groups?.["include"]) })
    else if (ALL_TERM.test(term)) hasAll = true
    else redirects.push(...(REDIRECT_TERM.exec(term)?.slice(1) ?? []))
  }
  // Two redirects are an error (§6): none of them counts.
  if (redirects.length === 1 && !hasAll) lookups.push({ domain: parseSpfDomain(redirects[0]) })
  return lookups
}

function parseSpfDomain(spec: string | undefined): string | null {
  if (spec === undefined || spec.length > DOMAIN_NAME_CHARS_MAX + 1) return null
  const domain = spec.toLowerCase().replace(/\.$/, "")
  return domain.length <= DOMAIN_NAME_CHARS_MAX && SPF_DOMAIN.test(domain) ? domain : null
}

/** How many terms that cost a lookup are read, in all records together (RFC 7208 §4.6.4). */
const SPF_LOOKUPS_MAX = 10

/** How many lookups may find no TXT record (RFC 7208 §4.6.4). */
const VOID_LOOKUPS_MAX = 2

/** A record as its suites are looked for: how many lookups it costs, and the names to which they lead, each once. */
type ReadRecord = { readonly lookupCount: number; readonly names: readonly LookupName[] }

/** A name and its provider; null: it is not known. */
type LookupName = { readonly name: string; readonly provider: MailProvider | null }

/** The customers of one vendor publish the same record. So many are kept at least, none longer than `RECENT_RECORD_CHARS_MAX`. */
const RECENT_RECORDS_MIN = 1_000
const RECENT_RECORD_CHARS_MAX = 256
const recentRecords = new TwoGenerationCache<string, ReadRecord>(RECENT_RECORDS_MIN)

/** Reads a record, at most `lookupsMax` of its lookups. */
function readRecord(record: string, lookupsMax: number): ReadRecord {
  const recent = recentRecords.get(record)
  if (recent !== undefined && recent.lookupCount <= lookupsMax) return recent
  const lookups = parseSpfLookups(record).slice(0, lookupsMax)
  const names = [...new Set(lookups.flatMap(({ domain }) => domain ?? []))].map(name => ({
    name,
    provider: providerOfSpfDomain(name),
  }))
  const read = { lookupCount: lookups.length, names }
  if (lookupsMax === SPF_LOOKUPS_MAX && record.length <= RECENT_RECORD_CHARS_MAX) recentRecords.set(record, read)
  return read
}

const QUERYABLE_NAME = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/

/**
 * The suites that a domain's SPF record names, directly or through `include` and `redirect`, whose records are queried level by
 * level. The domain of a known provider is not queried, since it is an indicator itself, and neither is a domain with macros.
 * A failed query ends its branch, and a limit ends the search; the indicators up to then are returned. No promise: nothing is queried.
 */
export function lookupSpfSuites(
  resolver: CachingResolver,
  domain: string,
  record: string,
): readonly SuiteIndicator[] | Promise<readonly SuiteIndicator[]> {
  const search = new SuiteSearch(domain)
  const unknownNames = search.read(record)
  return unknownNames.length === 0 ? search.indicators : searchLinked(resolver, search, unknownNames)
}

async function searchLinked(
  resolver: CachingResolver,
  search: SuiteSearch,
  names: readonly string[],
): Promise<readonly SuiteIndicator[]> {
  for (let unknownNames = names; unknownNames.length > 0; ) {
    const answers = await Promise.all(unknownNames.map(name => resolver({ name, type: "TXT" })))
    const level: string[] = []
    for (const answer of answers) {
      if (!answer.known) continue
      if (answer.value.outcome !== "records" && search.countVoid() > VOID_LOOKUPS_MAX) return search.indicators
      level.push(...[selectSpfRecord(txtValues(answer.value))].filter(text => text !== null))
    }
    unknownNames = level.flatMap(each => search.read(each))
  }
  return search.indicators
}

/** A search through the records to which a domain's SPF record leads, and what it has found. */
class SuiteSearch {
  readonly indicators: SuiteIndicator[] = []
  /** The domain and names of at most `SPF_LOOKUPS_MAX` terms. */
  readonly #visited: string[]
  #lookupsLeft = SPF_LOOKUPS_MAX
  #voidsCount = 0

  constructor(domain: string) {
    this.#visited = [domain]
  }

  /** Reads a record: finds the suites that it names, and gives the names whose records are not known. */
  read(record: string): readonly string[] {
    const { lookupCount, names } = readRecord(record, this.#lookupsLeft)
    this.#lookupsLeft -= lookupCount
    const unknownNames: string[] = []
    for (const { name, provider } of names) {
      if (this.#visited.includes(name)) continue
      this.#visited.push(name)
      if (isOfSuite(provider)) this.indicators.push({ operator: provider.operator, entry: `spf:${name}` })
      else if (provider === null && QUERYABLE_NAME.test(name)) unknownNames.push(name)
    }
    return unknownNames
  }

  /** Counts a lookup that found no record, and gives how many there were. */
  countVoid(): number {
    this.#voidsCount++
    return this.#voidsCount
  }
}

const isOfSuite = (provider: MailProvider | null): provider is MailProvider & { readonly operator: MailOperator } =>
  provider?.operator === "suite_a" || provider?.operator === "suite_b"
