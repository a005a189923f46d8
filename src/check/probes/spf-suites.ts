import type { Ask } from "../dns/question.ts"
import { textsIn } from "./answer-texts.ts"
import { spfProviderOf } from "./providers.ts"
import { spfLookups, spfRecord } from "./spf.ts"
import type { SuiteEntry } from "./suite-entries.ts"

/** How many terms that cost a question are read, of all records together (RFC 7208 §4.6.4). */
const LOOKUPS_MAX = 10

/** How many names without a TXT record may be met (RFC 7208 §4.6.4). */
const VOIDS_MAX = 2

const ASKABLE = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/

/**
 * The suites that a domain's SPF record names, itself or through `include` and `redirect`, whose records are asked for
 * level by level. A provider's own domain is what is looked for and is not asked for; neither is one with macros. A
 * question without an answer ends its branch, a limit that is reached the search: what was found until then stands.
 */
export async function suitesInSpf(ask: Ask, domain: string, record: string): Promise<readonly SuiteEntry[]> {
  const found: SuiteEntry[] = []
  const seen = new Set([domain])
  let lookupsLeft = LOOKUPS_MAX
  let voidsLeft = VOIDS_MAX
  for (let level = [record]; level.length > 0; ) {
    const lookups = level.flatMap(spfLookups).slice(0, lookupsLeft)
    lookupsLeft -= lookups.length
    const names = lookups.flatMap(({ domain: name }) => name ?? []).filter(name => !seen.has(name))
    for (const name of names) seen.add(name)
    found.push(...new Set(names).values().flatMap(entriesOf))
    const further = [...new Set(names)].filter(name => ASKABLE.test(name) && spfProviderOf(name) === null)
    const answers = await Promise.all(further.map(name => ask({ name, type: "TXT" })))
    level = []
    for (const answer of answers) {
      if (!answer.known) continue
      if (answer.value.outcome !== "records" && voidsLeft-- === 0) return found
      level.push(...[spfRecord(textsIn(answer.value))].filter(text => text !== null))
    }
  }
  return found
}

function entriesOf(domain: string): readonly SuiteEntry[] {
  const shows = spfProviderOf(domain)?.shows ?? null
  return shows === "suite_a" || shows === "suite_b" ? [{ shows, entry: `spf:${domain}` }] : []
}
