// Written from the tables of the contract by src/client/packing/api-types-text.ts. Do not change it by hand.

/** Limits of the API. */
export const API_LIMITS = { batchItemsMax: 100, batchItemLengthMax: 2048, batchBodyBytesMax: 262144 } as const

type FeedbackBody = {
  /** What the verdict should have been. */
  expected_category: ReportableCategory
  /** The address. Send exactly one of `email` and `domain`. Only the domain and the role word are stored. */
  email?: string | undefined
  /** A domain name. */
  domain?: string | undefined
  /** Why, in your own words. Anything that looks like an address is removed. */
  comment?: string | undefined
}

type ReportableCategory = "business" | "personal" | "disposable" | "relay" | "education" | "government" | "invalid"

type Category = "business" | "personal" | "disposable" | "relay" | "education" | "government" | "invalid" | "unknown"

type Recommendation = "allow" | "review" | "block"

type Reason =
  | "invalid_syntax"
  | "too_long"
  | "ip_literal"
  | "reserved_tld"
  | "unknown_tld"
  | "public_suffix"
  | "test_address"
  | "corrected"
  | "listing_contradicted"
  | "disposable_domain"
  | "relay_domain"
  | "government_domain"
  | "government_suffix"
  | "education_domain"
  | "education_suffix"
  | "free_provider"
  | "agent_mailbox"
  | "domain_not_found"
  | "null_mx"
  | "no_mail_host"
  | "disposable_mx"
  | "suite_a_mail"
  | "suite_b_mail"
  | "other_suite_mail"
  | "security_gateway"
  | "known_organisation"
  | "parked_mail"
  | "name_pattern"
  | "free_subdomain"
  | "mx_found"
  | "implicit_mx"
  | "resolves"
  | "no_evidence"
  | "blocklisted"
  | "allowlisted"
  | "lookalike_domain"
  | "likely_typo"
  | "new_domain"
  | "parked_domain"
  | "role_account"
  | "dns_unavailable"
  | "suite_a_detected"
  | "suite_b_tenant"
  | "spf_missing"
  | "dmarc_enforced"
  | "dmarc_missing"
  | "subaddress"
  | "shared_inbox_name"
  | "group_name"
  | "group_service"
  | "no_website"
  | "deep_unavailable"

type Policy = "b2b" | "strict" | "lenient"

type JobFormat = "text" | "csv" | "ndjson"

type CheckResult = {
  email: string | null
  /** The website address as sent; in URL checks only. */
  url?: string | undefined
  normalized_email: string | null
  domain: string | null
  is_business: boolean
  category: Category | (string & {})
  confidence: number
  recommendation: Recommendation | (string & {})
  policy: Policy | (string & {})
  is_free_provider: boolean
  is_disposable: boolean
  is_relay: boolean
  is_role_account: boolean
  shared_inbox: Hint
  group: Hint
  is_blocked: boolean
  is_new_domain: boolean
  is_lookalike: boolean
  has_subaddress: boolean
  did_you_mean: string | null
  mail: Mail
  workspace: Workspace
  integrations: Integrations
  domain_age_days: number | null
  reasons: (Reason | (string & {}))[]
  /** DNS was unavailable. The verdict comes from the lists alone. */
  degraded: boolean
  cached: boolean
  took_ms: number
  request_id: string
}

type Hint = {
  confidence: 0 | 0.3 | 1
  match: string | null
}

type Mail = {
  has_mx: boolean | null
  provider: string | null
  mx: MailHost[]
  spf: string | null
  dmarc_policy: DmarcPolicy | (string & {}) | null
}

type MailHost = {
  priority: number
  host: string
  provider: string | null
}

type DmarcPolicy = "none" | "quarantine" | "reject"

type Workspace = {
  suite_a: SuiteA
  suite_b: SuiteB
  other_suite: string | null
  /** The tenant look-up continues. The next check has its result. */
  pending: boolean
}

type SuiteA = {
  detected: boolean
  evidence: string[]
}

type SuiteB = {
  detected: boolean
  tenant_id: string | null
  tenant_region: string | null
  auth: TenantAuth | (string & {}) | null
  identity_provider: string | null
  evidence: string[]
}

type TenantAuth = "managed" | "federated"

type Integrations = {
  suite_a_ready: boolean
  suite_b_ready: boolean
}

