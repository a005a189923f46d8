import { Elysia } from "elysia"
import type { Clock } from "../../base/clock.ts"
import { DAY_MS, dayOf } from "../../base/utc-day.ts"
import type { Check, Question, Standing } from "../../check/check.ts"
import { fullText, type Outcome, reducedText } from "../../check/present.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import { testProblem } from "../../contract/test-addresses.ts"
import type { KnownKey } from "../../customers/keys/held-keys.ts"
import type { KeyRing } from "../../customers/keys/key-ring.ts"
import type { OwnLists } from "../../customers/own-lists/held-own-lists.ts"
import type { RateLimiter } from "../../customers/quota/rate-limiter.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Admit } from "../admission.ts"
import type { Answers } from "../answer.ts"
import { jsonBody } from "../body.ts"
import { identify, unauthorized } from "../caller.ts"
import type { Pass } from "../pass.ts"
import { Problem } from "../problem.ts"
import { bodyInput, type Input, isTestInput, queryInput, questionOf } from "../question.ts"
import { failing, within } from "../within.ts"

type Needs = {
  readonly answers: Answers
  readonly check: Check
  readonly keys: KeyRing
  readonly admit: Admit
  readonly ownLists: OwnLists
  readonly usage: UsageMeter
  readonly testDomain: string
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
}

type Read = (request: Request) => Input | Promise<Input>

const KEYLESS_RATE = { perSecond: LIMITS.keylessPerSecond, burst: LIMITS.keylessPerSecond }

/** GET and POST /v1/check: one address, domain or URL. Steps stand in the order of `REFUSAL_ORDER`. */
export function checkRoutes(needs: Needs) {
  return new Elysia({ normalize: false })
    .get(ROUTES.getCheck.path, ({ request }) => answer(needs, request, fromQuery), { parse: "none" })
    .post(ROUTES.postCheck.path, ({ request }) => answer(needs, request, fromBody), { parse: "none" })
}

/** A caller who is known already waits for the body only: each further promise costs an answer a microsecond or two. */
function answer(needs: Needs, request: Request, read: Read): Response | Promise<Response> {
  const caller = identify(request.headers, needs.keys)
  if (caller instanceof Promise) return caller.then(known => entered(needs, request, known, read))
  return entered(needs, request, caller, read)
}

function entered(needs: Needs, request: Request, known: KnownKey | null, read: Read): Response | Promise<Response> {
  if (known === null) return keylessAnswer(needs, request, read)
  const pass = needs.admit(request, known, true)
  return readAnswer(needs, request, { known, pass }, read)
}

/** Who was let in, and by what; null: nothing limits it. */
type Entrant = { readonly known: KnownKey; readonly pass: Pass | null }

function readAnswer(needs: Needs, request: Request, entrant: Entrant, read: Read): Response | Promise<Response> {
  const { pass } = entrant
  const answered = (input: Input): Response | Promise<Response> =>
    pass === null
      ? checked(needs, request, input, entrant)
      : within(pass, () => checked(needs, request, input, entrant))
  const input = read(request)
  if (!(input instanceof Promise)) return answered(input)
  return pass === null ? input.then(answered) : input.then(answered, failing(pass))
}

function checked(needs: Needs, request: Request, input: Input, entrant: Entrant): Response | Promise<Response> {
  const question = questionOf(input, needs.testDomain)
  const { known } = entrant
  // A test address costs nothing, and nobody's lists have it.
  if (question.subject.isTest) return tested(needs, request, question, entrant)
  const asked = known.key.kind === "publishable" && question.deep ? { ...question, deep: false } : question
  const outcome = metered(needs, asked, entrant)
  if (outcome instanceof Promise) return outcome.then(found => written(needs, request, found, entrant))
  return written(needs, request, outcome, entrant)
}

async function tested(needs: Needs, request: Request, question: Question, entrant: Entrant | null): Promise<Response> {
  refuseAsTold(question.subject.localPart ?? "", needs.clock)
  return written(needs, request, await needs.check(question), entrant)
}

