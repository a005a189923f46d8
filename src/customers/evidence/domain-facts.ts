import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { Store } from "../store/core/store.ts"

/** When a domain was registered, by its registry; null: the registry does not tell. */
export type AgeFact = { readonly registeredAtMs: number | null; readonly checkedAtMs: number }

/** What a domain's homepage was like. */
export type HomepageFact = {
  readonly state: HomepageState
  readonly evidence: string | null
  readonly checkedAtMs: number
}

const HOMEPAGE_STATES = ["found", "parked", "none"] as const

/** How a homepage can be. */
export type HomepageState = (typeof HOMEPAGE_STATES)[number]

/**
 * One kind of fact, by domain: A-labels, lower case. To write only puts it into memory; `flush` stores it. To read rejects
 * when the store fails.
 */
export type StoredFacts<T> = {
  /** Null: nothing is stored. */
  readonly read: (domain: string) => Promise<T | null>
  readonly write: (domain: string, fact: T) => void
}

/** What is known of domains, by all processes that share the store. */
export type DomainFacts = {
  readonly ages: StoredFacts<AgeFact>
  readonly homepages: StoredFacts<HomepageFact>
  /** Stores what was written since. Rejects when the store fails, and then keeps it for the next time. */
  readonly flush: () => Promise<void>
  /** Deletes some of the rows that are not kept, and gives their count; zero: none is left. Rejects when the store fails. */
  readonly prune: () => Promise<number>
}

/** How much is kept. */
export type DomainFactBounds = {
  /** Facts that wait to be stored; the ones that came first go where there are more. */
  readonly unwrittenMax: number
  /** How many are stored in one transaction, which keeps everything else waiting for a few milliseconds. */
  readonly writtenMax: number
  readonly rowsMax: number
  /** How long a row is kept after anything in it was found. */
  readonly retentionMs: number
  /** How many rows a pruning deletes at most. */
  readonly prunedMax: number
}

/** The bounds in use: a row has about 100 bytes. */
export const DOMAIN_FACT_BOUNDS: DomainFactBounds = {
  unwrittenMax: 10_000,
  writtenMax: 500,
  rowsMax: 500_000,
  retentionMs: 30 * DAY_MS,
  prunedMax: 1000,
}

/** What was found later than this from now was found by a clock that was wrong: it is not read, and gives way to what is written. */
const CLOCK_AHEAD_MS_MAX = DAY_MS

/** Opens what is known of domains. Nothing is stored or pruned but by its functions. */
export function createDomainFacts(
  store: Store,
  clock: Clock,
  bounds: DomainFactBounds = DOMAIN_FACT_BOUNDS,
): DomainFacts {
  const ages = new Map<string, AgeFact>()
  const homepages = new Map<string, HomepageFact>()
  const flush = async (): Promise<void> => {
    while (ages.size + homepages.size > 0) {
      const someAges = [...ages].slice(0, bounds.writtenMax)
      const someHomepages = [...homepages].slice(0, bounds.writtenMax)
      await store.transaction(async inner => {
        // One order for all processes: in an engine that locks rows, two that write the same ones never wait for each other.
        const [agesBy, homepagesBy] = [new Map(someAges), new Map(someHomepages)]
        for (const domain of [...new Set([...agesBy.keys(), ...homepagesBy.keys()])].sort()) {
          const [age, homepage] = [agesBy.get(domain), homepagesBy.get(domain)]
          if (age !== undefined) await writeAge(inner, domain, age)
          if (homepage !== undefined) await writeHomepage(inner, domain, homepage)
        }
      })
      dropWritten(ages, someAges)
      dropWritten(homepages, someHomepages)
    }
  }
  const believedMs = (): number => clock() + CLOCK_AHEAD_MS_MAX
  return {
    ages: {
      read: domain => readAge(store, domain, believedMs()),
      write: createBoundedWrite(ages, bounds.unwrittenMax),
    },
    homepages: {
      read: domain => readHomepage(store, domain, believedMs()),
      write: createBoundedWrite(homepages, bounds.unwrittenMax),
    },
    flush,
    prune: () => pruneFacts(store, clock() - bounds.retentionMs, bounds),
  }
}

/** Puts a fact where it waits to be stored, in place of an earlier one of its domain. */
function createBoundedWrite<T>(unwritten: Map<string, T>, unwrittenMax: number): (domain: string, fact: T) => void {
  return (domain, fact) => {
    unwritten.delete(domain)
    const [first] = unwritten.keys()
    if (unwritten.size >= unwrittenMax && first !== undefined) unwritten.delete(first)
    unwritten.set(domain, fact)
  }
}

