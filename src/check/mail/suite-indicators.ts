import HIDDEN_SUITES from "../../../data/mail/hidden-suites.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import type { CachingResolver, DnsRecord } from "../dns/dns-types.ts"
import { createNameMatcher, isDisplayableName, type NameMatcher, prefixedName } from "../dns/domain-name.ts"
import type { DetectedSuites } from "../verdict/evidence.ts"
import type { MailOperator, MailProvider } from "./mail-providers.ts"

/** A record that shows a suite behind mail hosts of another provider. */
type SuiteClue = {
  /** The kinds or keys of those providers. */
  readonly behindProviders: readonly string[]
  readonly operator: MailOperator
  readonly kind: "dkim" | "autodiscover"
  readonly recordType: "TXT" | "CNAME" | "SRV"
  /** The labels before the domain in the name of the query. */
  readonly prefix: string
  /** Matches the target of a CNAME or SRV record. */
  readonly matchTarget: NameMatcher<object>
}

const CLUE_COLUMNS = ["behind", "shows", "kind", "type", "name", "target"] as const

/** Parses a table of clues. Throws `InvariantError` if a row is malformed. */
export function parseSuiteClues(text: string): readonly SuiteClue[] {
  return parseTable(text, CLUE_COLUMNS).map(({ behind, shows, kind, type, name, target }) => {
    assert((type === "TXT") === (target === ""), `${name} names a target where its type has one`)
    return {
      behindProviders: splitWords(behind),
      operator: requireOneOf(["suite_a", "suite_b", "other_suite"], shows),
      kind: requireOneOf(["dkim", "autodiscover"], kind),
      recordType: requireOneOf(["TXT", "CNAME", "SRV"], type),
      prefix: name,
      matchTarget: createNameMatcher(splitWords(target).map(pattern => [pattern, {}] as const)),
    }
  })
}

let suiteClues: readonly SuiteClue[] | null = null

/** No clue is queried. */
export const NO_INDICATORS: readonly SuiteIndicator[] = []

/** Indicators, or a promise of them if something is queried. */
export type Indicators = readonly SuiteIndicator[] | Promise<readonly SuiteIndicator[]>

/**
 * The suites that other records of the domain show behind `provider`. The clues are queried at the same time. Empty: there are
 * none, or the provider hides no suite. A failed query shows nothing. `operator`: only those of one; absent: all.
 */
export function lookupHiddenSuites(
  resolver: CachingResolver,
  domain: string,
  provider: MailProvider,
  operator: MailOperator | null = null,
): Indicators {
  const isWanted = (clue: SuiteClue) =>
    (operator === null || clue.operator === operator) &&
    (clue.behindProviders.includes(provider.kind) || clue.behindProviders.includes(provider.key))
  return lookupClues(resolver, domain, isWanted)
}

/**
 * The DKIM keys that the domain publishes for an office suite. They prove what an MX record alone does not: that the domain is
 * the suite's customer.
 */
export const lookupSuiteKeys = (resolver: CachingResolver, domain: string, suite: MailOperator): Indicators =>
  lookupClues(resolver, domain, ({ operator, kind }) => operator === suite && kind === "dkim")

function lookupClues(resolver: CachingResolver, domain: string, isWanted: (clue: SuiteClue) => boolean): Indicators {
  suiteClues ??= parseSuiteClues(HIDDEN_SUITES)
  const clues = suiteClues.filter(isWanted)
  if (clues.length === 0) return NO_INDICATORS
  return Promise.all(clues.map(clue => lookupClue(resolver, domain, clue))).then(indicators => indicators.flat())
}

async function lookupClue(
  resolver: CachingResolver,
  domain: string,
  clue: SuiteClue,
): Promise<readonly SuiteIndicator[]> {
  const name = prefixedName(clue.prefix, domain)
  if (name === null) return []
  const answer = await resolver({ name, type: clue.recordType })
  if (!answer.known) return []
  const value = answer.value.records.map(record => clueValue(record, name, clue)).find(text => text !== null)
  return value === undefined ? [] : [{ operator: clue.operator, entry: `${clue.kind}:${value}` }]
}

/** The name of a DKIM key, or a target of the suite; null: the record shows nothing. */
function clueValue(record: DnsRecord, name: string, { matchTarget }: SuiteClue): string | null {
  if (record.type === "TXT") return DKIM_KEY.test(record.text) ? name : null
  if (record.type !== "CNAME" && record.type !== "SRV") return null
  return isDisplayableName(record.target) && matchTarget(record.target) !== null ? record.target : null
}

/** A key that is not revoked (RFC 6376 §3.6.1). A TXT record of a wildcard does not match. */
const DKIM_KEY = /(?:^|;)[ \t]*p[ \t]*=[ \t]*[A-Za-z0-9+/]/

/** One piece of evidence, as `kind:value`, and the operator that it shows. */
export type SuiteIndicator = { readonly operator: MailOperator; readonly entry: string }

/** The distinct entries of both suites, in order. `otherSuite` is the key of another suite; null: there is none. */
export function detectSuites(indicators: readonly SuiteIndicator[], otherSuite: string | null): DetectedSuites {
  if (indicators.length === 0) return { suiteA: [], suiteB: [], otherSuite }
  const entriesOf = (suite: MailOperator): readonly string[] => {
    const entries: string[] = []
    for (const { operator, entry } of indicators)
      if (operator === suite && !entries.includes(entry)) entries.push(entry)
    return entries
  }
  return { suiteA: entriesOf("suite_a"), suiteB: entriesOf("suite_b"), otherSuite }
}
