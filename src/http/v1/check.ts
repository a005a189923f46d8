import { peek } from "bun"
import { assert } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import type { Check, CheckRequest } from "../../check/check.ts"
import { type CheckOutcome, reducedResultJson } from "../../check/result/result.ts"
import { writeResult } from "../../check/result/result-writer.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { KeyAuthenticator } from "../../customers/keys/key-authenticator.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Admit } from "../admission/admission.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { RequestLease } from "../admission/request-lease.ts"
import type { AccountLog } from "../metrics/account-log.ts"
import type { Meter } from "../metrics/meter.ts"
import { GET_CHECK_ROUTE, POST_CHECK_ROUTE, type RequestObserver } from "../metrics/request-observer.ts"
import { parseJsonBody, parseJsonBodyLater, readJsonBody, startReadingBody } from "../request/body.ts"
import { type Caller, identifyCaller, keylessTooFast, RefusedKey, unauthorized } from "../request/caller.ts"
import {
  type CheckInput,
  inputFromBody,
  inputFromQuery,
  isTestInput,
  parseCheckRequest,
} from "../request/check-input.ts"
import { hostProblem } from "../request/host.ts"
import { type NextTick, type Pipeline, RequestBatcher } from "../request/request-batcher.ts"
import type { RefusalHeaders } from "../response/caller-headers.ts"
import { corsHeaders, type ShareWithPage } from "../response/cors.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { Problem } from "../response/problem.ts"
import type { ToProblemResponse } from "../response/problem-response.ts"
import { checkTestAddress, runMeteredCheck } from "./metered-check.ts"

type CheckEndpointDeps = {
  readonly responses: JsonResponses
  readonly check: Check
  readonly keys: KeyAuthenticator
  readonly admit: Admit
  readonly toProblemResponse: ToProblemResponse
  readonly shareWithPage: ShareWithPage
  readonly refusalHeaders: RefusalHeaders
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly testDomain: string
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  readonly nextTick: NextTick
  readonly observer: RequestObserver
  readonly loadShedder: LoadShedder
  readonly meter: Meter
  readonly accountLog: AccountLog | null
}

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond, isBurstWhole: true } as const

/** Parsing takes more time than refusing does, so it is limited too. */
const KEYLESS_READ_RATE = {
  perSecond: LIMITS.keylessReadsPerSecond,
  burst: 2 * LIMITS.keylessReadsPerSecond,
  isBurstWhole: true,
} as const

/**
 * GET and POST /v1/check: one address, domain or URL. This file is the whole request, from its headers to the bytes of the
 * response: each stage of `PIPELINE` is a function below. The promises never reject, because a refusal is a response too.
 */
export function createCheckEndpoints(
  deps: CheckEndpointDeps,
): Readonly<Record<"GET" | "POST", (request: Request) => Promise<Response>>> {
  const batcher = new RequestBatcher(deps.nextTick, deps.observer.stopwatch, PIPELINE)
  const handle = (request: Request, route: number): Promise<Response> => {
    const response = batcher.handle(createTask(deps, request, route))
    return request.headers.has("origin") ? response.then(sent => deps.shareWithPage(request, sent)) : response
  }
  return {
    GET: request => handle(request, GET_CHECK_ROUTE),
    POST: request => handle(request, POST_CHECK_ROUTE),
  }
}

/** A request on its way through the pipeline. Each stage fills in the members that later stages read. */
type CheckTask = {
  readonly deps: CheckEndpointDeps
  readonly request: Request
  /** Index of the route in the metric label `route`. */
  readonly route: number
  /** Whether the request was counted by the load shedder, which must then be released. */
  holdsSlot: boolean
  /** Null before `identifyStage`, and for a request without a key. */
  caller: CallerCredentials | null
  /** Null before `admitStage`, and for a caller without limits. */
  lease: RequestLease | null
  /** Null for GET, and before `admitStage`. */
  body: Promise<Uint8Array> | null
  input: CheckInput | null
  checkRequest: CheckRequest | null
  outcome: CheckOutcome | null
}

const createTask = (deps: CheckEndpointDeps, request: Request, route: number): CheckTask => ({
  deps,
  request,
  route,
  holdsSlot: false,
  caller: null,
  lease: null,
  body: null,
  input: null,
  checkRequest: null,
  outcome: null,
})

/** The stages follow `REFUSAL_ORDER`, so the first refusal that applies is the one that is sent. */
const PIPELINE: Pipeline<CheckTask> = {
  stages: [identifyStage, admitStage, readStage, parseStage, checkStage, respondStage],
  onError: (task, error) => {
    const { deps, request, lease } = task
    if (error instanceof RefusedKey) task.caller = error.credentials
    lease?.attachRefusalHeaders()
    return deps.toProblemResponse(error, request)
  },
  onResponse: (task, response, tookMs) => {
    const { deps, request, route, holdsSlot, caller, lease, outcome } = task
    lease?.release()
    if (holdsSlot) deps.loadShedder.release()
    deps.observer.recordResponse(request, route, response, tookMs, caller, outcome?.judged.verdict ?? null)
    if (caller !== null)
      deps.accountLog?.recordCheck(request, route, response, tookMs, caller, outcome, isDeepFor(caller, task))
  },
}

/** Counts the request and finds out whose key it carries. May refuse with `invalid_input` (several hosts), `overloaded` or a problem of the key. */
function identifyStage(task: CheckTask): undefined | Promise<undefined | Response> {
  const { deps, request } = task
  const refusal = hostProblem(request) ?? deps.loadShedder.acquire()
  if (refusal !== null) throw refusal
  task.holdsSlot = true
  const caller = identifyCaller(request.headers, deps.keys)
  return caller instanceof Promise ? caller.then(known => acceptCaller(task, known)) : acceptCaller(task, caller)
}