/** Drops what was stored, but for what was written anew meanwhile. */
function dropWritten<T>(unwritten: Map<string, T>, stored: readonly (readonly [string, T])[]): void {
  for (const [domain, fact] of stored) if (unwritten.get(domain) === fact) unwritten.delete(domain)
}

type AgeRow = { readonly registeredAtMs: number | null; readonly checkedAtMs: number }

async function readAge(store: Store, domain: string, believedMs: number): Promise<AgeFact | null> {
  return await store.one<AgeRow>(
    `SELECT registered_at_ms AS "registeredAtMs", age_checked_at_ms AS "checkedAtMs" FROM domain_facts
     WHERE domain = $1 AND age_checked_at_ms <= $2`,
    [domain, believedMs],
  )
}

type HomepageRow = { readonly state: string | null; readonly evidence: string | null; readonly checkedAtMs: number }

async function readHomepage(store: Store, domain: string, believedMs: number): Promise<HomepageFact | null> {
  const row = await store.one<HomepageRow>(
    `SELECT homepage AS "state", homepage_evidence AS "evidence", homepage_checked_at_ms AS "checkedAtMs"
     FROM domain_facts WHERE domain = $1 AND homepage_checked_at_ms <= $2`,
    [domain, believedMs],
  )
  // Another version may have written a state that this one does not know.
  const state = HOMEPAGE_STATES.find(each => each === row?.state)
  return row === null || state === undefined ? null : { state, evidence: row.evidence, checkedAtMs: row.checkedAtMs }
}

/** What another process found later stays. */
async function writeAge(store: Store, domain: string, { registeredAtMs, checkedAtMs }: AgeFact): Promise<void> {
  await store.run(
    `INSERT INTO domain_facts (domain, registered_at_ms, age_checked_at_ms, found_at_ms) VALUES ($1, $2, $3, $3)
     ON CONFLICT (domain) DO UPDATE
     SET registered_at_ms = excluded.registered_at_ms, age_checked_at_ms = excluded.age_checked_at_ms, ${FOUND_AT}
     WHERE domain_facts.age_checked_at_ms IS NULL OR domain_facts.age_checked_at_ms <= excluded.age_checked_at_ms
       OR domain_facts.age_checked_at_ms > excluded.age_checked_at_ms + ${CLOCK_AHEAD_MS_MAX}`,
    [domain, registeredAtMs, checkedAtMs],
  )
}

/** What another process found later stays. */
async function writeHomepage(
  store: Store,
  domain: string,
  { state, evidence, checkedAtMs }: HomepageFact,
): Promise<void> {
  await store.run(
    `INSERT INTO domain_facts (domain, homepage, homepage_evidence, homepage_checked_at_ms, found_at_ms)
     VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (domain) DO UPDATE
     SET homepage = excluded.homepage, homepage_evidence = excluded.homepage_evidence,
       homepage_checked_at_ms = excluded.homepage_checked_at_ms, ${FOUND_AT}
     WHERE domain_facts.homepage_checked_at_ms IS NULL
       OR domain_facts.homepage_checked_at_ms <= excluded.homepage_checked_at_ms
       OR domain_facts.homepage_checked_at_ms > excluded.homepage_checked_at_ms + ${CLOCK_AHEAD_MS_MAX}`,
    [domain, state, evidence, checkedAtMs],
  )
}

/** The later of both that is believed, in words that SQLite and PostgreSQL share. */
const FOUND_AT = `found_at_ms = CASE WHEN domain_facts.found_at_ms > excluded.found_at_ms
       AND domain_facts.found_at_ms <= excluded.found_at_ms + ${CLOCK_AHEAD_MS_MAX}
       THEN domain_facts.found_at_ms ELSE excluded.found_at_ms END`

/** Rows go in the order in which anything in them was found: the too old ones, and those beyond the bound. */
async function pruneFacts(store: Store, fromMs: number, { rowsMax, prunedMax }: DomainFactBounds): Promise<number> {
  const beyond = await store.one<{ foundAtMs: number }>(
    `SELECT found_at_ms AS "foundAtMs" FROM domain_facts ORDER BY found_at_ms DESC LIMIT 1 OFFSET $1`,
    [rowsMax],
  )
  return await store.run(
    `DELETE FROM domain_facts WHERE domain IN (
       SELECT domain FROM domain_facts WHERE found_at_ms <= $1 ORDER BY found_at_ms LIMIT $2)`,
    [Math.max(fromMs - 1, beyond?.foundAtMs ?? 0), prunedMax],
  )
}
