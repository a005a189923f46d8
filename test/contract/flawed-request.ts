import { JOB_LIMITS } from "../../src/contract/jobs.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { type ProblemCode, REFUSAL_ORDER } from "../../src/contract/problems.ts"
import { suspendAccount } from "../../src/customers/accounts/suspension.ts"
import { idempotencyKeyHash } from "../../src/customers/idempotency/body-mark.ts"
import { recordAnswer, reserveForJob } from "../../src/customers/idempotency/idempotent-requests.ts"
import { changeKey } from "../../src/customers/keys/key-changes.ts"
import { generateKey } from "../../src/customers/keys/key-format.ts"
import { NO_CEILING, NO_RESTRICTIONS } from "../../src/customers/keys/key-restrictions.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { publishTerms } from "../../src/customers/terms/terms.ts"
import { random } from "../customers/temp-store.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { settled } from "../support/time.ts"

type Step = (typeof REFUSAL_ORDER)[number]["step"]

/** The routes that take keys, each with a request that is answered, one whose input is bad, and a table that it cannot do without. */
export const KEYED_ROUTES = {
  getCheck: { method: "GET", good: "/v1/check?domain=stripe.com", bad: "/v1/check?domain=", reads: "own_list_entries" },
  postCheck: { method: "POST", good: "/v1/check", body: { domain: "stripe.com" }, reads: "own_list_entries" },
  postBatch: {
    method: "POST",
    good: "/v1/check/batch",
    body: { items: ["stripe.com"] },
    reads: "own_list_entries",
  },
  postFeedback: {
    method: "POST",
    good: "/v1/feedback",
    body: { domain: "stripe.com", expected_category: "personal" },
    reads: "feedback",
  },
  getUsage: { method: "GET", good: "/v1/usage", reads: "usage" },
  getRules: { method: "GET", good: "/v1/rules", reads: "accounts" },
  putRules: { method: "PUT", good: "/v1/rules", body: { rules: { personal: "block" } }, reads: "admin_acts" },
  postJob: { method: "POST", good: "/v1/jobs?dry=1", bad: "/v1/jobs?format=odd", list: "stripe.com\n", reads: "jobs" },
  getJobs: { method: "GET", good: "/v1/jobs", reads: "jobs" },
  getJob: { method: "GET", good: "/v1/jobs/job_1", reads: "jobs" },
  getJobResults: {
    method: "GET",
    good: "/v1/jobs/job_1/results",
    bad: "/v1/jobs/job_1/results?only=odd",
    reads: "jobs",
  },
  deleteJob: { method: "DELETE", good: "/v1/jobs/job_1", reads: "jobs" },
  postCallbackSecret: { method: "POST", good: "/v1/callback-secret", reads: "callback_secrets" },
  getBlockList: {
    method: "GET",
    good: "/v1/block-list",
    bad: "/v1/block-list?limit=many",
    reads: "own_list_entries",
  },
  postBlockList: { method: "POST", good: "/v1/block-list", body: { entries: ["acme.com"] }, reads: "own_list_entries" },
  deleteBlockList: {
    method: "DELETE",
    good: "/v1/block-list",
    body: { entries: ["acme.com"] },
    reads: "own_list_entries",
  },
  getAllowList: { method: "GET", good: "/v1/allow-list", bad: "/v1/allow-list?after=x", reads: "own_list_entries" },
  postAllowList: { method: "POST", good: "/v1/allow-list", body: { entries: ["acme.com"] }, reads: "own_list_entries" },
  deleteAllowList: {
    method: "DELETE",
    good: "/v1/allow-list",
    body: { entries: ["acme.com"] },
    reads: "own_list_entries",
  },
} as const
export type KeyedRoute = keyof typeof KEYED_ROUTES

