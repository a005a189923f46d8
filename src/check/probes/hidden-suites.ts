import HIDDEN_SUITES from "../../../data/mail/hidden-suites.txt" with { type: "text" }
import { assert } from "../../base/assert.ts"
import type { Ask, DnsRecord } from "../dns/question.ts"
import { isShowable, nameUnder } from "./host-name.ts"
import { type NamePatterns, namePatterns } from "./name-patterns.ts"
import type { Provider, Shown } from "./providers.ts"
import type { SuiteEntry } from "./suite-entries.ts"
import { oneOfWords, readTable, wordsOf } from "./text-table.ts"

/** A record by which a suite shows that the MX does not tell of. */
export type Clue = {
  /** The kind or the key of the provider behind which it is looked for. */
  readonly behind: string
  readonly shows: Shown
  readonly kind: "dkim" | "autodiscover"
  readonly type: "TXT" | "CNAME" | "SRV"
  /** What stands before the domain in the name that is asked. */
  readonly prefix: string
  /** Matches what a CNAME or SRV record must point to. */
  readonly isTarget: NamePatterns<object>
}

const COLUMNS = ["behind", "shows", "kind", "type", "name", "target"] as const

/** Reads a file of clues. `Broken` when a row is malformed. */
export function readClues(text: string): readonly Clue[] {
  return readTable(text, COLUMNS).map(({ behind, shows, kind, type, name, target }) => {
    assert((type === "TXT") === (target === ""), `${name} names a target where its type has one`)
    return {
      behind,
      shows: oneOfWords(["suite_a", "suite_b", "other_suite"], shows),
      kind: oneOfWords(["dkim", "autodiscover"], kind),
      type: oneOfWords(["TXT", "CNAME", "SRV"], type),
      prefix: name,
      isTarget: namePatterns(wordsOf(target).map(pattern => [pattern, {}] as const)),
    }
  })
}

let known: readonly Clue[] | null = null

/**
 * The suites that a domain's other records show behind `provider`, asked for side by side; empty where that provider
 * hides none. A question without an answer shows nothing.
 */
export async function suitesBehind(ask: Ask, domain: string, provider: Provider): Promise<readonly SuiteEntry[]> {
  known ??= readClues(HIDDEN_SUITES)
  const clues = known.filter(({ behind }) => behind === provider.kind || behind === provider.key)
  const found = await Promise.all(clues.map(clue => entriesFor(ask, domain, clue)))
  return found.flat()
}

async function entriesFor(ask: Ask, domain: string, clue: Clue): Promise<readonly SuiteEntry[]> {
  const name = nameUnder(clue.prefix, domain)
  if (name === null) return []
  const answer = await ask({ name, type: clue.type })
  if (!answer.known) return []
  const value = answer.value.records.map(record => valueIn(record, name, clue)).find(text => text !== null)
  return value === undefined ? [] : [{ shows: clue.shows, entry: `${clue.kind}:${value}` }]
}

/** What the record shows: the name of a DKIM key, or the target that is the suite's; null: nothing. */
function valueIn(record: DnsRecord, name: string, { isTarget }: Clue): string | null {
  if (record.type === "TXT") return DKIM_KEY.test(record.text) ? name : null
  if (record.type !== "CNAME" && record.type !== "SRV") return null
  return isShowable(record.target) && isTarget(record.target) !== null ? record.target : null
}

/** A key that is not revoked (RFC 6376 §3.6.1), so that a wildcard's TXT record is none. */
const DKIM_KEY = /(?:^|;)[ \t]*p[ \t]*=[ \t]*[A-Za-z0-9+/]/
