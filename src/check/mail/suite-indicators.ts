import HIDDEN_SUITES from "../../../data/mail/hidden-suites.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import type { CachingResolver, DnsRecord } from "../dns/dns-types.ts"
import { createNameMatcher, isDisplayableName, type NameMatcher, prefixedName } from "../dns/domain-name.ts"
import type { DetectedSuites } from "../verdict/evidence.ts"
import type { MailOperator, MailProvider } from "./mail-providers.ts"

/** A record by which a suite shows that the MX does not tell of. */
type SuiteClue = {
  /** The kind or the key of the provider behind which it is looked for. */
  readonly behindProvider: string
  readonly operator: MailOperator
  readonly kind: "dkim" | "autodiscover"
  readonly recordType: "TXT" | "CNAME" | "SRV"
  /** What stands before the domain in the name that is asked. */
  readonly prefix: string
  /** Matches what a CNAME or SRV record must point to. */
  readonly matchTarget: NameMatcher<object>
}

const CLUE_COLUMNS = ["behind", "shows", "kind", "type", "name", "target"] as const

/** Reads a file of clues. `Broken` when a row is malformed. */
export function parseSuiteClues(text: string): readonly SuiteClue[] {
  return parseTable(text, CLUE_COLUMNS).map(({ behind, shows, kind, type, name, target }) => {
    assert((type === "TXT") === (target === ""), `${name} names a target where its type has one`)
    return {
      behindProvider: behind,
      operator: requireOneOf(["suite_a", "suite_b", "other_suite"], shows),
      kind: requireOneOf(["dkim", "autodiscover"], kind),
      recordType: requireOneOf(["TXT", "CNAME", "SRV"], type),
      prefix: name,
      matchTarget: createNameMatcher(splitWords(target).map(pattern => [pattern, {}] as const)),
    }
  })
}

let suiteClues: readonly SuiteClue[] | null = null

/**
 * The suites that a domain's other records show behind `provider`, asked for side by side; empty where that provider
 * hides none. A question without an answer shows nothing.
 */
export async function lookupHiddenSuites(
  ask: CachingResolver,
  domain: string,
  provider: MailProvider,
): Promise<readonly SuiteIndicator[]> {
  suiteClues ??= parseSuiteClues(HIDDEN_SUITES)
  const clues = suiteClues.filter(
    ({ behindProvider }) => behindProvider === provider.kind || behindProvider === provider.key,
  )
  const found = await Promise.all(clues.map(clue => lookupClue(ask, domain, clue)))
  return found.flat()
}

async function lookupClue(ask: CachingResolver, domain: string, clue: SuiteClue): Promise<readonly SuiteIndicator[]> {
  const name = prefixedName(clue.prefix, domain)
  if (name === null) return []
  const answer = await ask({ name, type: clue.recordType })
  if (!answer.known) return []
  const value = answer.value.records.map(record => clueValue(record, name, clue)).find(text => text !== null)
  return value === undefined ? [] : [{ operator: clue.operator, entry: `${clue.kind}:${value}` }]
}

/** What the record shows: the name of a DKIM key, or the target that is the suite's; null: nothing. */
function clueValue(record: DnsRecord, name: string, { matchTarget }: SuiteClue): string | null {
  if (record.type === "TXT") return DKIM_KEY.test(record.text) ? name : null
  if (record.type !== "CNAME" && record.type !== "SRV") return null
  return isDisplayableName(record.target) && matchTarget(record.target) !== null ? record.target : null
}

/** A key that is not revoked (RFC 6376 §3.6.1), so that a wildcard's TXT record is none. */
const DKIM_KEY = /(?:^|;)[ \t]*p[ \t]*=[ \t]*[A-Za-z0-9+/]/

/** One piece of evidence, as `kind:value`, and what it shows. */
export type SuiteIndicator = { readonly operator: MailOperator; readonly entry: string }

/** What the entries show of both suites, in their order and each once; `other` is the key of another suite, if any. */
export function detectSuites(entries: readonly SuiteIndicator[], otherSuite: string | null): DetectedSuites {
  const of = (suite: MailOperator): readonly string[] => [
    ...new Set(entries.filter(({ operator }) => operator === suite).map(({ entry }) => entry)),
  ]
  return { suiteA: of("suite_a"), suiteB: of("suite_b"), otherSuite }
}
