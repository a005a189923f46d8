import { Elysia } from "elysia"
import type { Clock } from "../../base/clock.ts"
import type { Check } from "../../check/check.ts"
import { fullText, type Outcome } from "../../check/present.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import { testProblem } from "../../contract/test-addresses.ts"
import type { KeyRing } from "../../customers/keys/key-ring.ts"
import type { RateLimiter } from "../../customers/quota/rate-limiter.ts"
import type { Answers } from "../answer.ts"
import { jsonBody } from "../body.ts"
import { type Caller, identify, unauthorized } from "../caller.ts"
import { Problem } from "../problem.ts"
import { bodyInput, type Input, isTestInput, queryInput, questionOf } from "../question.ts"

type Needs = {
  readonly answers: Answers
  readonly check: Check
  readonly keys: KeyRing
  readonly testDomain: string
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
}

type Read = (request: Request) => Input | Promise<Input>

/** GET and POST /v1/check: one address, domain or URL. Steps stand in the order of `REFUSAL_ORDER`. */
export function checkRoutes({ answers, check, keys, testDomain, keyless, clientOf, clock }: Needs) {
  /** A caller who is known already waits for the body only: each further promise costs an answer a microsecond or two. */
  const answer = (request: Request, read: Read): Response | Promise<Response> => {
    const caller = identify(request.headers, keys)
    if (caller instanceof Promise || caller.kind === "keyless") return answerSlowly(request, caller, read)
    const input = read(request)
    return input instanceof Promise ? input.then(whole => checked(request, whole)) : checked(request, input)
  }

  const answerSlowly = async (
    request: Request,
    identified: Caller | Promise<Caller>,
    read: Read,
  ): Promise<Response> => {
    const caller = await identified
    return checked(request, caller.kind === "keyless" ? await testInput(request, read) : await read(request))
  }

  const checked = (request: Request, input: Input): Response | Promise<Response> => {
    const question = questionOf(input, testDomain)
    if (question.subject.isTest) refuseAsTold(question.subject.localPart ?? "", clock)
    const requestId = answers.requestId(request)
    const told = (outcome: Outcome): Response => answers.text(fullText(outcome, requestId), requestId)
    const outcome = check(question)
    return outcome instanceof Promise ? outcome.then(told) : told(outcome)
  }

  /** Without a key only a readable test address is answered; everything else, a bad body too, is `unauthorized`. */
  const testInput = async (request: Request, read: Read): Promise<Input> => {
    const input = await readable(request, read)
    if (input === null || !isTestInput(input, testDomain)) throw unauthorized()
    const waitS = keyless.admit(clientOf(request))
    if (waitS > 0) throw tooFast(waitS)
    return input
  }

  return new Elysia({ normalize: false })
    .get(ROUTES.getCheck.path, ({ request }) => answer(request, fromQuery), { parse: "none" })
    .post(ROUTES.postCheck.path, ({ request }) => answer(request, fromBody), { parse: "none" })
}

const fromQuery: Read = request => queryInput(request.url)
const fromBody: Read = request => jsonBody(request, LIMITS.bodyBytesMax).then(bodyInput)

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
  const dayMs = 86_400_000
  const midnightMs = (Math.floor(clock() / dayMs) + 1) * dayMs
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
