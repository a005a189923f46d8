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
import type { Meter } from "../metrics/meter.ts"
import { GET_CHECK_ROUTE, POST_CHECK_ROUTE, type RequestObserver } from "../metrics/request-observer.ts"
import { parseJsonBody, parseJsonBodyLater, readBodyText, readJsonBody } from "../request/body.ts"
import { type Caller, identifyCaller, keylessTooFast, unauthorized } from "../request/caller.ts"
import {
  type CheckInput,
  inputFromBody,
  inputFromQuery,
  isTestInput,
  parseCheckRequest,
} from "../request/check-input.ts"
import { type NextTick, type Pipeline, RequestBatcher } from "../request/request-batcher.ts"
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
}

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond, isBurstWhole: true } as const

/** GET and POST /v1/check: one address, domain or URL. A refusal is an answer too: these never reject. */
export function createCheckEndpoints(
  needs: CheckEndpointDeps,
): Readonly<Record<"GET" | "POST", (request: Request) => Promise<Response>>> {
  const cohort = new RequestBatcher(needs.nextTick, needs.observer.stopwatch, PIPELINE)
  return {
    GET: request => cohort.handle(createTask(needs, request, GET_CHECK_ROUTE)),
    POST: request => cohort.handle(createTask(needs, request, POST_CHECK_ROUTE)),
  }
}

/** A check that is asked for, with what is known of it so far. */
type CheckTask = {
  readonly deps: CheckEndpointDeps
  readonly request: Request
  readonly route: number
  /** Whether it counts as one that is under way. */
  holdsSlot: boolean
  /** Who asks; null: somebody without a key, or that is not known yet. */
  caller: CallerCredentials | null
  /** Null: nothing limits it, or it was not let in yet. */
  lease: RequestLease | null
  /** Null: it has none. */
  body: Promise<string | null> | null
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

/** The steps stand in the order of `REFUSAL_ORDER`. */
const PIPELINE: Pipeline<CheckTask> = {
  stages: [identifyStage, admitStage, readStage, parseStage, checkStage, respondStage],
  onError: ({ deps, request, lease }, error) => {
    lease?.attachRefusalHeaders()
    return deps.toProblemResponse(error, request)
  },
  onResponse: ({ deps, route, holdsSlot, caller: known, lease, outcome }, response, tookMs) => {
    lease?.release()
    if (holdsSlot) deps.loadShedder.release()
    deps.observer.recordResponse(route, response, tookMs, known, outcome?.judged.verdict ?? null)
  },
}

function identifyStage(task: CheckTask): undefined | Promise<undefined | Response> {
  const { deps, request } = task
  const unseen = deps.loadShedder.acquire()
  if (unseen !== null) throw unseen
  task.holdsSlot = true
  const caller = identifyCaller(request.headers, deps.keys)
  return caller instanceof Promise ? caller.then(found => acceptCaller(task, found)) : acceptCaller(task, caller)
}

function acceptCaller(task: CheckTask, caller: Caller): undefined | Promise<Response> {
  task.caller = caller
  return caller === null ? respondWithoutKey(task) : undefined
}

/** The body is asked for here: what has come of it is there at the next step. */
function admitStage(task: CheckTask): undefined {
  const { deps, request, route } = task
  task.lease = deps.admit(request, keyOf(task), true)
  deps.loadShedder.assertCapacity(false)
  if (route === POST_CHECK_ROUTE) task.body = readBodyText(request, LIMITS.bodyBytesMax, deps.loadShedder)
}

function readStage(task: CheckTask): undefined | Promise<undefined> {
  const { request, body } = task
  if (body === null) {
    task.input = inputFromQuery(request.url)
    return undefined
  }
  // Nearly all bodies come with their head, and are not waited for. One that was cut off is no text.
  const text: unknown = peek(body)
  if (typeof text !== "string") return readLateBody(task, body)
  task.input = inputFromBody(parseJsonBody(request, text))
  return undefined
}

async function readLateBody(task: CheckTask, body: Promise<string | null>): Promise<undefined> {
  task.input = inputFromBody(await parseJsonBodyLater(task.request, body))
}

function parseStage(task: CheckTask): undefined {
  assert(task.input !== null, STAGES_IN_ORDER)
  task.checkRequest = parseCheckRequest(task.input, task.deps.testDomain)
}

function checkStage(task: CheckTask): undefined | Promise<undefined> {
  assert(task.checkRequest !== null, STAGES_IN_ORDER)
  const outcome = runCheck(task.deps, keyOf(task), task.lease, task.checkRequest)
  if (outcome instanceof Promise) return outcome.then(late => setOutcome(task, late))
  return setOutcome(task, outcome)
}

function setOutcome(task: CheckTask, outcome: CheckOutcome): undefined {
  task.outcome = outcome
}

/** Checks for somebody who was let in; null: nothing limits it. */
function runCheck(
  needs: CheckEndpointDeps,
  known: CallerCredentials,
  pass: RequestLease | null,
  question: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  // A test address costs nothing, and nobody's lists have it.
  if (question.subject.isTest) return checkTestAddress(needs, question)
  const allowed = known.key.kind === "publishable" && question.isDeep ? { ...question, isDeep: false } : question
  return runMeteredCheck(needs, known, pass, allowed)
}

function respondStage(task: CheckTask): Response {
  const { deps, request, lease, outcome } = task
  assert(outcome !== null, STAGES_IN_ORDER)
  const requestId = deps.responses.requestId(request)
  const isReduced = keyOf(task).key.kind === "publishable"
  const json = isReduced ? reducedResultJson(outcome) : writeResult(outcome, requestId)
  return deps.responses.serialized(json, requestId, 200, lease?.headers())
}

const STAGES_IN_ORDER = "steps are taken in their order"

function keyOf({ caller: known }: CheckTask): CallerCredentials {
  assert(known !== null, STAGES_IN_ORDER)
  return known
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function respondWithoutKey({ deps, request, route }: CheckTask): Promise<Response> {
  const input =
    route === POST_CHECK_ROUTE
      ? await readJsonBody(request, LIMITS.bodyBytesMax, deps.loadShedder).then(inputFromBody, nullIfProblem)
      : inputFromQuery(request.url)
  if (input === null || !isTestInput(input, deps.testDomain)) throw unauthorized()
  const { waitS } = deps.keyless.admit(deps.clientOf(request), KEYLESS_RATE)
  if (waitS > 0) throw keylessTooFast(waitS)
  deps.loadShedder.assertCapacity(false)
  const outcome = await checkTestAddress(deps, parseCheckRequest(input, deps.testDomain))
  const requestId = deps.responses.requestId(request)
  return deps.responses.serialized(writeResult(outcome, requestId), requestId)
}

function nullIfProblem(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}
