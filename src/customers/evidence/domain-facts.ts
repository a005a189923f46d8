import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"

/** When the registry says that a domain was registered; null: it does not say. */
export type AgeFact = { readonly registeredAtMs: number | null; readonly checkedAtMs: number }

/** The state of a domain's homepage. */
export type HomepageFact = {
  readonly state: HomepageState
  readonly evidence: string | null
  readonly checkedAtMs: number
}

const HOMEPAGE_STATES = ["found", "parked", "none"] as const

/** The states of a homepage. */
export type HomepageState = (typeof HOMEPAGE_STATES)[number]

/**
 * Facts of one kind by domain (lower-case A-labels). `write` keeps a fact in memory until `flush` stores it. `read` rejects
 * when the store fails.
 */
export type StoredFacts<T> = {
  /** Null: nothing is stored. */
  readonly read: (domain: string) => Promise<T | null>
  readonly write: (domain: string, fact: T) => void
}

/** Stored facts about domains, shared by all processes on one store. */
export type DomainFacts = {
  readonly ages: StoredFacts<AgeFact>
  readonly homepages: StoredFacts<HomepageFact>
  /** Stores the facts written since the last flush. Rejects when the store fails, and keeps them for the next flush. */
  readonly flush: () => Promise<void>
  /** Deletes a batch of rows that have expired (`nowMs` null: none has) or are too many, and returns their count; zero: none is left. Rejects when the store fails. */
  readonly prune: (nowMs: TrustedInstant | null) => Promise<number>
}

/** Bounds of the stored facts. */
export type DomainFactBounds = {
  /** Facts waiting to be stored; beyond that the oldest are dropped. */
  readonly unwrittenMax: number
  /** Facts stored in one transaction, which blocks other writers for a few milliseconds. */
  readonly writtenMax: number
  readonly rowsMax: number
  /** How long a row is kept after its newest fact. */
  readonly retentionMs: number
  /** Rows that one pruning deletes at most. */
  readonly prunedMax: number
}

/** The bounds in use. A row takes about 100 bytes. */
export const DOMAIN_FACT_BOUNDS: DomainFactBounds = {
  unwrittenMax: 10_000,
  writtenMax: 500,
  rowsMax: 500_000,
  retentionMs: 30 * DAY_MS,
  prunedMax: 1000,
}

/** A fact dated further ahead than this comes from a wrong clock: it is ignored on reading and may be overwritten. */
const CLOCK_AHEAD_MS_MAX = DAY_MS

/** Opens the store of facts. Only calls to its functions write and prune. */
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
        // All processes write in one order, so that on PostgreSQL two that write the same rows cannot deadlock.
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
    prune: nowMs => pruneFacts(store, nowMs === null ? 0 : nowMs - bounds.retentionMs, bounds),
  }
}

/** Queues a fact for storing; it replaces an earlier one of its domain. */
function createBoundedWrite<T>(unwritten: Map<string, T>, unwrittenMax: number): (domain: string, fact: T) => void {
  return (domain, fact) => {
    unwritten.delete(domain)
    const [first] = unwritten.keys()
    if (unwritten.size >= unwrittenMax && first !== undefined) unwritten.delete(first)
    unwritten.set(domain, fact)
  }
}

/** Removes stored facts from the queue, except those replaced meanwhile. */
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
  // A newer version may have written a state that this one does not know.
  const state = HOMEPAGE_STATES.find(each => each === row?.state)
  return row === null || state === undefined ? null : { state, evidence: row.evidence, checkedAtMs: row.checkedAtMs }
}

/** A later fact of another process is not overwritten. */
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

/** A later fact of another process is not overwritten. */
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

/** The later of both instants that is not from a wrong clock, in SQL that SQLite and PostgreSQL share. */
const FOUND_AT = `found_at_ms = CASE WHEN domain_facts.found_at_ms > excluded.found_at_ms
       AND domain_facts.found_at_ms <= excluded.found_at_ms + ${CLOCK_AHEAD_MS_MAX}
       THEN domain_facts.found_at_ms ELSE excluded.found_at_ms END`

/** Deletes rows by the age of their newest fact: expired ones first, then those beyond the bound. */
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