function written({ answers }: Needs, request: Request, outcome: Outcome, entrant: Entrant | null): Response {
  const requestId = answers.requestId(request)
  const text = entrant?.known.key.kind === "publishable" ? reducedText(outcome) : fullText(outcome, requestId)
  return answers.text(text, requestId, 200, entrant?.pass?.told())
}

/** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
async function keylessAnswer(needs: Needs, request: Request, read: Read): Promise<Response> {
  const input = await readable(request, read)
  if (input === null || !isTestInput(input, needs.testDomain)) throw unauthorized()
  const { waitS } = needs.keyless.admit(needs.clientOf(request), KEYLESS_RATE)
  if (waitS > 0) throw tooFast(waitS)
  return await tested(needs, request, questionOf(input, needs.testDomain), null)
}

const fromQuery: Read = request => queryInput(request.url)
const fromBody: Read = request => jsonBody(request, LIMITS.bodyBytesMax).then(bodyInput)

/** Checks at the cost of the caller's units, which are given back when the check fails, and counts what was done. */
function metered(
  { check, ownLists, usage }: Needs,
  question: Question,
  { known: { key, account }, pass }: Entrant,
): Outcome | Promise<Outcome> {
  const { subject, deep } = question
  const units = deep ? LIMITS.deepCheckUnits : 1
  const counted = (outcome: Outcome): Outcome => {
    usage.note(account.id, key, { kind: deep ? "deep_check" : "check", category: outcome.settled.verdict.category })
    return outcome
  }
  const refund = refunding(pass, units)
  const charged = pass?.charge(units)
  try {
    const standing =
      subject.domain === null ? question.standing : ownLists.standing(account.id, subject.normalized, subject.domain)
    if (!(charged instanceof Promise) && !(standing instanceof Promise)) {
      const outcome = check(withStanding(question, standing))
      return outcome instanceof Promise ? outcome.then(counted, refund) : counted(outcome)
    }
    const later = async (): Promise<Outcome> => {
      // Both are waited for: what was charged is known when the other has failed, and neither fails unheard.
      const [paid, found] = await Promise.allSettled([charged, standing])
      if (paid.status === "rejected") throw paid.reason
      if (found.status === "rejected") throw found.reason
      return counted(await check(withStanding(question, found.value)))
    }
    return later().catch(refund)
  } catch (error) {
    return refund(error)
  }
}

const withStanding = (question: Question, standing: Standing): Question => {
  const { blockedBy, isAllowed, isOperatorAllowed } = standing
  return blockedBy === null && !isAllowed && !isOperatorAllowed ? question : { ...question, standing }
}

/** What is refused was not charged; what fails by our own fault costs nothing. */
const refunding =
  (pass: Pass | null, units: number) =>
  (error: unknown): never => {
    if (!(error instanceof Problem)) pass?.refund(units)
    throw error
  }

async function readable(request: Request, read: Read): Promise<Input | null> {
  try {
    return await read(request)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

const tooFast = (waitS: number): Problem =>
  new Problem("rate_limited", `Without a key ${LIMITS.keylessPerSecond} requests a second are answered.`, {
    retry_after: waitS,
    limit: LIMITS.keylessPerSecond,
  })

/** Throws the problem that the local part of a test address asks for, if it asks for one. */
function refuseAsTold(localPart: string, clock: Clock): void {
  const row = testProblem(localPart)
  if (row === undefined) return
  const midnightMs = (dayOf(clock()) + 1) * DAY_MS
  const detail = "The test address asks for this problem."
  switch (row.code) {
    case "rate_limited":
      throw new Problem(row.code, detail, { retry_after: row.retryAfterSeconds, limit: LIMITS.keylessPerSecond })
    case "quota_exceeded":
      throw new Problem(row.code, detail, {
        retry_after: Math.ceil((midnightMs - clock()) / 1000),
        limit: 0,
        resets_at: new Date(midnightMs).toISOString(),
      })
    case "internal_error":
      throw new Problem(row.code, detail)
  }
}
