import { DAY_MS } from "../../base/time.ts"
import { parseSubject } from "../../check/address/parse-subject.ts"
import { SETS } from "../../check/lists/sets.ts"
import { fullResult, reducedResult } from "../../check/result/result.ts"
import { judgeTestAddress } from "../../check/test-address-evidence.ts"
import { CALLBACK_LIMITS } from "../../contract/callbacks.ts"
import { CATEGORY_NAMES } from "../../contract/categories.ts"
import type { FeedbackReceipt } from "../../contract/feedback-schema.ts"
import type { CallbackSecretBody, JobBody, JobEstimateBody, ListReadingBody } from "../../contract/jobs-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { OwnListAddition, OwnListPage, OwnListRemoval } from "../../contract/own-lists-schema.ts"
import { POLICY_DEFAULT, type Policy } from "../../contract/policies.ts"
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import type { CheckResult, ReducedResult } from "../../contract/result-schema.ts"
import { API_VERSION, allowedMethods, ROUTES } from "../../contract/routes.ts"
import type { BatchBody, BatchResult, Health, ProblemBody } from "../../contract/schemas.ts"
import { TIERS } from "../../contract/tiers.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import { overloaded } from "../admission/load-shedder.ts"
import { keylessTooFast, unauthorized } from "../request/caller.ts"
import { tooManyItems } from "../request/check-input.ts"
import { bannedProblem, busyProblem, passRequiredProblem } from "./free-check-problems.ts"
import { otherRequest, stillRunning } from "./idempotency-problems.ts"
import { jobNotReady, rangeNotSatisfiable, tooManyJobs, unsupportedList } from "./job-problems.ts"
import { ownListsFull } from "./own-list-problems.ts"
import { INVALID_POLICY, invalidInput, Problem, problemBody, quotaExceeded } from "./problem.ts"

/** The request id of every example. */
const EXAMPLE_REQUEST_ID = "req_4fT0cQm7XbZ2hLw9RkVd"

/** The domain of the addresses in examples, also where test addresses are off (the empty text). */
export const exampleDomain = (testDomain: string): string => (testDomain === "" ? "mailkind.test" : testDomain)

/** The result for a test address under `policy`, from the code that serves requests. */
export function exampleResult(localPart: string, testDomain: string, policy: Policy = POLICY_DEFAULT): CheckResult {
  const subject = parseSubject("email", `${localPart}@${testDomain}`, testDomain)
  return fullResult(judgeTestAddress(subject, true, policy), EXAMPLE_REQUEST_ID)
}

/** The result for a test address with a publishable key. */
export function exampleReducedResult(localPart: string, testDomain: string): ReducedResult {
  const subject = parseSubject("email", `${localPart}@${testDomain}`, testDomain)
  return reducedResult(judgeTestAddress(subject, true, POLICY_DEFAULT))
}

/** The body of a batch of test addresses. */
export const exampleBatch = (testDomain: string): BatchBody => ({
  items: BATCH_LOCAL_PARTS.map(localPart => `${localPart}@${testDomain}`),
  policy: POLICY_DEFAULT,
})

/** The result of that batch. */
export const exampleBatchResult = (testDomain: string): BatchResult => ({
  results: BATCH_LOCAL_PARTS.map((localPart, index) => ({ ...exampleResult(localPart, testDomain), index })),
  took_ms: 0,
  request_id: EXAMPLE_REQUEST_ID,
})

const BATCH_LOCAL_PARTS = ["business", "disposable"] as const

/** An example of a feedback receipt. */
export const exampleFeedbackReceipt = (): FeedbackReceipt => ({
  id: "fb_7Yc2mQvTz0KdW4sNhLpR",
  status: "received",
  domain: "acme.com",
  current_category: "unknown",
  reported_category: "business",
})

/** An example of a job that is being checked. */
export const exampleJob = (): JobBody => ({
  id: "job_3fQb9LxWm2VtRz8KcN5y",
  name: "newsletter",
  state: "running",
  reason: null,
  format: "csv",
  column: null,
  policy: POLICY_DEFAULT,
  workspace: true,
  canonical: false,
  duplicates: false,
  columns: null,
  callback: "https://crm.example.com/mailkind",
  rows: {
    total: 100_000,
    done: 40_000,
    unreadable: 0,
    degraded: 12,
    skipped: 8,
    cleaned: 120,
    several: 3,
    wide: 0,
    duplicates: null,
  },
  problems: [{ reason: "free_provider", rows: 9000, first_row: 12 }],
  reading: EXAMPLE_READING,
  by_category: { ...NONE_BY_CATEGORY, business: 31_000, personal: 9000 },
  by_recommendation: { allow: 31_000, review: 9000, block: 0 },
  units_used: 40_000,
  results_bytes: 3_200_000,
  rows_per_second: 4000,
  seconds_left: 15,
  created_at: "2026-11-20T09:30:00.000Z",
  started_at: "2026-11-20T09:30:01.000Z",
  ended_at: null,
  expires_at: null,
})

