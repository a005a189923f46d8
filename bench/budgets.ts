import { DNS_CACHE_BOUNDS } from "../src/check/dns/resolver/dns-cache.ts"

/** A bound that a figure must keep. */
export type Budget = { readonly description: string } & ({ readonly atMost: number } | { readonly atLeast: number })

/** No kind can hide in a mean. */
const KINDS = "The dearest kind of the bench costs at most this many times the cheapest."

/** What we promise not to cross. A figure names its row; units are those of the figure. */
export const BUDGETS = {
  lists_hit: {
    description: "A pack finds a name just cut out of a request in at most this many times a Set's time.",
    atMost: 1.3,
  },
  lists_miss: {
    description: "A pack misses a name just cut out of a request in at most this many times a Set's time.",
    atMost: 1.3,
  },
  lists_memory: {
    description: "A pack takes at most this share of the private memory that a Set takes.",
    atMost: 0.25,
  },
  lists_open: { description: "A pack opens within this many milliseconds.", atMost: 5 },
  check: {
    description:
      "One check, from text to JSON, of a domain that was checked before takes at most this many microseconds.",
    atMost: 3,
  },
  check_kinds: { description: KINDS, atMost: 2 },
  check_first_kinds: { description: KINDS, atMost: 2 },
  check_first: { description: "One check of a domain that was never seen takes at most this many.", atMost: 4 },
  http: {
    description: "A bare server's answer costs at least this share of an authenticated, metered POST /v1/check.",
    atLeast: 0.75,
  },
  http_variants: {
    description: "Asked by GET, for a role, with own lists or without limits it costs at most this many times as much.",
    atMost: 1.25,
  },
  http_kinds: { description: KINDS, atMost: 2 },
  http_half_load: {
    description: "Asked for half of what it can, its 99th percentile is at most this many milliseconds.",
    atMost: 2,
  },
  http_half_load_floor: {
    description:
      "There its 99th percentile is at most this many times that of the bare server, which is asked for as much.",
    atMost: 2,
  },
  http_p99: { description: "Its 99th percentile is at most this many times that of the bare server.", atMost: 2 },
  batch_floor: {
    description: "A bare server's batch from ready objects costs at least this share of a batch of ordinary addresses.",
    atLeast: 0.55,
  },
  batch_single: { description: "A single check costs at least this many times an item of a batch.", atLeast: 5 },
  batch_kinds: { description: KINDS, atMost: 2 },
  batch_gzip: { description: "A compressed answer costs at most this many times a plain one.", atMost: 1.25 },
  batch_role: { description: "A role in a batch costs at most this many times an ordinary address.", atMost: 1.3 },
  nodes_cost: {
    description:
      "A check of three nodes behind HAProxy and PgBouncer costs a node at most this many times that of one node alone.",
    atMost: 1.15,
  },
  classify_lines: {
    description: "A line of text takes at most this many microseconds of processor time, offline: 200 000 a second.",
    atMost: 5,
  },
  classify_rows: { description: "A row of CSV or NDJSON takes at most this many: 120 000 a second.", atMost: 8.3 },
  classify_kinds: { description: KINDS, atMost: 2 },
  classify_memory: {
    description: "That takes at most the MB of resident memory of --memory by default, however many lines there are.",
    atMost: 220,
  },
  jobs_rows: {
    description: "A row of a list costs the server at most a quarter more than it costs classify.",
    atLeast: 0.8,
  },
  jobs_memory: {
    description: "A server that checks a list holds at most this many MB more than an idle one.",
    atMost: 80,
  },
  jobs_live: {
    description: "While lists are checked, the p99 of live requests rises at most by this factor.",
    atMost: 1.2,
  },
  dns_cold: { description: "64 cold checks at once get this share of what the server's delay allows.", atLeast: 0.8 },
  dns_own_hosts: {
    description:
      "64 cold checks at once of domains with own mail hosts get this share of what two of the server's delays allow.",
    atLeast: 0.7,
  },
  dns_denied: {
    description:
      "64 cold checks at once of names that do not exist get this share of what two of the server's delays allow.",
    atLeast: 0.5,
  },
  dns_cold_cost: {
    description: "A cold check takes at most this many microseconds of processor time: 10 000 a second.",
    atMost: 100,
  },
  dns_kinds: { description: KINDS, atMost: 2 },
  dns_list_questions: { description: "A list asks at most so many questions a domain of the mix.", atMost: 2 },
  dns_warm: { description: "A check over lists alone costs at least this share of a warm one.", atLeast: 0.8 },
  dns_first_dead: {
    description: "Each of the first two checks while every server is dead takes at most this many milliseconds.",
    atMost: 3000,
  },
  dns_dead: {
    description: "The next ones take at most this many milliseconds more than lists alone, at the 99th percentile.",
    atMost: 3,
  },
  dns_recovery: { description: "The servers' return is noticed within this many milliseconds.", atMost: 10_000 },
  dns_cache_entries: {
    description: "A cache of answers holds at most this many.",
    atMost: DNS_CACHE_BOUNDS.entriesMax,
  },
  dns_cache_memory: {
    description: "A cache of answers takes at most this many times the memory that is set.",
    atMost: 1.25,
  },
  accuracy_disposable: { description: "Of the tuned sample's throw-away domains this share is seen.", atLeast: 0.98 },
  accuracy_relay: { description: "Of its privacy relays this share is seen.", atLeast: 1 },
  accuracy_education: { description: "Of its schools and universities this share is seen.", atLeast: 0.97 },
  accuracy_government: { description: "Of its government bodies this share is seen.", atLeast: 0.95 },
  accuracy_personal: { description: "Of its mailbox providers this share is seen.", atLeast: 0.98 },
  accuracy_traps: {
    description: "The share of its traps that are right, or that are businesses without a verdict.",
    atLeast: 1,
  },
  accuracy_typos: { description: "Of its mistyped domains this share gets the right suggestion.", atLeast: 0.97 },
  accuracy_kept: { description: "Of its domains that only look mistyped at most this many are corrected.", atMost: 0 },
  accuracy_roles: { description: "Of its role names this share is seen.", atLeast: 0.97 },
  accuracy_false_roles: {
    description: "Of its names that only look like a role's at most this many are called one.",
    atMost: 0,
  },
  accuracy_sealed_disposable: {
    description: "Of the sealed sample's listed throw-away domains this share is seen.",
    atLeast: 0.97,
  },
  accuracy_sealed_relay: { description: "Of its privacy relays this share is seen.", atLeast: 1 },
  accuracy_sealed_education: { description: "Of its schools and universities this share is seen.", atLeast: 0.95 },
  accuracy_sealed_government: { description: "Of its government bodies this share is seen.", atLeast: 0.93 },
  accuracy_sealed_personal: { description: "Of its mailbox providers this share is seen.", atLeast: 0.95 },
  accuracy_sealed_typos: {
    description: "Of its mistyped domains this share gets the right suggestion.",
    atLeast: 0.93,
  },
  accuracy_sealed_wrong_typos: { description: "Of them at most this many get a wrong suggestion.", atMost: 0 },
  accuracy_sealed_kept: {
    description: "Of its domains that only look mistyped at most this many are corrected.",
    atMost: 0,
  },
  accuracy_sealed_roles: { description: "Of its role names this share is seen.", atLeast: 0.95 },
  accuracy_sealed_false_roles: {
    description: "Of its names that only look like a role's at most this many are called one.",
    atMost: 0,
  },
  accuracy_gap: {
    description: "No promised share of the tuned sample is more than this above that of the sealed one.",
    atMost: 0.02,
  },
  accuracy_complaints: { description: "Of names that were listed wrongly at most this many are blocked.", atMost: 0 },
  accuracy_open_suffix: {
    description: "Of throw-aways under suffixes where anyone can register at most this many are allowed.",
    atMost: 0,
  },
  accuracy_popular: {
    description: "Of the names that most people know at most this many are in the disposable set.",
    atMost: 0,
  },
  accuracy_judged: {
    description: "Of the names that most people know at most this many are judged disposable.",
    atMost: 0,
  },
  start: { description: "A start takes at most this many milliseconds to the first healthy answer.", atMost: 200 },
  start_memory: { description: "An idle server has at most this many MB resident.", atMost: 125 },
  start_checks: {
    description: "The first checks after a start take at most this many microseconds of processor time each.",
    atMost: 250,
  },
} as const satisfies Record<string, Budget>
export type BudgetName = keyof typeof BUDGETS

/** Whether `value` keeps the budget: on the bound is within it. No number is never within. */
export function isHeld(name: BudgetName, value: number): boolean {
  const budget: Budget = BUDGETS[name]
  return "atMost" in budget ? value <= budget.atMost : value >= budget.atLeast
}