const JOBS: readonly KeyedRoute[] = ["postJob", "getJobs", "getJob", "getJobResults", "deleteJob", "postCallbackSecret"]
const ADDITIONS: readonly KeyedRoute[] = ["postBlockList", "postAllowList"]
const LIST_CHANGES: readonly KeyedRoute[] = [...ADDITIONS, "deleteBlockList", "deleteAllowList"]
const OWN_LISTS: readonly KeyedRoute[] = [...LIST_CHANGES, "getBlockList", "getAllowList"]
const OTHERS: readonly KeyedRoute[] = ["postBatch", "postFeedback", "getUsage", "getRules", "putRules"]
const ALL: readonly KeyedRoute[] = ["getCheck", "postCheck", ...OTHERS, ...JOBS, ...OWN_LISTS]
const CHECKS: readonly KeyedRoute[] = ["getCheck", "postCheck"]
const SECRET_ONLY: readonly KeyedRoute[] = [...OTHERS, ...JOBS, ...OWN_LISTS]
const POSTS: readonly KeyedRoute[] = ["postCheck", "postBatch", "postFeedback", "putRules", ...LIST_CHANGES]
const ONCE: readonly KeyedRoute[] = ["postFeedback", "postJob", ...ADDITIONS]

/** What can be wrong with a request: which step refuses it, with which code, and the routes where it can be wrong. */
export const FLAWS = {
  no_such_path: { step: "path", code: "not_found", on: ALL },
  no_such_method: { step: "method", code: "method_not_allowed", on: ALL },
  no_key: { step: "key", code: "unauthorized", on: ALL },
  malformed_key: { step: "key", code: "invalid_key", on: ALL },
  mistyped_key: { step: "key", code: "invalid_key", on: ALL },
  unknown_key: { step: "key", code: "invalid_key", on: ALL },
  two_keys: { step: "key", code: "invalid_key", on: ALL },
  revoked_key: { step: "key", code: "key_revoked", on: ALL },
  suspended_account: { step: "key", code: "key_revoked", on: ALL },
  old_terms: { step: "terms", code: "terms_not_accepted", on: ALL },
  wrong_kind: { step: "kind of key for the endpoint", code: "invalid_key", on: SECRET_ONLY },
  wrong_origin: { step: "origin", code: "forbidden_origin", on: CHECKS },
  no_origin: { step: "origin", code: "forbidden_origin", on: CHECKS },
  wrong_network: { step: "origin", code: "forbidden_network", on: ALL },
  too_fast: { step: "requests per second, in flight", code: "rate_limited", on: ALL },
  too_many_at_once: { step: "requests per second, in flight", code: "rate_limited", on: ALL },
  overloaded: { step: "load of the server", code: "overloaded", on: ALL },
  too_large: { step: "size of the body", code: "payload_too_large", on: [...POSTS, "postJob"] },
  list_type: { step: "media type, JSON, input", code: "unsupported_media_type", on: ["postJob"] },
  media_type: { step: "media type, JSON, input", code: "invalid_input", on: POSTS },
  not_json: { step: "media type, JSON, input", code: "invalid_input", on: POSTS },
  bad_input: {
    step: "media type, JSON, input",
    code: "invalid_input",
    on: ["getCheck", ...POSTS, "postJob", "getJobResults", "getBlockList", "getAllowList"],
  },
  other_request: { step: "media type, JSON, input", code: "idempotency_mismatch", on: ONCE },
  running_request: { step: "media type, JSON, input", code: "idempotency_in_progress", on: ONCE },
  full_lists: { step: "media type, JSON, input", code: "own_lists_full", on: ADDITIONS },
  too_many_jobs: { step: "media type, JSON, input", code: "too_many_jobs", on: ["postJob"] },
  job_not_ready: { step: "media type, JSON, input", code: "job_not_ready", on: ["getJobResults"] },
  no_such_range: { step: "media type, JSON, input", code: "range_not_satisfiable", on: ["getJobResults"] },
  too_many_items: { step: "media type, JSON, input", code: "batch_too_large", on: ["postBatch", ...LIST_CHANGES] },
  no_units: { step: "units per day", code: "quota_exceeded", on: [...CHECKS, "postBatch", "postFeedback"] },
  broken_store: { step: "failure of the server", code: "internal_error", on: ALL },
} as const satisfies Record<
  string,
  { readonly step: Step; readonly code: ProblemCode; readonly on: readonly KeyedRoute[] }
