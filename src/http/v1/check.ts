import type { Clock } from "../../base/clock.ts"
import type { Check } from "../../check/check.ts"
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
import { readJson } from "../body.ts"
import { identify, keylessTooFast, unauthorized } from "../caller.ts"
import { Cohort, type Give, type Soon } from "../cohort.ts"
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

/** Reads the input of a request and hands it to `use`; whatever fails, there too, goes to `fail`. */
type Read = <T>(asked: Asked, use: (input: Input) => T | Promise<T>, fail: (error: unknown) => T) => T | Promise<T>

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond, isBurstWhole: true } as const

/**
 * GET and POST /v1/check: one address, domain or URL. Steps stand in the order of `REFUSAL_ORDER`. A refusal is an answer
 * too: these never throw and never reject.
 */
export function checkEndpoints(
  needs: Needs,
): Readonly<Record<"GET" | "POST", (request: Request) => Promise<Response>>> {
  const { soon, watch } = needs
  const endpoint = (read: Read, route: number) => {
    const cohort = new Cohort(
      (request, give, sinceMs) => answer({ needs, request, route, sinceMs, give }, read),
      soon,
      watch.stopwatch,
    )
    return (request: Request) => cohort.answer(request)
  }
  return { GET: endpoint(fromQuery, GET_CHECK), POST: endpoint(fromBody, POST_CHECK) }
}

/** A request to be answered. */
type Asked = {
  readonly needs: Needs
  readonly request: Request
  /** Its position among routes. */
  readonly route: number
  readonly sinceMs: number
  readonly give: Give
}

/** Gives the answer on as soon as it is there: a caller who is known already waits for no promise but the body's. */
function answer(asked: Asked, read: Read): void {
  const { needs, request } = asked
  const unseen = needs.load.enter()
  if (unseen !== null) {
    tell(asked, null, needs.refuse(unseen, request), null)
    return
  }
  const refuse = (error: unknown): void => leave(asked, null, needs.refuse(error, request), null)
  try {
    const caller = identify(request.headers, needs.keys)
    if (!(caller instanceof Promise)) enter(asked, caller, read, refuse)
    else caller.then(known => enter(asked, known, read, refuse)).catch(refuse)
  } catch (error) {
    refuse(error)
  }
}

function enter(asked: Asked, known: KnownKey | null, read: Read, refuse: (error: unknown) => void): void {
  const { needs, request } = asked
  if (known === null) {
    keylessAnswer(asked, read).then(response => leave(asked, null, response, null), refuse)
    return
  }
  const entrant = { asked, needs, known, pass: needs.admit(request, known, true) }
  const shed = needs.load.refusal(false)
  if (shed !== null) refuseTo(entrant, shed)
  else
    void read(
      asked,
      input => answerTo(entrant, input),
      error => refuseTo(entrant, error),
    )
}

/** A request of somebody who was let in, and by what; null: nothing limits it. */
type Entrant = {
  readonly asked: Asked
  readonly needs: Needs
  readonly known: KnownKey
  readonly pass: Pass | null
}

function answerTo(entrant: Entrant, input: Input): void | Promise<void> {
  const { needs, known } = entrant
  const question = questionOf(input, needs.testDomain)
  // A test address costs nothing, and nobody's lists have it.
  if (question.subject.isTest) return tested(needs, question).then(outcome => tellTo(entrant, outcome))
  const asked = known.key.kind === "publishable" && question.deep ? { ...question, deep: false } : question
  const outcome = metered(entrant, asked)
  return outcome instanceof Promise ? outcome.then(found => tellTo(entrant, found)) : tellTo(entrant, outcome)
}

function tellTo({ asked, needs: { answers }, known, pass }: Entrant, outcome: Outcome): void {
  const requestId = answers.requestId(asked.request)
  const written = known.key.kind === "publishable" ? reducedText(outcome) : writtenResult(outcome, requestId)
  const response = answers.written(written, requestId, 200, pass?.told())
  pass?.leave()
  leave(asked, known, response, outcome)
}

function refuseTo({ asked, needs, known, pass }: Entrant, error: unknown): void {
  pass?.fail()
  leave(asked, known, needs.refuse(error, asked.request), null)
}

/** Answers a request that was taken in. */
function leave(asked: Asked, known: KnownKey | null, response: Response, outcome: Outcome | null): void {
  asked.needs.load.leave()
  tell(asked, known, response, outcome)
}

function tell(asked: Asked, known: KnownKey | null, response: Response, outcome: Outcome | null): void {
  const { needs, route, sinceMs, give } = asked
  needs.watch.answered(route, response, sinceMs, known, outcome?.settled.verdict ?? null)
  give(response)
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function keylessAnswer(asked: Asked, read: Read): Promise<Response> {
  const { needs, request } = asked
  const input = await read<Input | null>(asked, sent => sent, unreadable)
  if (input === null || !isTestInput(input, needs.testDomain)) throw unauthorized()
  const { waitS } = needs.keyless.admit(needs.clientOf(request), KEYLESS_RATE)
  if (waitS > 0) throw keylessTooFast(waitS)
  const shed = needs.load.refusal(false)
  if (shed !== null) throw shed
  const outcome = await tested(needs, questionOf(input, needs.testDomain))
  const requestId = needs.answers.requestId(request)
  return needs.answers.written(writtenResult(outcome, requestId), requestId)
}

function unreadable(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}

const fromQuery: Read = ({ request }, use, fail) => {
  try {
    const used = use(queryInput(request.url))
    return used instanceof Promise ? used.catch(fail) : used
  } catch (error) {
    return fail(error)
  }
}

const fromBody: Read = ({ request, needs }, use, fail) =>
  readJson(request, LIMITS.bodyBytesMax, needs.load, members => use(bodyInput(members)), fail)