type ReducedResult = {
  category: Category | (string & {})
  is_business: boolean
  recommendation: Recommendation | (string & {})
  confidence: number
  did_you_mean: string | null
  shared_inbox: Hint
  group: Hint
  /** The first reasons of the verdict. Reasons that the account has caused (`blocklisted`, `allowlisted`, `corrected`) are left out. */
  reasons: (Reason | (string & {}))[]
  workspace: ReducedWorkspace
}

type ReducedWorkspace = {
  /** suite_a was detected. */
  suite_a: boolean
  /** suite_b was detected. */
  suite_b: boolean
  suite_b_mail: boolean | null
}

type BatchResult = {
  /** One result for each item, in the same order. Each has the request id of the batch. */
  results: BatchItemResult[]
  /** The time of the slowest item. All items are checked in parallel. */
  took_ms: number
  request_id: string
}

type BatchItemResult = {
  email: string | null
  /** The website address as sent; in URL checks only. */
  url?: string | undefined
  normalized_email: string | null
  domain: string | null
  is_business: boolean
  category: Category | (string & {})
  confidence: number
  recommendation: Recommendation | (string & {})
  policy: Policy | (string & {})
  is_free_provider: boolean
  is_disposable: boolean
  is_relay: boolean
  is_role_account: boolean
  shared_inbox: Hint
  group: Hint
  is_blocked: boolean
  is_new_domain: boolean
  is_lookalike: boolean
  has_subaddress: boolean
  did_you_mean: string | null
  mail: Mail
  workspace: Workspace
  integrations: Integrations
  domain_age_days: number | null
  reasons: (Reason | (string & {}))[]
  /** DNS was unavailable. The verdict comes from the lists alone. */
  degraded: boolean
  cached: boolean
  took_ms: number
  request_id: string
  /** The position of the item in `items`, from 0. */
  index: number
  /** The item as sent. Only if no domain was found in it. */
  input?: string | undefined
}

type FeedbackReceipt = {
  /** An id such as `fb_…`. A duplicate has the id of the first report. */
  id: string
  /** `duplicate`: the account reported the same within 30 days. */
  status: ReceiptStatus | (string & {})
  domain: string
  /** The category that a check gives now. */
  current_category: Category | (string & {})
  /** What the verdict should have been, as sent. */
  reported_category: ReportableCategory | (string & {})
}

type ReceiptStatus = "received" | "duplicate"

type Usage = {
  tier: number
  limits: UsageLimits
  today: UsageToday
  /** The last 30 days, newest first, today included. */
  daily: UsageDay[]
}

type UsageLimits = {
  /** Requests per second. Null: unlimited. */
  requests_per_second: number | null
  /** Concurrent requests. Null: unlimited. */
  in_flight: number | null
  /** Units per day. Null: unlimited. */
  daily_units: number | null
  /** Items per batch. Null: unlimited. */
  batch_items: number | null
  /** Active keys of the account. Null: unlimited. */
  keys: number | null
}

type UsageToday = {
  /** The day, UTC. */
  date: string
  /** Units used by the account's secret keys. With those of publishable keys, which have separate units, they are the sum of `checks`, 5 times `deep_checks`, `batch_items`, `feedback` and `dry_runs`. */
  used: number
  /** Units of the account left today, as a check finds them. Null: unlimited. */
  remaining: number | null
  /** Units of today that are neither used nor left. A process that ended took them with it, or another process holds them and gives back within seconds what it does not use, or a deleted account with the same email used them. */
  lost: number
  /** The 1000 units that all publishable keys of the account share. They are separate from the account's units, because anybody can forge an origin. */
  publishable: PublishableUsage
  /** When the next day begins: 00:00 UTC. */
  resets_at: string
  /** Plain checks outside of batches, and deep checks without a result. */
  checks: number
  /** Deep checks. */
  deep_checks: number
  /** Items of batches and rows of lists. */
  batch_items: number
  /** Reports of wrong verdicts. */
  feedback: number
  /** Questions what a list would cost. */
  dry_runs: number
  /** Requests that got `rate_limited`. */
  rate_limited: number
  /** How many checks, deep checks and batch items ended in each category. */
  by_category: CountsByCategory
  /** The active keys, and revoked keys that were used today. Checks on the dashboard count in the account's `used`, but not for a key. */
  by_key: KeyUsage[]
}

