import { CATEGORY_NAMES } from "./categories.ts"
import { LISTED_JOB_STATES } from "./jobs.ts"
import { PROBLEM_CODES, PROBLEMS } from "./problems.ts"
import { REASON_NAMES } from "./reasons.ts"
import { ROUTES } from "./routes.ts"
import { TIERS } from "./tiers.ts"

/** Statuses of successful responses. */
const SUCCESS_STATUSES = [200, 202, 204, 206, 303]

/** Statuses of the protocol of agents, whose errors are not problems of the API. */
const AGENT_STATUSES = [406, 415]

const statusCodes = new Set([...SUCCESS_STATUSES, ...AGENT_STATUSES, ...Object.values(PROBLEMS).map(({ status }) => status)])

/** All values of all labels. There are no others, so a label never names an address, an account or a key. */
export const METRIC_LABELS = {
  /** Method and path; `elsewhere`: a request without a route. */
  route: [...Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`), "elsewhere"],
  /** `other`: a status that is not in the tables. */
  code: [...[...statusCodes].sort((a, b) => a - b).map(String), "other"],
  problem: PROBLEM_CODES,
  category: CATEGORY_NAMES,
  reason: REASON_NAMES,
  /** The number of the tier; `publishable`: a publishable key of any tier. */
  tier: [...TIERS.map((_, tier) => String(tier)), "publishable"],
  /** The limit that a caller exceeded: requests per second, requests in flight, units per day. */
  limit: ["rate", "in_flight", "units"],
  /** Why the server shed a request: requests in flight, bytes of bodies, or the delay of the event loop. */
  strain: ["in_flight", "body_bytes", "lag"],
  /** Whose reading met a defect. `learned`: what was learned of mail hosts. `deep`: the registry or the homepage. */
  evidence: ["dns", "learned", "tenant", "deep"],
  dns_outcome: ["records", "no_data", "no_name", "timed_out", "unavailable"],
  tenant_outcome: ["tenant", "none", "failed"],
  cache: ["dns", "keys", "tenants"],
  set: ["disposable", "relay", "government", "government_suffix", "education", "education_suffix", "personal", "organisation", "open_education_suffix", "free_subdomain", "agent_mailbox"],
  source_outcome: ["taken", "unchanged", "refused", "failed"],
  notice: ["key_created", "key_revoked_by_owner", "key_revoked_by_admin", "key_leaked", "key_expiring", "key_new_network", "terms_change", "account_suspended", "account_resumed", "units_80", "units_100", "list_done", "list_stopped", "report_decided", "other"],
  job_state: LISTED_JOB_STATES,
  mail_state: ["waiting", "under_way", "sent", "refused", "given_up"],
  /** What a directory is for that the server writes to. */
  directory: ["data", "jobs", "backups"],
} as const satisfies Record<string, readonly string[]>

export type MetricLabel = keyof typeof METRIC_LABELS

/** A kind of evidence from the network. */
export type EvidenceKind = (typeof METRIC_LABELS.evidence)[number]

/** Upper bounds of latency buckets, in seconds: a response from memory takes some tens of microseconds, one that needs the network up to seconds. */
export const LATENCY_BUCKETS_S: readonly number[] = [0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The same of operations on the database: SQLite takes some tens of microseconds, and the bounds of PostgreSQL are seconds. */
const DATABASE_BUCKETS_S: readonly number[] = [0.000_1, 0.000_5, 0.001, 0.002_5, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5]

type MetricSpec = {
  readonly description: string
  readonly labels: readonly MetricLabel[]
  /**
   * How the values of workers are combined. `each`: they are not, and the label `worker` tells them apart. `missing`: no worker writes it, and
   * the value is the count of those that have written nothing.
   */
  readonly aggregation: "sum" | "min" | "max" | "each" | "missing"
} & ({ readonly kind: "counter" | "gauge" } | { readonly kind: "histogram"; readonly bucketsS: readonly number[] })

/** All metrics by name. Counters continue when a worker is replaced. */
export const METRICS = {
  mailkind_http_requests_total: { kind: "counter", description: "Responses, by route and status.", labels: ["route", "code"], aggregation: "sum" },
  mailkind_http_request_duration_seconds: { kind: "histogram", description: "Time from accepting a request until its response is ready.", labels: ["route"], aggregation: "sum", bucketsS: LATENCY_BUCKETS_S },
  mailkind_http_in_flight: { kind: "gauge", description: "Requests that were accepted and have no response yet.", labels: [], aggregation: "sum" },
  mailkind_http_body_bytes: { kind: "gauge", description: "Bytes of long bodies that are being read.", labels: [], aggregation: "sum" },
  mailkind_problems_total: { kind: "counter", description: "Refused requests, by problem code.", labels: ["problem"], aggregation: "sum" },
  mailkind_limited_total: { kind: "counter", description: "Requests that were refused because the caller exceeded its own limit.", labels: ["tier", "limit"], aggregation: "sum" },
  mailkind_shed_total: { kind: "counter", description: "Requests that were refused because the server was overloaded.", labels: ["strain"], aggregation: "sum" },
  mailkind_verdicts_total: { kind: "counter", description: "Verdicts of checks and of batch items, by category and decisive reason.", labels: ["category", "reason"], aggregation: "sum" },
  mailkind_verdicts_cached_total: { kind: "counter", description: "Verdicts that needed no new query.", labels: [], aggregation: "sum" },
  mailkind_verdicts_degraded_total: { kind: "counter", description: "Verdicts that were given without DNS, where it is not turned off.", labels: [], aggregation: "sum" },
  mailkind_dns_up: { kind: "gauge", description: "1: DNS gives trustworthy answers, or the operator turned it off; 0: it gives none.", labels: [], aggregation: "min" },
  mailkind_dns_breaker_open: { kind: "gauge", description: "1: the DNS servers do not reply, and only probes are sent.", labels: [], aggregation: "max" },
  mailkind_dns_questions_total: { kind: "counter", description: "DNS queries that were sent, by outcome.", labels: ["dns_outcome"], aggregation: "sum" },
  mailkind_evidence_defects_total: { kind: "counter", description: "Look-ups that a defect of the server ended. Their evidence counts as unavailable, and the log says what failed.", labels: ["evidence"], aggregation: "sum" },
  mailkind_tenant_breakers_open: { kind: "gauge", description: "Endpoints of suite_b that are not queried for a while because they failed.", labels: [], aggregation: "max" },
  mailkind_tenant_lookups_total: { kind: "counter", description: "Look-ups of suite_b tenants, by outcome.", labels: ["tenant_outcome"], aggregation: "sum" },
  mailkind_cache_entries: { kind: "gauge", description: "Entries of the cache.", labels: ["cache"], aggregation: "sum" },
  mailkind_cache_hits_total: { kind: "counter", description: "Look-ups that the cache answered.", labels: ["cache"], aggregation: "sum" },
  mailkind_cache_misses_total: { kind: "counter", description: "Look-ups that the cache could not answer.", labels: ["cache"], aggregation: "sum" },
  mailkind_lists_built_timestamp_seconds: { kind: "gauge", description: "When the lists in use were built.", labels: [], aggregation: "min" },
  mailkind_lists_refreshed_timestamp_seconds: { kind: "gauge", description: "When the lists were last refreshed; 0: never.", labels: [], aggregation: "min" },
  mailkind_lists_asked_timestamp_seconds: { kind: "gauge", description: "When the sources of the lists were last asked, with or without success; 0: never.", labels: [], aggregation: "min" },
  mailkind_lists_damaged: { kind: "gauge", description: "1: files of the lists in use are damaged on the disk, and only a refresh mends them; 0: they are not.", labels: [], aggregation: "max" },
  mailkind_lists_damage_timestamp_seconds: { kind: "gauge", description: "When files of the lists in use were last found damaged on the disk; 0: not within a week.", labels: [], aggregation: "max" },
  mailkind_lists_behind: { kind: "gauge", description: "1: this node does not use the lists that the nodes share, and the log says why; 0: it does.", labels: [], aggregation: "max" },
  mailkind_lists_pinned: { kind: "gauge", description: "1: an operator has pinned the version of the lists; 0: the newest ones are used.", labels: [], aggregation: "max" },
  mailkind_lists_entries: { kind: "gauge", description: "Entries of the lists in use.", labels: ["set"], aggregation: "max" },
  mailkind_lists_sources: { kind: "gauge", description: "Sources of lists, by the outcome of their last download.", labels: ["source_outcome"], aggregation: "max" },
  mailkind_database_up: { kind: "gauge", description: "1: the database answers and accepts writes; 0: it was found unreachable and has not answered since, or accepts no writes.", labels: [], aggregation: "min" },
  mailkind_database_operation_duration_seconds: { kind: "histogram", description: "Time of statements outside of transactions and of whole transactions, with their wait for a connection or for others that write.", labels: [], aggregation: "sum", bucketsS: DATABASE_BUCKETS_S },
  mailkind_database_connections_in_use: { kind: "gauge", description: "Connections to PostgreSQL that work or are reserved; 0 with SQLite.", labels: [], aggregation: "sum" },
  mailkind_clock_trusted: { kind: "gauge", description: "1: the clock is confirmed; 0: it and the one that confirms it differ by more than a minute, or it has jumped: nothing is deleted for its age.", labels: [], aggregation: "min" },
  mailkind_clock_timestamp_seconds: { kind: "gauge", description: "What the clock of this host says.", labels: [], aggregation: "max" },
  mailkind_clock_jumps_total: { kind: "counter", description: "Jumps of the clock by more than a minute while the server ran: of the database's, with SQLite of this host's.", labels: [], aggregation: "max" },
  mailkind_disk_free_bytes: { kind: "gauge", description: "What can still be written to the disk of a directory; 0 with a size of 0: there is no such directory, or the system does not tell.", labels: ["directory"], aggregation: "max" },
  mailkind_disk_size_bytes: { kind: "gauge", description: "The size of the disk of a directory; 0: there is no such directory, or the system does not tell.", labels: ["directory"], aggregation: "max" },
  mailkind_backup_interval_seconds: { kind: "gauge", description: "Time between two scheduled backups; 0: there are none.", labels: [], aggregation: "max" },
  mailkind_backup_age_seconds: { kind: "gauge", description: "Age of the newest scheduled backup, or of this process while there is none; 0: there are none.", labels: [], aggregation: "max" },
  mailkind_nodes: { kind: "gauge", description: "Servers that share the database and the limits of callers, including this one.", labels: [], aggregation: "max" },
  mailkind_leases_held: { kind: "gauge", description: "Callers for whom this process has leased some of today's units.", labels: [], aggregation: "sum" },
  mailkind_quota_store_failures_total: { kind: "counter", description: "Failed attempts to lease units from the store or to return them.", labels: [], aggregation: "sum" },
  mailkind_usage_unwritten: { kind: "gauge", description: "Usage counters that are not written to the store yet.", labels: [], aggregation: "sum" },
  mailkind_usage_flush_lag_seconds: { kind: "gauge", description: "Age of the oldest usage that is not written yet.", labels: [], aggregation: "max" },
  mailkind_request_log_dropped_total: { kind: "counter", description: "Requests that are missing in the request logs of accounts, since more arrived at once than are written.", labels: [], aggregation: "sum" },
  mailkind_request_log_rows: { kind: "gauge", description: "Requests in the request logs of all accounts, as they were last counted; 0: they are not counted yet.", labels: [], aggregation: "max" },
  mailkind_request_log_bytes: { kind: "gauge", description: "What the request logs of all accounts take in the database, as they were last counted; 0: they are not counted yet.", labels: [], aggregation: "max" },
  mailkind_request_log_bytes_max: { kind: "gauge", description: "What the request logs may take; 0: none are kept.", labels: [], aggregation: "max" },
  mailkind_jobs: { kind: "gauge", description: "Lists of all accounts, by state.", labels: ["job_state"], aggregation: "max" },
  mailkind_callbacks_waiting: { kind: "gauge", description: "Callbacks of lists that wait for their next attempt.", labels: [], aggregation: "max" },
  mailkind_callbacks_given_up: { kind: "gauge", description: "Callbacks of lists that were tried for a day, of lists that are not deleted yet.", labels: [], aggregation: "max" },
  mailkind_mail_up: { kind: "gauge", description: "1: the mail server takes emails, or none is set; 0: it failed with the last ones, those of sign-ins too.", labels: [], aggregation: "min" },
  mailkind_outbox_mails: { kind: "gauge", description: "Emails in the outbox, by notice and state.", labels: ["notice", "mail_state"], aggregation: "max" },
  mailkind_outbox_oldest_waiting_seconds: { kind: "gauge", description: "Age of the oldest waiting email; 0: none waits. Without a mail server it is not told.", labels: [], aggregation: "max" },
  mailkind_log_lines_lost_total: { kind: "counter", description: "Lines of the log that were dropped because nobody read the standard error in time.", labels: [], aggregation: "sum" },
  mailkind_workers_missing: { kind: "gauge", description: "Processes that should serve and do not: they have ended, or start and do not listen yet.", labels: [], aggregation: "missing" },
  mailkind_workers_ended_total: { kind: "counter", description: "Workers that ended unasked.", labels: [], aggregation: "sum" },
  mailkind_event_loop_lag_seconds: { kind: "gauge", description: "The greatest delay of the event loop within the last second.", labels: [], aggregation: "each" },
  mailkind_process_resident_memory_bytes: { kind: "gauge", description: "Resident memory.", labels: [], aggregation: "each" },
  mailkind_process_heap_bytes: { kind: "gauge", description: "Memory of the JavaScript heap.", labels: [], aggregation: "each" },
  mailkind_process_cpu_seconds_total: { kind: "counter", description: "CPU time.", labels: [], aggregation: "each" },
  mailkind_process_open_descriptors: { kind: "gauge", description: "Open files and sockets; 0 if the system does not report them.", labels: [], aggregation: "each" },
  mailkind_process_descriptors_max: { kind: "gauge", description: "How many files and sockets may be open; 0 if the system does not report it.", labels: [], aggregation: "each" },
  mailkind_process_start_time_seconds: { kind: "gauge", description: "When the process started.", labels: [], aggregation: "each" },
} as const satisfies Record<string, MetricSpec>

export type MetricName = keyof typeof METRICS

/** The value of a series, and the values of its labels in the order of the metric's. */
export type Sample = readonly [metric: MetricName, value: number, ...labels: readonly string[]]

/** The samples of a cache. */
export const cacheSamples = (cache: (typeof METRIC_LABELS.cache)[number], stats: { readonly entries: number; readonly hits: number; readonly misses: number }): readonly Sample[] => [
  ["mailkind_cache_entries", stats.entries, cache],
  ["mailkind_cache_hits_total", stats.hits, cache],
  ["mailkind_cache_misses_total", stats.misses, cache],
]

/** The one metric whose label values are in no table: the versions of this program and of Bun. */
export const BUILD_METRIC = { name: "mailkind_build_info", description: "Always 1; the labels are the version of the program, its commit, empty where it is not known, and the version of Bun.", labels: ["version", "commit", "bun"] } as const
