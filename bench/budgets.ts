import { CACHE_BOUNDS } from "../src/check/dns/caching.ts"

/** A bound that a figure must keep. */
export type Budget = { readonly says: string } & ({ readonly atMost: number } | { readonly atLeast: number })

/** What we promise not to cross. A figure names its row; units are those of the figure. */
export const BUDGETS = {
  lists_hit: {
    says: "A pack finds a name just cut out of a request in at most this many times a Set's time.",
    atMost: 1.3,
  },
  lists_miss: {
    says: "A pack misses a name just cut out of a request in at most this many times a Set's time.",
    atMost: 1.3,
  },
  lists_memory: { says: "A mapped pack takes at most this share of the private memory that a Set takes.", atMost: 0.1 },
  lists_open: { says: "A pack opens within this many milliseconds.", atMost: 5 },
  check: { says: "One check, from text to JSON, takes at most this many microseconds.", atMost: 10 },
  http: {
    says: "An authenticated, metered POST /v1/check answers at least this share of what a bare server answers.",
    atLeast: 0.75,
  },
  http_unlimited: {
    says: "The same with the key of an account without limits answers at least this share.",
    atLeast: 0.7,
  },
  http_p99: { says: "Its 99th percentile is at most this many times that of the bare server.", atMost: 2 },
  batch_floor: {
    says: "Batches answer at least this share of the items that a bare server writes from ready objects.",
    atLeast: 0.5,
  },
  batch_single: { says: "Batches answer at least this many times the items of single checks.", atLeast: 8 },
  classify_lines: { says: "One core classifies at least this many lines of text a second, offline.", atLeast: 120_000 },
  classify_memory: {
    says: "That takes at most this many MB of resident memory, however many lines there are.",
    atMost: 200,
  },
  workers_two: { says: "Two workers answer at least this many times what one answers.", atLeast: 1.6 },
  soak_memory: {
    says: "After five million mixed requests a server holds at most this many times the memory that it held after the first.",
    atMost: 1.1,
  },
  soak_descriptors: { says: "It has at most this many more descriptors open.", atMost: 0 },
  dns_cold: { says: "64 cold checks at once get this share of what the server's delay allows.", atLeast: 0.8 },
  dns_warm: { says: "Warm checks get this share of the throughput of checks over lists alone.", atLeast: 0.9 },
  dns_first_dead: {
    says: "The first check while every server is dead takes at most this many milliseconds.",
    atMost: 3000,
  },
  dns_dead: {
    says: "The next ones take at most this many milliseconds more than lists alone, at the 99th percentile.",
    atMost: 3,
  },
  dns_recovery: { says: "The servers' return is noticed within this many milliseconds.", atMost: 10_000 },
  dns_cache_entries: { says: "A cache of answers holds at most this many.", atMost: CACHE_BOUNDS.entriesMax },
  dns_cache_memory: { says: "A cache of answers takes at most this many times the memory that is set.", atMost: 1.25 },
  customers_http: {
    says: "An authenticated, limited, metered POST /v1/check gets this share of the throughput without all of that.",
    atLeast: 0.9,
  },
  customers_start: {
    says: "With 100 000 accounts and 300 000 keys a start takes at most this many milliseconds.",
    atMost: 1000,
  },
  customers_lookup: { says: "Of 300 000 keys, one is looked up cold within this many milliseconds.", atMost: 1 },
  start: { says: "A start takes at most this many milliseconds to the first healthy answer.", atMost: 200 },
} as const satisfies Record<string, Budget>
export type BudgetName = keyof typeof BUDGETS

/** Whether `value` keeps the budget: on the bound is within it. No number is never within. */
export function isHeld(name: BudgetName, value: number): boolean {
  const budget: Budget = BUDGETS[name]
  return "atMost" in budget ? value <= budget.atMost : value >= budget.atLeast
}