/** An example of a callback secret that replaces another one. Its bytes are zeros. */
export const exampleCallbackSecret = (): CallbackSecretBody => ({
  secret: `whsec_${Buffer.alloc(CALLBACK_LIMITS.secretBytes).toString("base64")}`,
  former_until: "2026-11-21T09:30:00.000Z",
})

/** An example of a page of a block list. */
export const exampleOwnListPage = (): OwnListPage => ({
  entries: [
    {
      ...{ entry: "*.trial.example", shown_as: null, kind: "subdomains", domain: "trial.example", note: null },
      added_at: "2026-11-20T09:30:00.000Z",
    },
    {
      ...{ entry: "acme.com", shown_as: null, kind: "domain", domain: "acme.com", note: "a competitor" },
      added_at: "2026-11-20T09:30:00.000Z",
    },
  ],
  next: null,
  total: 2,
})

/** What becomes of three entries, of which one is new and one is none. */
export const exampleOwnListAddition = (): OwnListAddition => ({
  ...{ added: 1, present: 1, invalid: 1 },
  results: [
    { index: 0, status: "added", entry: "acme.com", shown_as: null, reason: null },
    { index: 1, status: "present", entry: "*.trial.example", shown_as: null, reason: null },
    { index: 2, status: "invalid", entry: null, shown_as: null, reason: "not_an_entry" },
  ],
})

/** What becomes of two entries, of which one is on the list. */
export const exampleOwnListRemoval = (): OwnListRemoval => ({
  ...{ removed: 1, absent: 1, invalid: 0 },
  results: [
    { index: 0, status: "removed", entry: "acme.com", shown_as: null, reason: null },
    { index: 1, status: "absent", entry: "*.trial.example", shown_as: null, reason: null },
  ],
})

/** An example of what a list would cost. */
export const exampleJobEstimate = (): JobEstimateBody => ({
  rows: 100_000,
  rows_skipped: 120,
  rows_cleaned: 845,
  unique_domains: 31_204,
  units_needed: 99_880,
  units_left: 250_000,
  columns: ["id", "email", "name"],
  other_columns: [],
  reading: EXAMPLE_READING,
})

const EXAMPLE_READING: ListReadingBody = {
  ...{
    format: "csv",
    encoding: "utf-8",
    delimiter: ",",
    header_line: 1,
    lines_above: 0,
    column_number: 2,
    kind: "email",
  },
}

const NONE_BY_CATEGORY = Object.fromEntries(
  CATEGORY_NAMES.map(category => [category, 0]),
) as Usage["today"]["by_category"] // `fromEntries` loses the type of the names

/** The usage of an account that made three checks today. */
export function exampleUsage(): Usage {
  const none = {
    used: 0,
    checks: 0,
    deep_checks: 0,
    batch_items: 0,
    feedback: 0,
    dry_runs: 0,
    rate_limited: 0,
    by_category: NONE_BY_CATEGORY,
    by_recommendation: { allow: 0, review: 0, block: 0 },
  }
  const used = {
    ...none,
    ...{ used: 3, checks: 3, by_category: { ...NONE_BY_CATEGORY, business: 2, personal: 1 } },
    by_recommendation: { allow: 2, review: 1, block: 0 },
  }
  const [free] = TIERS
  const today = Date.parse("2026-11-20")
  const dateOf = (daysAgo: number): string => new Date(today - daysAgo * DAY_MS).toISOString().slice(0, 10)
  const key = { id: "key_3fQb9LxWm2VtRz8KcN5y", name: "Server", last4: "x7Qd", used: 3 }
  return {
    tier: 0,
    limits: {
      requests_per_second: free.requestsPerSecond,
      in_flight: free.inFlight,
      daily_units: free.unitsPerDay,
      batch_items: LIMITS.batchItemsMax,
      keys: LIMITS.keysPerAccountMax,
    },
    today: {
      date: dateOf(0),
      ...used,
      remaining: free.unitsPerDay - used.used,
      lost: 0,
      publishable: { used: 0, remaining: LIMITS.publishableUnitsPerDay },
      resets_at: new Date(today + DAY_MS).toISOString(),
      by_key: [{ ...key, last_used_at: "2026-11-20T09:30:00.000Z" }],
    },
    daily: Array.from({ length: LIMITS.usageDays }, (_, daysAgo) => ({
      date: dateOf(daysAgo),
      ...(daysAgo === 0 ? used : none),
    })),
  }
}