>
export type Flaw = keyof typeof FLAWS

export const FLAW_NAMES = Object.keys(FLAWS) as Flaw[]

/** Where the flaw's step stands in the order of refusals. */
export const placeOf = (flaw: Flaw): number => REFUSAL_ORDER.findIndex(({ step }) => step === FLAWS[flaw].step)

/** Flaws of a key that was sent or known; without an active key of an account nothing more can be wrong with either. */
const NO_ACCOUNT: readonly Flaw[] = ["no_key", "malformed_key", "mistyped_key", "unknown_key", "two_keys"]
const OF_ACCOUNT: readonly Flaw[] = ["old_terms", "wrong_network", "too_fast", "too_many_at_once", "no_units"]
const OF_ORIGIN: readonly Flaw[] = ["wrong_origin", "no_origin"]
const OF_PUBLISHABLE: readonly Flaw[] = ["wrong_kind", ...OF_ORIGIN]

/** Whether one request to the route can have all of these flaws. */
export function canHave(route: KeyedRoute, flaws: readonly Flaw[]): boolean {
  const has = (some: readonly Flaw[]): boolean => some.some(flaw => flaws.includes(flaw))
  if (has(NO_ACCOUNT) && has([...OF_ACCOUNT, ...OF_PUBLISHABLE])) return false
  // Nothing limits how many requests of a publishable key are in flight.
  if (has(OF_PUBLISHABLE) && has(["too_many_at_once"])) return false
  // Networks are those of secret keys.
  if (has(OF_PUBLISHABLE) && has(["wrong_network"])) return false
  // How many jobs there are, and in which state, is known by the store alone.
  const ofStore: readonly Flaw[] = [
    "other_request",
    "running_request",
    "too_many_jobs",
    "job_not_ready",
    "no_such_range",
  ]
  if (has([...ofStore, "full_lists"]) && has(["broken_store"])) return false
  // A publishable key is the wrong one for some routes, whatever its origin.
  const isWrongKind = has(["wrong_kind"])
  return flaws.every(flaw => {
    const on: readonly KeyedRoute[] = FLAWS[flaw].on
    return on.includes(route) || (isWrongKind && OF_ORIGIN.includes(flaw) && SECRET_ONLY.includes(route))
  })
}

const PER_SECOND = 2
const IN_FLIGHT = 1
const UNITS = 5
const ALL_IN_FLIGHT = 10
const TIERS = `0=${PER_SECOND}/${IN_FLIGHT}/${UNITS}`
const PAGE = "https://shop.example"
const NOTICE_MS = LIMITS.termsNoticeDays * 86_400_000

type Harness = Awaited<ReturnType<typeof testApp>>
type SentKey = { readonly id: string; readonly text: string; readonly headers: Record<string, string> }

/** Sends a request with exactly these flaws to a fresh house, and gives what came back. */
export async function flawed(route: KeyedRoute, flaws: readonly Flaw[]): Promise<ApiResponse> {
  const harness = await testApp({ tier: 0, tiers: TIERS, inFlightMax: ALL_IN_FLIGHT })
  const isPublishable = OF_PUBLISHABLE.some(flaw => flaws.includes(flaw))
  const made = isPublishable ? await harness.newKey([PAGE]) : { id: harness.keyId, text: harness.key }
  const key: SentKey = { ...made, headers: isPublishable ? { Origin: PAGE } : {} }
  const release = await prepare(harness, key, flaws, isPublishable)
  await addJobs(harness, flaws)
  await addStored(harness, flaws)
  if (flaws.includes("broken_store")) {
    // The key is known, so that the route alone misses its table.
    if (!NO_ACCOUNT.some(flaw => flaws.includes(flaw))) await harness.customers.keys.lookup(key.text)
    await harness.store.run(`DROP TABLE ${KEYED_ROUTES[route].reads}`)
    harness.customers.ownLists.invalidateAll()
  }
  const answer = await harness.ask(...requestOf(route, key, flaws))
  await release()
  return answer
}

