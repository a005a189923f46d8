import { peek } from "bun"
import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Check, Question } from "../../check/check.ts"
import { type Outcome, reducedText } from "../../check/present.ts"
import { writtenResult } from "../../check/written.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { KnownKey } from "../../customers/keys/held-keys.ts"
import type { KeyRing } from "../../customers/keys/key-ring.ts"
import type { OwnLists } from "../../customers/own-lists/held-own-lists.ts"
import type { RateLimiter } from "../../customers/quota/rate-limiter.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Admit } from "../admission.ts"
import type { Answers } from "../answer.ts"
import { jsonBody, membersLater, membersOf, sentText } from "../body.ts"
import { type Caller, identify, keylessTooFast, unauthorized } from "../caller.ts"
import { Cohort, type Soon, type Way } from "../cohort.ts"
import type { Refuse } from "../errors.ts"
import type { Load } from "../load.ts"
import { metered } from "../metered-check.ts"
import type { Meter } from "../metrics/meter.ts"
import type { Pass } from "../pass.ts"
import { Problem } from "../problem.ts"
import { bodyInput, type Input, isTestInput, queryInput, questionOf } from "../question.ts"
import { tested } from "../tested-check.ts"
import { GET_CHECK, POST_CHECK, type Watch } from "../watch.ts"

type Needs = {
  readonly answers: Answers
  readonly check: Check
  readonly keys: KeyRing
  readonly admit: Admit
  readonly refuse: Refuse
  readonly ownLists: OwnLists
  readonly usage: UsageMeter
  readonly testDomain: string
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  readonly soon: Soon
  readonly watch: Watch
  readonly load: Load
  readonly meter: Meter
}

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond, isBurstWhole: true } as const

/** GET and POST /v1/check: one address, domain or URL. A refusal is an answer too: these never reject. */
export function checkEndpoints(
  needs: Needs,
): Readonly<Record<"GET" | "POST", (request: Request) => Promise<Response>>> {
  const cohort = new Cohort(needs.soon, needs.watch.stopwatch, WAY)
  return {
    GET: request => cohort.answered(taskOf(needs, request, GET_CHECK)),
    POST: request => cohort.answered(taskOf(needs, request, POST_CHECK)),
  }
}

/** A check that is asked for, with what is known of it so far. */
type Task = {
  readonly needs: Needs
  readonly request: Request
  readonly route: number
  /** Whether it counts as one that is under way. */
  isIn: boolean
  /** Who asks; null: somebody without a key, or that is not known yet. */
  known: KnownKey | null
  /** Null: nothing limits it, or it was not let in yet. */
  pass: Pass | null
  /** Null: it has none. */
  body: Promise<string | null> | null
  input: Input | null
  question: Question | null
  outcome: Outcome | null
}

const taskOf = (needs: Needs, request: Request, route: number): Task => ({
  needs,
  request,
  route,
  isIn: false,
  known: null,
  pass: null,
  body: null,
  input: null,
  question: null,
  outcome: null,
})

/** The steps stand in the order of `REFUSAL_ORDER`. */
const WAY: Way<Task> = {
  steps: [identified, admitted, read, asked, checked, written],
  refused: ({ needs, request, pass }, error) => {
    pass?.tellRefusal()
    return needs.refuse(error, request)
  },
  ended: ({ needs, route, isIn, known, pass, outcome }, response, tookMs) => {
    pass?.leave()
    if (isIn) needs.load.leave()
    needs.watch.answered(route, response, tookMs, known, outcome?.settled.verdict ?? null)
  },
}

function identified(task: Task): undefined | Promise<undefined | Response> {
  const { needs, request } = task
  const unseen = needs.load.enter()
  if (unseen !== null) throw unseen
  task.isIn = true
  const caller = identify(request.headers, needs.keys)
  return caller instanceof Promise ? caller.then(found => met(task, found)) : met(task, caller)
}

function met(task: Task, caller: Caller): undefined | Promise<Response> {
  task.known = caller
  return caller === null ? keylessAnswer(task) : undefined
}

/** The body is asked for here: what has come of it is there at the next step. */
function admitted(task: Task): undefined {
  const { needs, request, route } = task
  task.pass = needs.admit(request, knownOf(task), true)
  needs.load.refuseShed(false)
  if (route === POST_CHECK) task.body = sentText(request, LIMITS.bodyBytesMax, needs.load)
}

function read(task: Task): undefined | Promise<undefined> {
  const { request, body } = task
  if (body === null) {
    task.input = queryInput(request.url)
    return undefined
  }
  // Nearly all bodies come with their head, and are not waited for. One that was cut off is no text.
  const text: unknown = peek(body)
  if (typeof text !== "string") return readLate(task, body)
  task.input = bodyInput(membersOf(request, text))
  return undefined
}

async function readLate(task: Task, body: Promise<string | null>): Promise<undefined> {
  task.input = bodyInput(await membersLater(task.request, body))
}

function asked(task: Task): undefined {
  assert(task.input !== null, IN_ORDER)
  task.question = questionOf(task.input, task.needs.testDomain)
}

function checked(task: Task): undefined | Promise<undefined> {
  assert(task.question !== null, IN_ORDER)
  const outcome = check(task.needs, knownOf(task), task.pass, task.question)
  if (outcome instanceof Promise) return outcome.then(late => told(task, late))
  return told(task, outcome)
}

function told(task: Task, outcome: Outcome): undefined {
  task.outcome = outcome
}

/** Checks for somebody who was let in; null: nothing limits it. */
function check(needs: Needs, known: KnownKey, pass: Pass | null, question: Question): Outcome | Promise<Outcome> {
  // A test address costs nothing, and nobody's lists have it.
  if (question.subject.isTest) return tested(needs, question)
  const allowed = known.key.kind === "publishable" && question.deep ? { ...question, deep: false } : question
  return metered(needs, known, pass, allowed)
}

function written(task: Task): Response {
  const { needs, request, pass, outcome } = task
  assert(outcome !== null, IN_ORDER)
  const requestId = needs.answers.requestId(request)
  const isReduced = knownOf(task).key.kind === "publishable"
  const json = isReduced ? reducedText(outcome) : writtenResult(outcome, requestId)
  return needs.answers.written(json, requestId, 200, pass?.told())
}

const IN_ORDER = "steps are taken in their order"

function knownOf({ known }: Task): KnownKey {
  assert(known !== null, IN_ORDER)
  return known
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function keylessAnswer({ needs, request, route }: Task): Promise<Response> {
  const input =
    route === POST_CHECK
      ? await jsonBody(request, LIMITS.bodyBytesMax, needs.load).then(bodyInput, unreadable)
      : queryInput(request.url)
  if (input === null || !isTestInput(input, needs.testDomain)) throw unauthorized()
  const { waitS } = needs.keyless.admit(needs.clientOf(request), KEYLESS_RATE)
  if (waitS > 0) throw keylessTooFast(waitS)
  needs.load.refuseShed(false)
  const outcome = await tested(needs, questionOf(input, needs.testDomain))
  const requestId = needs.answers.requestId(request)
  return needs.answers.written(writtenResult(outcome, requestId), requestId)
}

function unreadable(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}
