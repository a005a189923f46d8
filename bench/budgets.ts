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
  workers_two: {
    says: "Two workers on two cores answer at least this many times what one answers on one core, the load program on the same cores.",
    atLeast: 1.6,
  },
  nodes_cpu: {
    says: "An answer costs three nodes over one PostgreSQL at most this many times what it costs three over one SQLite file, on the same core.",
    atMost: 1.15,
  },
  nodes_engine: {
    says: "It costs a node over PostgreSQL at most this many times what it costs one over SQLite.",
    atMost: 1.1,
  },
  nodes_statements: { says: "A database is asked at most this many statements for a thousand requests.", atMost: 5 },
  soak_memory: {
    says: "In the fifth million of mixed requests a server holds at most this many times the memory that it held in the second.",
    atMost: 1.1,
  },
  soak_descriptors: { says: "It has at most this many more descriptors open.", atMost: 0 },
  overload_goodput: {
    says: "Asked for twice of what it can, a server answers at least this share of what it can.",
    atLeast: 0.9,
  },
  overload_p99: {
    says: "The 99th percentile of what it answers then is at most this many times the calm one.",
    atMost: 5,
  },
  overload_memory: { says: "Its memory at the end of that is at most this many times the early one.", atMost: 1.1 },
  overload_recovery: {
    says: "At once after, the 99th percentile is at most this many times the calm one before.",
    atMost: 2,
  },
  refresh_failed: {
    says: "While lists are refreshed at most this many requests fail or get another answer.",
    atMost: 0,
  },
  refresh_taken: { says: "A server takes at least this share of the refreshes that give other lists.", atLeast: 1 },
  refresh_memory: {
    says: "It holds at most this many times what it held before them, a tenth and 10 MB more being let pass.",
    atMost: 1,
  },
  refresh_mapped: { says: "It has at most this many packs mapped when all is over.", atMost: 2 },
  refresh_descriptors: { says: "It has at most this many more descriptors open.", atMost: 0 },
  dns_cold: { says: "64 cold checks at once get this share of what the server's delay allows.", atLeast: 0.8 },
  dns_denied: {
    says: "64 cold checks at once of names that do not exist get this share of what two of the server's delays allow.",
    atLeast: 0.5,
  },
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
  accuracy_disposable: { says: "Of the sample's throw-away domains lists alone see this share.", atLeast: 0.98 },
  accuracy_relay: { says: "Of its privacy relays they see this share.", atLeast: 1 },
  accuracy_education: { says: "Of its schools and universities they see this share.", atLeast: 0.97 },
  accuracy_government: { says: "Of its government bodies they see this share.", atLeast: 0.95 },
  accuracy_personal: { says: "Of its mailbox providers they see this share.", atLeast: 0.98 },
  accuracy_traps: { says: "Of its traps this share is right, or a business that no list knows.", atLeast: 1 },
  accuracy_typos: { says: "Of its mistyped domains this share gets the right suggestion.", atLeast: 0.97 },
  accuracy_kept: { says: "Of its domains that only look mistyped at most this many are corrected.", atMost: 0 },
  accuracy_roles: { says: "Of its role names this share is seen.", atLeast: 0.97 },
  accuracy_false_roles: {
    says: "Of its names that only look like a role's at most this many are called one.",
    atMost: 0,
  },
  accuracy_popular: {
    says: "Of the names that most people know at most this many are in the disposable set.",
    atMost: 0,
  },
  learned_precision: {
    says: "Of the domains that a learned mail host makes disposable, at least this share is so in truth.",
    atLeast: 0.95,
  },
  start: { says: "A start takes at most this many milliseconds to the first healthy answer.", atMost: 200 },
} as const satisfies Record<string, Budget>
export type BudgetName = keyof typeof BUDGETS

/** Whether `value` keeps the budget: on the bound is within it. No number is never within. */
export function isHeld(name: BudgetName, value: number): boolean {
  const budget: Budget = BUDGETS[name]
  return "atMost" in budget ? value <= budget.atMost : value >= budget.atLeast
}