/** A job of the account that is done and has no rows, unless it is a flaw of it that it is not; and as many as it may have, if that is one. */
export async function addJobs(
  { store, accountId }: Pick<Harness, "store" | "accountId">,
  flaws: readonly Flaw[],
): Promise<void> {
  const count = flaws.includes("too_many_jobs") ? JOB_LIMITS.jobsPerAccountMax : 1
  const state = flaws.includes("job_not_ready") ? "queued" : "done"
  for (let at = 1; at <= count; at++)
    await store.run(
      `INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, file_key, created_at_ms)
       VALUES ($1, $2, 'key_1', $3, 'text', 1, 'b2b', 1, 'AAAA', 1)`,
      [`job_${at}`, accountId, state],
    )
}

/** What the account has sent with the key of the request before, and as many entries as it may have, if these are flaws of it. */
async function addStored({ store, accountId }: Harness, flaws: readonly Flaw[]): Promise<void> {
  const keyHash = idempotencyKeyHash(accountId, "again")
  if (flaws.includes("running_request")) await reserveForJob(store, { accountId, keyHash }, "job_1", 1)
  if (flaws.includes("other_request")) await recordAnswer(store, { accountId, keyHash, bodyMac: "another" }, "{}", 1)
  if (flaws.includes("full_lists"))
    await store.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
       INSERT INTO own_list_entries (owner, account_id, list, entry, added_at_ms) SELECT $1, $1, 'allow', n || '.example', 1 FROM numbers`,
      [accountId, LIMITS.ownListEntriesMax],
    )
}

/** Brings the account and the key into the state of the flaws; what it gives lets go of the request that is held in flight. */
async function prepare(
  harness: Harness,
  key: SentKey,
  flaws: readonly Flaw[],
  isPublishable: boolean,
): Promise<() => Promise<void>> {
  const { changes, customers, time } = harness
  if (flaws.includes("old_terms")) {
    await publishTerms(changes, { version: "2", url: "https://mailkind.example/terms", isMaterial: true })
    await settled()
    // The last moment at which the account is let in: what is used up now is used up still when its time is over.
    await time.tick(NOTICE_MS - 1)
  }
  if (flaws.includes("no_units")) {
    const perDay = isPublishable ? LIMITS.publishableUnitsPerDay : UNITS
    await customers.units.take(isPublishable ? key.id : harness.accountId, perDay, perDay)
  }
  const release = flaws.includes("too_many_at_once") ? await held(harness) : async () => undefined
  if (flaws.includes("too_fast")) await outrun(harness, key)
  // As many as may be served are, and one more comes.
  if (flaws.includes("overloaded")) for (let count = 0; count < ALL_IN_FLIGHT; count++) harness.load.acquire()
  if (flaws.includes("wrong_network"))
    await changeKey(
      changes,
      key.id,
      { restrictions: { ...NO_RESTRICTIONS, networks: ["198.51.100.0/24"] } },
      NO_CEILING,
    )
  if (flaws.includes("revoked_key")) await revokeKey(changes, key.id, "owner")
  if (flaws.includes("suspended_account")) await suspendAccount(changes, harness.accountId, "")
  if (flaws.includes("old_terms")) await time.tick(1)
  return release
}

/** Keeps one request in flight: the end of its body does not come until it is let go. */
async function held({ ask, customers }: Harness): Promise<() => Promise<void>> {
  let end = (): void => undefined
  const body = new ReadableStream({
    start: controller => {
      end = () => controller.close()
    },
  })
  const answer = ask("POST /v1/check", { body })
  for (let turn = 0; customers.inFlight.callersCount === 0 && turn < 100; turn++) await settled()
  return async () => {
    end()
    await answer
  }
}

const FASTER_THAN_ANY = 50

/** Asks until the caller is told to wait. */
async function outrun({ ask }: Harness, { text, headers }: SentKey): Promise<void> {
  for (let count = 0; count < FASTER_THAN_ANY; count++) {
    const { status } = await ask("GET /v1/check?email=business@mailkind.test", { key: text, headers })
    if (status === 429) return
  }
  throw new Error("nobody was told to wait")
}

const AGAIN: readonly Flaw[] = ["other_request", "running_request"]

function requestOf(
  route: KeyedRoute,
  { text, headers: ofPage }: SentKey,
  flaws: readonly Flaw[],
): Parameters<Harness["ask"]> {
  const has = (flaw: Flaw): boolean => flaws.includes(flaw)
  const { method, ...more } = KEYED_ROUTES[route]
  const path = pathOf(route, flaws)
  const headers: Record<string, string> = { ...ofPage }
  if (has("wrong_origin")) headers["Origin"] = "https://shop.example.evil.example"
  if (has("no_origin")) delete headers["Origin"]
  if (has("two_keys")) headers["X-API-Key"] = generateKey("secret", random)
  if (has("media_type")) headers["Content-Type"] = "text/plain"
  if (AGAIN.some(has)) headers["Idempotency-Key"] = "again"
  if (has("list_type")) headers["Content-Type"] = "image/png"
  if (has("no_such_range")) headers["Range"] = "bytes=1000-"
  const body = "body" in more ? { body: bodyOf(more.body, flaws) } : "list" in more ? { body: more.list } : {}
  // As clients do over a socket: a body that is too large is refused before it is read.
  if (body.body !== undefined) headers["Content-Length"] = String(Buffer.byteLength(body.body))
  if (route === "postJob" && has("too_large")) headers["Content-Length"] = "1000000000"
  const sentPath = has("no_such_path") ? path.replace("/v1/", "/v2/") : path
  return [`${has("no_such_method") ? "PATCH" : method} ${sentPath}`, { headers, key: keySent(text, flaws), ...body }]
}

function pathOf(route: KeyedRoute, flaws: readonly Flaw[]): string {
  const { good, ...more } = KEYED_ROUTES[route]
  if (flaws.includes("bad_input") && "bad" in more) return more.bad
  // The limits of jobs do not hold for one that is only estimated, whose store is not read either.
  const stored: readonly Flaw[] = ["other_request", "running_request", "too_many_jobs", "broken_store"]
  const isStored = stored.some(flaw => flaws.includes(flaw))
  return route === "postJob" && isStored ? "/v1/jobs" : good
}

function keySent(text: string, flaws: readonly Flaw[]): string | null {
  if (flaws.includes("no_key")) return null
  if (flaws.includes("malformed_key")) return "nonsense"
  if (flaws.includes("unknown_key")) return generateKey("secret", random)
  return flaws.includes("mistyped_key") ? text.replace(/.$/, last => (last === "a" ? "b" : "a")) : text
}

/** White space at the end is part of no JSON text, so that a body is too large and nothing else. */
function bodyOf(body: object, flaws: readonly Flaw[]): string {
  const isBatch = "items" in body
  const isList = "entries" in body
  const many = Array(LIMITS.ownListRequestEntriesMax + 1).fill("stripe.com")
  const bad = isBatch
    ? { items: null }
    : isList
      ? { entries: [1] }
      : "rules" in body
        ? { rules: null }
        : { domain: null }
  const sent = {
    ...body,
    ...(flaws.includes("bad_input") ? bad : {}),
    ...(flaws.includes("too_many_items") ? (isList ? { entries: many } : { items: many }) : {}),
  }
  const text = flaws.includes("not_json") ? "{" : JSON.stringify(sent)
  return flaws.includes("too_large") ? text.padEnd(bytesMaxOf(body) + 1) : text
}

const bytesMaxOf = (body: object): number =>
  "entries" in body ? LIMITS.ownListBodyBytesMax : "items" in body ? LIMITS.batchBodyBytesMax : LIMITS.bodyBytesMax
