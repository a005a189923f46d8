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
import { jsonBody, membersOf, sentText, unread } from "../body.ts"
import { identify, keylessTooFast, unauthorized } from "../caller.ts"
import { Cohort, type Soon } from "../cohort.ts"
import type { Refuse } from "../errors.ts"
import type { Load } from "../load.ts"
import { metered } from "../metered-check.ts"
import type { Meter } from "../metrics/meter.ts"
import type { Pass } from "../pass.ts"
import { Problem } from "../problem.ts"
import { bodyInput, isTestInput, queryInput, questionOf } from "../question.ts"
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
  const cohort = new Cohort(needs.soon, needs.watch.stopwatch)
  return {
    GET: request => answer(needs, cohort, request, GET_CHECK),
    POST: request => answer(needs, cohort, request, POST_CHECK),
  }
}

/**
 * Answers a request of a route. Steps stand in the order of `REFUSAL_ORDER`. All of the way is one function that
 * waits only where it must: as small ones that called each other back it made sixty objects an answer, and now forty.
 */
async function answer(needs: Needs, cohort: Cohort, request: Request, route: number): Promise<Response> {
  const { load } = needs
  const sinceMs = await cohort.gathered()
  const unseen = load.enter()
  let known: KnownKey | null = null
  let pass: Pass | null = null
  let outcome: Outcome | null = null
  let response: Response
  try {
    if (unseen !== null) throw unseen
    const caller = identify(request.headers, needs.keys)
    known = caller instanceof Promise ? await caller : caller
    if (known === null) response = await keylessAnswer(needs, request, route)
    else {
      pass = needs.admit(request, known, true)
      load.refuseShed(false)
      let text: string | null = null
      try {
        if (route === POST_CHECK) text = await sentText(request, LIMITS.bodyBytesMax, load)
      } catch (error) {
        throw unread(error)
      }
      const input = route === POST_CHECK ? bodyInput(membersOf(request, text)) : queryInput(request.url)
      const checked = check(needs, known, pass, questionOf(input, needs.testDomain))
      outcome = checked instanceof Promise ? await checked : checked
      response = result(needs, request, known, pass, outcome)
    }
  } catch (error) {
    pass?.tellRefusal()
    response = needs.refuse(error, request)
  }
  pass?.leave()
  if (unseen === null) load.leave()
  needs.watch.answered(route, response, sinceMs, known, outcome?.settled.verdict ?? null)
  return response
}

/** Checks for somebody who was let in; null: nothing limits it. */
function check(needs: Needs, known: KnownKey, pass: Pass | null, question: Question): Outcome | Promise<Outcome> {
  // A test address costs nothing, and nobody's lists have it.
  if (question.subject.isTest) return tested(needs, question)
  const asked = known.key.kind === "publishable" && question.deep ? { ...question, deep: false } : question
  return metered({ needs, known, pass }, asked)
}

function result(needs: Needs, request: Request, known: KnownKey, pass: Pass | null, outcome: Outcome): Response {
  const requestId = needs.answers.requestId(request)
  const written = known.key.kind === "publishable" ? reducedText(outcome) : writtenResult(outcome, requestId)
  return needs.answers.written(written, requestId, 200, pass?.told())
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function keylessAnswer(needs: Needs, request: Request, route: number): Promise<Response> {
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