function acceptCaller(task: CheckTask, caller: Caller): undefined | Promise<Response> {
  task.caller = caller
  return caller === null ? respondWithoutKey(task) : undefined
}

/**
 * Applies terms, origin and the caller's limits, then the limits of the server. It starts to read the body, which has mostly
 * arrived by the next stage.
 */
function admitStage(task: CheckTask): undefined {
  const { deps, request, route } = task
  task.lease = deps.admit(request, callerOf(task), true)
  deps.loadShedder.assertCapacity(false)
  if (route === POST_CHECK_ROUTE) task.body = startReadingBody(request, LIMITS.bodyBytesMax, deps.loadShedder)
}

/** Reads the input from the query or the body. May refuse with `payload_too_large` or `invalid_input`. */
function readStage(task: CheckTask): undefined | Promise<undefined> {
  const { request, body } = task
  if (body === null) {
    task.input = inputFromQuery(request.url)
    return undefined
  }
  // Nearly every body arrives together with the headers, so it is read without a wait. `peek` gives an error for a body that was cut off.
  const bytes: unknown = peek(body)
  if (!(bytes instanceof Uint8Array)) return readLateBody(task, body)
  task.input = inputFromBody(parseJsonBody(request, bytes))
  return undefined
}

async function readLateBody(task: CheckTask, body: Promise<Uint8Array>): Promise<undefined> {
  task.input = inputFromBody(await parseJsonBodyLater(task.request, body))
}

/** Validates the input. May refuse with `invalid_input`. */
function parseStage(task: CheckTask): undefined {
  assert(task.input !== null, STAGES_IN_ORDER)
  task.checkRequest = parseCheckRequest(task.input, task.deps.testDomain, limitedCallerId(callerOf(task)))
}

/** Charges the caller and checks. May refuse with `quota_exceeded`; waits only when the database or the network is needed. */
function checkStage(task: CheckTask): undefined | Promise<undefined> {
  assert(task.checkRequest !== null, STAGES_IN_ORDER)
  const outcome = runCheck(task.deps, callerOf(task), task.lease, task.checkRequest)
  if (outcome instanceof Promise) return outcome.then(resolved => setOutcome(task, resolved))
  return setOutcome(task, outcome)
}

function setOutcome(task: CheckTask, outcome: CheckOutcome): undefined {
  task.outcome = outcome
}

/** Checks for an admitted caller. A test address costs nothing and is on no own list. Throws, or rejects with, a `Problem`. */
export function runCheck(
  deps: Pick<CheckEndpointDeps, "check" | "ownLists" | "usage" | "meter" | "clock">,
  caller: CallerCredentials,
  lease: RequestLease | null,
  request: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  if (request.subject.isTest) return checkTestAddress(deps, request)
  const allowed = request.isDeep && !mayCheckDeeply(caller) ? { ...request, isDeep: false } : request
  return runMeteredCheck(deps, caller, lease, allowed)
}

const mayCheckDeeply = ({ key }: CallerCredentials): boolean => key.kind !== "publishable"

const isDeepFor = (caller: CallerCredentials, { checkRequest }: CheckTask): boolean =>
  checkRequest?.isDeep === true && mayCheckDeeply(caller)

/** Writes the result: reduced for a publishable key, complete for a secret one. */
function respondStage(task: CheckTask): Response {
  const { deps, request, lease, outcome } = task
  assert(outcome !== null, STAGES_IN_ORDER)
  const requestId = deps.responses.requestId(request)
  const isReduced = callerOf(task).key.kind === "publishable"
  const json = isReduced ? reducedResultJson(outcome) : writeResult(outcome, requestId)
  return deps.responses.serialized(json, requestId, 200, lease?.headers())
}

/** Whoever forges the origin of a publishable key must not slow down its account. */
const limitedCallerId = ({ key, account }: CallerCredentials): string =>
  key.kind === "publishable" ? key.id : account.id

const STAGES_IN_ORDER = "the stages of a check run in their order"

function callerOf({ caller }: CheckTask): CallerCredentials {
  assert(caller !== null, STAGES_IN_ORDER)
  return caller
}

/**
 * Without a key only a valid test address is checked, and pages of any origin may read the answer. Everything else, an invalid body too, is refused with `unauthorized`; a
 * body that is not sent, as `readKeylessBody` says.
 */
async function respondWithoutKey({ deps, request, route }: CheckTask): Promise<Response> {
  const client = deps.clientOf(request)
  const { waitS: readWaitS } = deps.keyless.admit(`reads of ${client}`, KEYLESS_READ_RATE)
  if (readWaitS > 0) throw keylessTooFast(readWaitS, LIMITS.keylessReadsPerSecond)
  const input =
    route === POST_CHECK_ROUTE
      ? await deps.loadShedder.readKeylessBody(client, () =>
          readJsonBody(request, LIMITS.bodyBytesMax, deps.loadShedder).then(inputFromBody, nullIfProblem),
        )
      : inputFromQuery(request.url)
  if (input === null || !isTestInput(input, deps.testDomain)) throw unauthorized(request.headers)
  const origin = request.headers.get("origin") || null
  const headers = origin === null ? null : { policy: null, remaining: "", other: corsHeaders(origin) }
  if (headers !== null) deps.refusalHeaders.set(request, headers)
  const { waitS } = deps.keyless.admit(client, KEYLESS_RATE)
  if (waitS > 0) throw keylessTooFast(waitS)
  deps.loadShedder.assertCapacity(false)
  const outcome = await checkTestAddress(deps, parseCheckRequest(input, deps.testDomain, null))
  const requestId = deps.responses.requestId(request)
  return deps.responses.serialized(writeResult(outcome, requestId), requestId, 200, headers)
}

function nullIfProblem(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}
