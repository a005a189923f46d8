import { peek } from "bun"
import { assert } from "../../base/errors.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import type { Check, CheckRequest } from "../../check/check.ts"
import { type CheckOutcome, reducedResult } from "../../check/result/result.ts"
import { writeResult } from "../../check/result/result-writer.ts"
import { ANSWER_PARTS } from "../../check/verdict/evidence-need.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../customers/quota/rate/rate-subject.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { callerOf, Exchange } from "../exchange.ts"
import type { Meter } from "../metrics/meter.ts"
import { parseJsonBody, parseJsonBodyLater, readJsonBody, startReadingBody } from "../request/body.ts"
import { keylessTooFast, unauthorized } from "../request/caller.ts"
import {
  type CheckInput,
  inputFromBody,
  inputFromQuery,
  isTestInput,
  parseCheckRequest,
} from "../request/check-input.ts"
import { type NextTick, type Pipeline, RequestBatcher } from "../request/request-batcher.ts"
import { corsHeaders } from "../response/cors.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { Problem } from "../response/problem.ts"
import { enter, finish, identify, refuseSafely, type StageDeps } from "../stages.ts"
import { checkTestAddress, runMeteredCheck, unitsOf } from "./metered-check.ts"

type CheckEndpointDeps = StageDeps & {
  readonly responses: JsonResponses
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly testDomain: string
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly nextTick: NextTick
  readonly meter: Meter
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
 * response: each stage of `PIPELINE` is a function below, and what it shares with other routes is in `stages.ts`. The promises never
 * reject, because a refusal is a response too.
 */
export function createCheckEndpoints(
  deps: CheckEndpointDeps,
): Readonly<Record<CheckRoute, (request: Request) => Promise<Response>>> {
  const batcher = new RequestBatcher(deps.nextTick, deps.stopwatch, PIPELINE)
  const handle = (request: Request, route: CheckRoute): Promise<Response> => {
    const response = batcher.handle(new CheckExchange(deps, request, route))
    return request.headers.has("origin") ? shareLater(deps, request, response) : response
  }
  return {
    getCheck: request => handle(request, "getCheck"),
    postCheck: request => handle(request, "postCheck"),
  }
}

type CheckRoute = "getCheck" | "postCheck"

/*
 * A function that holds a closure allocates what the closure captures whenever it is called, also when the closure is not made. So what is done
 * after a wait stands in functions of its own, here and in `admission/metered.ts`: a request leaves a third fewer objects behind.
 */
async function shareLater(
  { shareWithPage }: CheckEndpointDeps,
  request: Request,
  response: Promise<Response>,
): Promise<Response> {
  return await shareWithPage(request, await response)
}

/** A request for a single check, with what its stages leave behind for later ones. */
class CheckExchange extends Exchange {
  readonly deps: CheckEndpointDeps
  /** Null for GET, and before `admitStage`. */
  body: Promise<Uint8Array> | null = null
  input: CheckInput | null = null
  checkRequest: CheckRequest | null = null

  constructor(deps: CheckEndpointDeps, request: Request, route: CheckRoute) {
    super(request, deps.responses.requestId(request), route)
    this.deps = deps
  }
}

/** The stages follow `REFUSAL_ORDER`, so the first refusal that applies is the one that is sent. */
const PIPELINE: Pipeline<CheckExchange> = {
  stages: [identifyStage, admitStage, readStage, parseStage, checkStage, respondStage],
  onError: (exchange, error) => refuseSafely(exchange.deps, error, exchange),
  onResponse: (exchange, response, tookMs) => finish(exchange.deps, exchange, response, tookMs),
}

/** Counts the request and finds out whose key it carries. May refuse with `invalid_input` (several hosts), `overloaded` or a problem of the key. */
function identifyStage(exchange: CheckExchange): undefined | Promise<undefined | Response> {
  const { deps } = exchange
  enter(deps, exchange)
  const identified = identify(deps, exchange)
  if (identified instanceof Promise) return respondOnceIdentified(exchange, identified)
  return exchange.caller === null ? respondWithoutKey(exchange) : undefined
}

async function respondOnceIdentified(
  exchange: CheckExchange,
  identified: Promise<void>,
): Promise<undefined | Response> {
  await identified
  return exchange.caller === null ? await respondWithoutKey(exchange) : undefined
}

/**
 * Applies terms, origin and the caller's limits, then the limits of the server. It starts to read the body, which has mostly
 * arrived by the next stage.
 */
function admitStage(exchange: CheckExchange): undefined {
  const { deps, request, route } = exchange
  deps.admit(exchange, true)
  deps.loadShedder.assertCapacity(false)
  if (route === "postCheck") exchange.body = startReadingBody(request, LIMITS.bodyBytesMax, deps.loadShedder)
}

/** Reads the input from the query or the body. May refuse with `payload_too_large` or `invalid_input`. */
function readStage(exchange: CheckExchange): undefined | Promise<undefined> {
  const { request, body } = exchange
  if (body === null) {
    exchange.input = inputFromQuery(request.url)
    return undefined
  }
  // Nearly every body arrives together with the headers, so it is read without a wait. `peek` gives an error for a body that was cut off.
  const bytes: unknown = peek(body)
  if (!(bytes instanceof Uint8Array)) return readLateBody(exchange, body)
  exchange.input = inputFromBody(parseJsonBody(request, bytes))
  return undefined
}

async function readLateBody(exchange: CheckExchange, body: Promise<Uint8Array>): Promise<undefined> {
  exchange.input = inputFromBody(await parseJsonBodyLater(exchange.request, body))
}

/** Validates the input. May refuse with `invalid_input`. */
function parseStage(exchange: CheckExchange): undefined {
  assert(exchange.input !== null, STAGES_IN_ORDER)
  exchange.checkRequest = parseCheckRequest(
    exchange.input,
    exchange.deps.testDomain,
    limitedCallerId(callerOf(exchange)),
  )
}

/** Charges the caller and checks. May refuse with `quota_exceeded`; waits only when the database or the network is needed. */
function checkStage(exchange: CheckExchange): undefined | Promise<undefined> {
  assert(exchange.checkRequest !== null, STAGES_IN_ORDER)
  const outcome = runCheck(exchange.deps, exchange, exchange.checkRequest)
  return outcome instanceof Promise ? outcome.then(() => undefined) : undefined
}

/**
 * Checks for an admitted caller, and leaves the result with the exchange. A test address costs nothing and is on no own list. Throws, or
 * rejects with, a `Problem`.
 */
export function runCheck(
  deps: Pick<CheckEndpointDeps, "check" | "ownLists" | "usage" | "meter" | "clock">,
  exchange: Exchange,
  request: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  const isReduced = callerOf(exchange).key.kind === "publishable"
  const isDeep = request.isDeep && !isReduced
  const outcome = request.subject.isTest
    ? checkTestAddress(deps, request)
    : runMeteredCheck(deps, exchange, isReduced ? { ...request, isDeep, parts: ANSWER_PARTS.workspace } : request)
  return outcome instanceof Promise ? keepLater(exchange, outcome, isDeep) : keepOutcome(exchange, outcome, isDeep)
}

function keepOutcome(exchange: Exchange, outcome: CheckOutcome, isDeep: boolean): CheckOutcome {
  exchange.result = { units: unitsOf(outcome, isDeep), check: outcome, categoryCounts: null }
  return outcome
}

async function keepLater(exchange: Exchange, outcome: Promise<CheckOutcome>, isDeep: boolean): Promise<CheckOutcome> {
  return keepOutcome(exchange, await outcome, isDeep)
}

/** Writes the result: reduced for a publishable key, complete for a secret one. */
function respondStage(exchange: CheckExchange): Response {
  const { deps, id, lease, result } = exchange
  const outcome = result?.check ?? null
  assert(outcome !== null, STAGES_IN_ORDER)
  const isReduced = callerOf(exchange).key.kind === "publishable"
  const json = isReduced ? JSON.stringify(reducedResult(outcome)) : writeResult(outcome, id)
  return deps.responses.serialized(json, id, 200, lease?.headers())
}

/** Whoever forges the origin of a publishable key must not slow down its account. */
const limitedCallerId = ({ key, account }: CallerCredentials): string =>
  key.kind === "publishable" ? key.id : account.id

const STAGES_IN_ORDER = "the stages of a check run in their order"

/**
 * Without a key only a valid test address is checked, and pages of any origin may read the answer. Everything else, an invalid body too, is refused with `unauthorized`; a
 * body that is not sent, as `readKeylessBody` says.
 */
async function respondWithoutKey(exchange: CheckExchange): Promise<Response> {
  const { deps, request, id, route } = exchange
  const client = deps.clientOf(request)
  const { waitS: readWaitS } = deps.keyless.admit(rateSubject("keylessRead", client), KEYLESS_READ_RATE)
  if (readWaitS > 0) throw keylessTooFast(readWaitS, LIMITS.keylessReadsPerSecond)
  const input =
    route === "postCheck"
      ? await deps.loadShedder.readKeylessBody(client, () =>
          readJsonBody(request, LIMITS.bodyBytesMax, deps.loadShedder).then(inputFromBody, nullIfProblem),
        )
      : inputFromQuery(request.url)
  if (input === null || !isTestInput(input, deps.testDomain)) throw unauthorized(request.headers)
  const origin = request.headers.get("origin") || null
  if (origin !== null) exchange.callerHeaders = { policy: null, remaining: "", other: corsHeaders(origin) }
  const { waitS } = deps.keyless.admit(rateSubject("keyless", client), KEYLESS_RATE)
  if (waitS > 0) throw keylessTooFast(waitS)
  deps.loadShedder.assertCapacity(false)
  const outcome = await checkTestAddress(deps, parseCheckRequest(input, deps.testDomain, null))
  return deps.responses.serialized(writeResult(outcome, id), id, 200, exchange.callerHeaders)
}

function nullIfProblem(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}
