import { CATEGORY_NAMES } from "./categories.ts"
import { PROBLEM_CODES, PROBLEMS } from "./problems.ts"
import { REASON_NAMES } from "./reasons.ts"
import { ROUTES } from "./routes.ts"
import { TIERS } from "./tiers.ts"

/** Statuses of answers that are no problem. */
const STATUSES = [200, 202, 204, 303]

const codes = new Set([...STATUSES, ...Object.values(PROBLEMS).map(({ status }) => status)])

/** The values of every label of a metric. Nothing else is ever a label, so none names an address, an account or a key. */
export const LABELS = {
  /** Routes by what is asked for; `elsewhere`: no route has it. */
  route: [...Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`), "elsewhere"],
  /** `other`: a status that none of ours is. */
  code: [...[...codes].sort((a, b) => a - b).map(String), "other"],
  problem: PROBLEM_CODES,
  category: CATEGORY_NAMES,
  reason: REASON_NAMES,
  /** By its number; `publishable`: a key of that kind, whatever its account's tier. */
  tier: [...TIERS.keys().map(String), "publishable"],
  /** What a caller had used up: requests a second, requests in flight, units of the day. */
  limit: ["rate", "in_flight", "units"],
  /** Why the server refused as a whole: too much in flight, too many bytes of bodies, or a late event loop. */
  strain: ["in_flight", "body_bytes", "lag"],
  dns_outcome: ["records", "no_data", "no_name", "timed_out", "unavailable"],
  tenant_outcome: ["tenant", "none", "failed"],
  cache: ["dns", "keys", "tenants"],
  set: ["disposable", "relay", "government", "government_suffix", "education", "education_suffix", "personal", "organisation"],
  source_outcome: ["taken", "unchanged", "refused", "failed"],
  notice: ["key_created", "key_revoked_by_owner", "key_revoked_by_admin", "key_leaked", "terms_change", "other"],
  mail_state: ["waiting", "under_way", "sent", "refused", "given_up"],
} as const satisfies Record<string, readonly string[]>

export type Label = keyof typeof LABELS

/** Upper bounds of a latency's buckets, in seconds: an answer takes some tens of microseconds, one that asks the world up to seconds. */
export const LATENCY_BUCKETS_S: readonly number[] = [0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

type MetricSpec = {
  readonly kind: "counter" | "gauge" | "histogram"
  readonly says: string
  readonly labels: readonly Label[]
  /** What the values of several workers come to; `each`: every worker has its own, by the label `worker`. */
  readonly across: "sum" | "min" | "max" | "each"
}

/** Everything that `/metrics` tells, by name. Counters go on where a worker is replaced. */
export const METRICS = {
  mailkind_http_requests_total: { kind: "counter", says: "Answers, by route and status.", labels: ["route", "code"], across: "sum" },
  mailkind_http_request_duration_seconds: { kind: "histogram", says: "From when a request was taken in until its answer was ready.", labels: ["route"], across: "sum" },
  mailkind_http_in_flight: { kind: "gauge", says: "Requests that are taken in and not answered.", labels: [], across: "sum" },
  mailkind_http_body_bytes: { kind: "gauge", says: "Octets of long bodies that are being read.", labels: [], across: "sum" },
  mailkind_problems_total: { kind: "counter", says: "Refusals, by the code of the problem.", labels: ["problem"], across: "sum" },
  mailkind_limited_total: { kind: "counter", says: "Requests of callers over a limit of their own.", labels: ["tier", "limit"], across: "sum" },
  mailkind_shed_total: { kind: "counter", says: "Requests that were refused since the server had too much to do.", labels: ["strain"], across: "sum" },
  mailkind_verdicts_total: { kind: "counter", says: "Verdicts of checks and of batch items, by category and decisive reason.", labels: ["category", "reason"], across: "sum" },
  mailkind_verdicts_cached_total: { kind: "counter", says: "Verdicts for which nobody was asked anew.", labels: [], across: "sum" },
  mailkind_verdicts_degraded_total: { kind: "counter", says: "Verdicts without DNS.", labels: [], across: "sum" },
  mailkind_dns_up: { kind: "gauge", says: "1: DNS gives answers that can be believed; 0: it does not, or is never asked.", labels: [], across: "min" },
  mailkind_dns_breaker_open: { kind: "gauge", says: "1: DNS servers count as dead, and only probes are sent.", labels: [], across: "max" },
  mailkind_dns_questions_total: { kind: "counter", says: "DNS questions that were sent, by what came of them.", labels: ["dns_outcome"], across: "sum" },
  mailkind_tenant_breakers_open: { kind: "gauge", says: "Endpoints of suite_b that are not asked for a while since they failed.", labels: [], across: "max" },
  mailkind_tenant_lookups_total: { kind: "counter", says: "Look-ups of suite_b tenants, by what came of them.", labels: ["tenant_outcome"], across: "sum" },
  mailkind_cache_entries: { kind: "gauge", says: "Entries that are held.", labels: ["cache"], across: "sum" },
  mailkind_cache_hits_total: { kind: "counter", says: "Questions that a cache answered.", labels: ["cache"], across: "sum" },
  mailkind_cache_misses_total: { kind: "counter", says: "Questions that it did not.", labels: ["cache"], across: "sum" },
  mailkind_lists_built_timestamp_seconds: { kind: "gauge", says: "When the lists in use were made.", labels: [], across: "min" },
  mailkind_lists_refreshed_timestamp_seconds: { kind: "gauge", says: "When the sources of lists were last asked; 0: never.", labels: [], across: "min" },
  mailkind_lists_entries: { kind: "gauge", says: "Entries of the lists in use.", labels: ["set"], across: "max" },
  mailkind_lists_sources: { kind: "gauge", says: "Sources of lists, by what came of asking them last.", labels: ["source_outcome"], across: "max" },
  mailkind_nodes: { kind: "gauge", says: "Servers that share the database and the limits of callers, as this one sees it; 1: it is alone.", labels: [], across: "max" },
  mailkind_leases_held: { kind: "gauge", says: "Callers for whom units of the day are in hand.", labels: [], across: "sum" },
  mailkind_quota_store_failures_total: { kind: "counter", says: "Times that units could not be leased from the store, or given back.", labels: [], across: "sum" },
  mailkind_usage_unwritten: { kind: "gauge", says: "Counters of usage that are not written to the store yet.", labels: [], across: "sum" },
  mailkind_usage_flush_lag_seconds: { kind: "gauge", says: "For how long some usage has not been written.", labels: [], across: "max" },
  mailkind_outbox_mails: { kind: "gauge", says: "Mails that the outbox keeps, by notice and state.", labels: ["notice", "mail_state"], across: "max" },
  mailkind_outbox_oldest_waiting_seconds: { kind: "gauge", says: "The age of the oldest mail that waits; 0: none does.", labels: [], across: "max" },
  mailkind_event_loop_lag_seconds: { kind: "gauge", says: "How late the event loop was at most within the last second.", labels: [], across: "each" },
  mailkind_process_resident_memory_bytes: { kind: "gauge", says: "Resident memory.", labels: [], across: "each" },
  mailkind_process_heap_bytes: { kind: "gauge", says: "The part of it that the script's objects take.", labels: [], across: "each" },
  mailkind_process_cpu_seconds_total: { kind: "counter", says: "CPU time.", labels: [], across: "each" },
  mailkind_process_open_descriptors: { kind: "gauge", says: "Open files and sockets; 0 where the system does not tell.", labels: [], across: "each" },
  mailkind_process_start_time_seconds: { kind: "gauge", says: "When the process started.", labels: [], across: "each" },
} as const satisfies Record<string, MetricSpec>

export type MetricName = keyof typeof METRICS

/** The one metric whose labels are no table: the version of this program and of Bun, the same for as long as it runs. */
export const BUILD_METRIC = { name: "mailkind_build_info", says: "1; the labels tell what runs.", labels: ["version", "bun"] } as const
