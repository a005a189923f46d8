import type { Clock } from "../../base/clock.ts"
import type { Check } from "../../check/check.ts"
import { fullText, type Outcome, reducedText } from "../../check/present.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { KnownKey } from "../../customers/keys/held-keys.ts"
import type { KeyRing } from "../../customers/keys/key-ring.ts"
import type { OwnLists } from "../../customers/own-lists/held-own-lists.ts"
import type { RateLimiter } from "../../customers/quota/rate-limiter.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Admit } from "../admission.ts"
import type { Answers } from "../answer.ts"
import { readJson } from "../body.ts"
import { identify, unauthorized } from "../caller.ts"
import { Cohort, type Give, type Soon } from "../cohort.ts"
import type { Refuse } from "../errors.ts"
import { metered } from "../metered-check.ts"
import type { Pass } from "../pass.ts"
import { Problem } from "../problem.ts"
import { bodyInput, type Input, isTestInput, queryInput, questionOf } from "../question.ts"
import { tested } from "../tested-check.ts"

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
}

/** Reads the input of a request and hands it to `use`; whatever fails, there too, goes to `fail`. */
type Read = <T>(request: Request, use: (input: Input) => T | Promise<T>, fail: (error: unknown) => T) => T | Promise<T>

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond }

/**
 * GET and POST /v1/check: one address, domain or URL. Steps stand in the order of `REFUSAL_ORDER`. A refusal is an answer
 * too: these never throw and never reject.
 */
export function checkEndpoints(
  needs: Needs,
): Readonly<Record<"GET" | "POST", (request: Request) => Promise<Response>>> {
  const endpoint = (read: Read) => {
    const cohort = new Cohort((request, give) => answer(needs, request, read, give), needs.soon)
    return (request: Request) => cohort.answer(request)
  }
  return { GET: endpoint(fromQuery), POST: endpoint(fromBody) }
}

/** Gives the answer on as soon as it is there: a caller who is known already waits for no promise but the body's. */
function answer(needs: Needs, request: Request, read: Read, give: Give): void {
  const refuse = (error: unknown): void => give(needs.refuse(error, request))
  try {
    const caller = identify(request.headers, needs.keys)
    if (!(caller instanceof Promise)) enter(needs, request, caller, read, give, refuse)
    else caller.then(known => enter(needs, request, known, read, give, refuse)).catch(refuse)
  } catch (error) {
    refuse(error)
  }
}

function enter(
  needs: Needs,
  request: Request,
  known: KnownKey | null,
  read: Read,
  give: Give,
  refuse: (error: unknown) => void,
): void {
  if (known === null) {
    keylessAnswer(needs, request, read).then(give, refuse)
    return
  }
  const entrant = { needs, request, known, pass: needs.admit(request, known, true), give }
  void read(
    request,
    input => answerTo(entrant, input),
    error => refuseTo(entrant, error),
  )
}

/** A request of somebody who was let in, and by what; null: nothing limits it. */
type Entrant = {
  readonly needs: Needs
  readonly request: Request
  readonly known: KnownKey
  readonly pass: Pass | null
  readonly give: Give
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

function tellTo({ needs: { answers }, request, known, pass, give }: Entrant, outcome: Outcome): void {
  const requestId = answers.requestId(request)
  const text = known.key.kind === "publishable" ? reducedText(outcome) : fullText(outcome, requestId)
  const response = answers.text(text, requestId, 200, pass?.told())
  pass?.leave()
  give(response)
}

function refuseTo({ needs, request, pass, give }: Entrant, error: unknown): void {
  pass?.fail()
  give(needs.refuse(error, request))
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function keylessAnswer(needs: Needs, request: Request, read: Read): Promise<Response> {
  const input = await read<Input | null>(request, sent => sent, unreadable)
  if (input === null || !isTestInput(input, needs.testDomain)) throw unauthorized()
  const { waitS } = needs.keyless.admit(needs.clientOf(request), KEYLESS_RATE)
  if (waitS > 0) throw tooFast(waitS)
  const outcome = await tested(needs, questionOf(input, needs.testDomain))
  const requestId = needs.answers.requestId(request)
  return needs.answers.text(fullText(outcome, requestId), requestId)
}

function unreadable(error: unknown): null {
  if (error instanceof Problem) return null
  throw error
}

const fromQuery: Read = (request, use, fail) => {
  try {
    const used = use(queryInput(request.url))
    return used instanceof Promise ? used.catch(fail) : used
  } catch (error) {
    return fail(error)
  }
}

const fromBody: Read = (request, use, fail) =>
  readJson(request, LIMITS.bodyBytesMax, members => use(bodyInput(members)), fail)

const tooFast = (waitS: number): Problem =>
  new Problem("rate_limited", `Without a key ${LIMITS.keylessPerSecond} requests a second are answered.`, {
    retry_after: waitS,
    limit: LIMITS.keylessPerSecond,
  })