type PublishableUsage = {
  /** Units used by the account's publishable keys, including revoked keys. */
  used: number
  /** Units left today for all publishable keys together. */
  remaining: number
}

type CountsByCategory = {
  business: number
  personal: number
  disposable: number
  relay: number
  education: number
  government: number
  invalid: number
  unknown: number
}

type KeyUsage = {
  /** The id of the key. It is not the key itself. */
  id: string
  name: string
  /** The last four characters of the key. */
  last4: string
  /** Units that the key used today. A publishable key uses units that all publishable keys share. */
  used: number
  /** Null: never. */
  last_used_at: string | null
  /** When the key expires. Absent: it does not expire. */
  expires_at?: string | undefined
  /** The key's own limit of units per day. Absent: no such limit. */
  daily_units?: number | undefined
  /** What is left of the key's own limit today. Present with `daily_units`. */
  remaining?: number | undefined
  /** The key's own limit of requests per second. Absent: no such limit. */
  requests_per_second?: number | undefined
}

type UsageDay = {
  /** The day, UTC. */
  date: string
  /** Units used by the account's secret keys. With those of publishable keys, which have separate units, they are the sum of `checks`, 5 times `deep_checks`, `batch_items`, `feedback` and `dry_runs`. */
  used: number
  /** Plain checks outside of batches, and deep checks without a result. */
  checks: number
  /** Deep checks. */
  deep_checks: number
  /** Items of batches and rows of lists. */
  batch_items: number
  /** Reports of wrong verdicts. */
  feedback: number
  /** Questions what a list would cost. */
  dry_runs: number
  /** Requests that got `rate_limited`. */
  rate_limited: number
  /** How many checks, deep checks and batch items ended in each category. */
  by_category: CountsByCategory
}

type Health = {
  status: HealthStatus | (string & {})
  version: string
  commit: string | null
  uptime_seconds: number
  lists: HealthLists
  dns: HealthDns
  database: HealthDatabase
  /** `in_doubt`: the clock of this host and the one that confirms it differ by more than a minute, or it has jumped. Nothing is deleted for its age, and no day begins by it. */
  clock: HealthClock
}

type HealthStatus = "ok" | "degraded"

type HealthLists = {
  version: string
  built_at: string
  /** Seconds since `built_at` or since `refreshed_at`, whichever is later. */
  age_seconds: number
  entries: Record<string, number>
  files: ListFiles
  refresh: ListsRefresh
}

type ListFiles = {
  status: ListFilesStatus | (string & {})
  noticed_at: string | null
}

type ListFilesStatus = "ok" | "replaced" | "damaged"

type ListsRefresh = {
  status: RefreshStatus | (string & {})
  refreshed_at: string | null
  asked_at: string | null
  /** The result of the last download of each source. */
  sources: Record<string, SourceState>
}

type RefreshStatus = "ok" | "failing" | "paused" | "pending" | "off"

type SourceState = {
  outcome: SourceOutcome | (string & {})
  changed_at: string | null
  /** How many of its names were left out, because no such list can hold them. */
  left_out: number
}

type SourceOutcome = "taken" | "unchanged" | "refused" | "failed"

type HealthDns = {
  status: DnsStatus | (string & {})
}

type DnsStatus = "ok" | "unavailable"

type HealthDatabase = {
  status: DatabaseStatus | (string & {})
}

type DatabaseStatus = "ok" | "away"

type HealthClock = {
  status: ClockStatus | (string & {})
}

type ClockStatus = "ok" | "in_doubt"

type Job = {
  /** An id such as `job_…`. */
  id: string
  /** The name that you gave it. Null: none. */
  name: string | null
  state: JobState | (string & {})
  /** Why it is `stopped` or `failed`. Null in every other state. */
  reason: JobReason | (string & {}) | null
  format: JobFormat | (string & {})
  /** The column or member that you named. Null: it is found by its name. */
  column: string | null
  policy: Policy | (string & {})
  /** Whether suite_b tenants are looked up. */
  workspace: boolean
  /** The URL that gets a callback when the job is done, stops or fails, as it is requested. Null: none. */
  callback: string | null
  rows: JobRows
  /** How many rows are of each category, without test addresses. */
  by_category: CountsByCategory
  /** How many rows got each recommendation. */
  by_recommendation: CountsByRecommendation
  /** One unit for each row that is done. Test addresses cost nothing. */
  units_used: number
  /** Bytes of the results so far. */
  results_bytes: number
  /** Rows done per second of work. Null: none is done. */
  rows_per_second: number | null
  /** About how long it still takes. Null: not known, or it is not running. */
  seconds_left: number | null
  created_at: string
  /** When its first row was checked. Null: not yet. */
  started_at: string | null
  /** When it was `done` or `failed`. Null: not yet. */
  ended_at: string | null
  /** When the list and its results are deleted. Null: it has not ended. */
  expires_at: string | null
}