/** The body of a problem with the extension members of its code. */
export const exampleProblem = (code: ProblemCode, baseUrl: string): ProblemBody =>
  problemBody(PROBLEM_EXAMPLES[code], baseUrl, EXAMPLE_REQUEST_ID)

/** The headers of a problem besides those of every response. */
export function problemHeaders(code: ProblemCode): Readonly<Record<string, string>> {
  const { extensions, headers } = PROBLEM_EXAMPLES[code]
  return {
    ...(extensions.retry_after === undefined ? {} : { "Retry-After": String(extensions.retry_after) }),
    ...headers,
  }
}

/** The health of a server without faults. */
export const exampleHealth = (): Health => ({
  status: "ok",
  version: API_VERSION,
  commit: "2f9b1c07d3ae",
  uptime_seconds: 86_400,
  lists: {
    version: "2026-11-20",
    built_at: "2026-11-20T06:00:00.000Z",
    age_seconds: 21_600,
    entries: Object.fromEntries(Object.keys(SETS).map(set => [set, 1000])),
    pinned: null,
    is_behind: false,
    waiting_until: null,
    files: { status: "ok", noticed_at: null },
    refresh: {
      status: "ok",
      refreshed_at: "2026-11-20T06:00:00.000Z",
      asked_at: "2026-11-20T06:00:00.000Z",
      sources: {
        "disposable-email-domains": { outcome: "taken", changed_at: "2026-11-20T06:00:00.000Z", left_out: 0 },
      },
    },
  },
  dns: { status: "ok" },
  database: { status: "ok", answered_ms_ago: 412 },
  clock: { status: "ok" },
})

/** The challenge that every 401 has (RFC 9110 §11.6.1). */
const AUTH_CHALLENGE = unauthorized(new Headers()).headers

const ALLOW_HEALTH = allowedMethods(ROUTES.getHealth.path) ?? ""

/** An example of each problem. A problem without a row does not compile. */
const PROBLEM_EXAMPLES: { readonly [C in ProblemCode]: Problem } = {
  invalid_input: invalidInput([{ pointer: "/policy", detail: INVALID_POLICY }]),
  unauthorized: unauthorized(new Headers()),
  invalid_key: new Problem(
    "invalid_key",
    "The key's checksum is wrong. Check that you copied the whole key.",
    {},
    AUTH_CHALLENGE,
  ),
  key_revoked: new Problem("key_revoked", "This key was revoked. Use another one.", {}, AUTH_CHALLENGE),
  forbidden_origin: new Problem("forbidden_origin", "This key does not allow this origin."),
  forbidden_network: new Problem("forbidden_network", "This key does not allow requests from your network."),
  terms_not_accepted: new Problem("terms_not_accepted", PROBLEMS.terms_not_accepted.cause),
  rate_limited: keylessTooFast(1),
  quota_exceeded: quotaExceeded(
    { needed: 5, remaining: 3, limit: TIERS[0].unitsPerDay },
    Date.parse("2026-11-21T00:00:00Z"),
    Date.parse("2026-11-20T18:00:00Z"),
  ),
  batch_too_large: tooManyItems(),
  payload_too_large: new Problem("payload_too_large", `The body is larger than ${LIMITS.bodyBytesMax} bytes.`, {
    limit: LIMITS.bodyBytesMax,
  }),
  unsupported_media_type: unsupportedList(),
  idempotency_mismatch: otherRequest(),
  idempotency_in_progress: stillRunning(),
  too_many_jobs: tooManyJobs("jobs"),
  own_lists_full: ownListsFull(),
  job_not_ready: jobNotReady("running"),
  range_not_satisfiable: rangeNotSatisfiable(4096),
  not_found: new Problem("not_found", "This path does not exist. The paths of the API begin with /v1."),
  method_not_allowed: new Problem(
    "method_not_allowed",
    `Use ${ALLOW_HEALTH} for this path.`,
    {},
    { Allow: ALLOW_HEALTH },
  ),
  overloaded: overloaded(),
  internal_error: new Problem(
    "internal_error",
    "Something went wrong on the server. The request id identifies the error in its log.",
  ),
  pass_required: passRequiredProblem(),
  banned: bannedProblem(3600),
  busy: busyProblem("2026-11-21T00:00:00.000Z", 21_600),
}
