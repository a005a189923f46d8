import type { Clock } from "../../base/outside-world.ts"
import { compareText } from "../../base/text.ts"
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

type AnyFact = { readonly checkedAtMs: number } & Readonly<Record<string, string | number | null>>

/** The columns of each kind of fact by its members; the last one says when it was checked. */
const KINDS = {
  ages: { registeredAtMs: "registered_at_ms", checkedAtMs: "age_checked_at_ms" },
  homepages: { state: "homepage", evidence: "homepage_evidence", checkedAtMs: "homepage_checked_at_ms" },
} as const

type Kind = keyof typeof KINDS

/** Opens the store of facts. Only calls to its functions write and prune. */
export function createDomainFacts(
  store: Store,
  clock: Clock,
  bounds: DomainFactBounds = DOMAIN_FACT_BOUNDS,
): DomainFacts {
  const unwritten = { ages: new Map<string, AgeFact>(), homepages: new Map<string, HomepageFact>() }
  const flush = async (): Promise<void> => {
    while (unwritten.ages.size + unwritten.homepages.size > 0) {
      const ages = [...unwritten.ages].slice(0, bounds.writtenMax)
      const homepages = [...unwritten.homepages].slice(0, bounds.writtenMax)
      await store.transaction(async inner => {
        const rows = [
          ...ages.map(row => ["ages", ...row] as const),
          ...homepages.map(row => ["homepages", ...row] as const),
        ]
        // All processes write in one order, so that on PostgreSQL two that write the same rows cannot deadlock.
        for (const [kind, domain, fact] of rows.sort(([, one], [, other]) => compareText(one, other)))
          await writeFact(inner, kind, domain, fact)
      })
      dropWritten(unwritten.ages, ages)
      dropWritten(unwritten.homepages, homepages)
    }
  }
  const read = <T>(kind: Kind, domain: string) => readFact<T>(store, kind, domain, clock() + CLOCK_AHEAD_MS_MAX)
  return {
    ages: {
      read: domain => read<AgeFact>("ages", domain),
      write: createBoundedWrite(unwritten.ages, bounds.unwrittenMax),
    },
    homepages: {
      read: async domain => {
        const fact = await read<HomepageFact>("homepages", domain)
        // A newer version may have written a state that this one does not know.
        return fact !== null && HOMEPAGE_STATES.includes(fact.state) ? fact : null
      },
      write: createBoundedWrite(unwritten.homepages, bounds.unwrittenMax),
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

async function readFact<T>(store: Store, kind: Kind, domain: string, believedMs: number): Promise<T | null> {
  const columns = Object.entries(KINDS[kind]).map(([member, column]) => `${column} AS "${member}"`)
  return await store.one<T>(
    `SELECT ${columns.join(", ")} FROM domain_facts WHERE domain = $1 AND ${KINDS[kind].checkedAtMs} <= $2`,
    [domain, believedMs],
  )
}

/** A later fact of another process is not overwritten. */
async function writeFact(store: Store, kind: Kind, domain: string, fact: AnyFact): Promise<void> {
  const members = Object.entries(KINDS[kind])
  const columns = members.map(([, column]) => column)
  const places = columns.map((_, index) => `$${index + 2}`)
  const checkedAt = KINDS[kind].checkedAtMs
  await store.run(
    `INSERT INTO domain_facts (domain, ${columns.join(", ")}, found_at_ms) VALUES ($1, ${places.join(", ")}, ${places.at(-1)})
     ON CONFLICT (domain) DO UPDATE
     SET ${columns.map(column => `${column} = excluded.${column}`).join(", ")}, ${FOUND_AT}
     WHERE domain_facts.${checkedAt} IS NULL OR domain_facts.${checkedAt} <= excluded.${checkedAt}
       OR domain_facts.${checkedAt} > excluded.${checkedAt} + ${CLOCK_AHEAD_MS_MAX}`,
    [domain, ...members.map(([member]) => fact[member] ?? null)],
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