type JobState = "receiving" | "queued" | "running" | "stopped" | "done" | "failed"

type JobReason = "units_used_up" | "space_used_up" | "account_suspended" | "key_revoked" | "files_lost" | "no_progress"

type JobRows = {
  /** Rows of the list, without the header. */
  total: number
  /** Rows that have their results. */
  done: number
  /** Rows that could not be read. They are `invalid`. */
  unreadable: number
  /** Rows whose verdict comes from lists alone, because DNS did not answer. */
  degraded: number
}

type CountsByRecommendation = {
  allow: number
  review: number
  block: number
}

type JobEstimate = {
  /** Rows of the list, without the header. */
  rows: number
  /** Domains, each counted once. Exact up to 16 384; more are estimated, in two of three lists within 1.1 %, and hardly ever more than 3.5 % off. */
  unique_domains: number
  /** Units that the whole list costs: one for each row that is no test address. */
  units_needed: number
  /** Units left today, after this dry run. Null: unlimited, or not known. */
  units_left: number | null
  /** The names of the columns. */
  columns: string[]
}

type ProblemBody = {
  type: string
  title: string
  status: number
  code: ProblemCode | (string & {})
  detail: string
  docs_url: string
  /** The request id as a URN. */
  instance: string
  request_id: string
  errors?: InputFault[] | undefined
  /** Seconds to wait before the next try. */
  retry_after?: number | undefined
  limit?: number | undefined
  /** How many daily units the request needs. */
  needed?: number | undefined
  /** How many daily units are left. */
  remaining?: number | undefined
  resets_at?: string | undefined
}

type ProblemCode =
  | "invalid_input"
  | "unauthorized"
  | "invalid_key"
  | "key_revoked"
  | "forbidden_origin"
  | "forbidden_network"
  | "terms_not_accepted"
  | "rate_limited"
  | "quota_exceeded"
  | "batch_too_large"
  | "payload_too_large"
  | "too_many_jobs"
  | "job_not_ready"
  | "range_not_satisfiable"
  | "not_found"
  | "method_not_allowed"
  | "overloaded"
  | "internal_error"

type InputFault = {
  /** JSON pointer into the body. */
  pointer?: string | undefined
  /** Name of the query parameter. */
  parameter?: string | undefined
  detail: string
}

/** Why the server refused a request (RFC 9457). Branch on `code`; `title` and `detail` are for people and may change. */
type Problem =
  | { [C in ProblemCode]: Omit<ProblemBody, "code"> & { code: C } }[ProblemCode]
  | (Omit<ProblemBody, "code"> & { code: string & {} })

export type {
  BatchItemResult,
  BatchResult,
  Category,
  CheckResult,
  ClockStatus,
  CountsByCategory,
  CountsByRecommendation,
  DatabaseStatus,
  DmarcPolicy,
  DnsStatus,
  FeedbackBody,
  FeedbackReceipt,
  Health,
  HealthClock,
  HealthDatabase,
  HealthDns,
  HealthLists,
  HealthStatus,
  Hint,
  InputFault,
  Integrations,
  Job,
  JobEstimate,
  JobFormat,
  JobReason,
  JobRows,
  JobState,
  KeyUsage,
  ListFiles,
  ListFilesStatus,
  ListsRefresh,
  Mail,
  MailHost,
  Policy,
  Problem,
  ProblemCode,
  PublishableUsage,
  Reason,
  ReceiptStatus,
  Recommendation,
  ReducedResult,
  ReducedWorkspace,
  RefreshStatus,
  ReportableCategory,
  SourceOutcome,
  SourceState,
  SuiteA,
  SuiteB,
  TenantAuth,
  Usage,
  UsageDay,
  UsageLimits,
  UsageToday,
  Workspace,
}
