/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { Clock } from "../../../base/clock.ts"
import type { Check, Question } from "../../../check/check.ts"
import { fullResult, type Outcome } from "../../../check/present.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS, type ProblemCode } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { HeldAccount } from "../../../customers/keys/held-keys.ts"
import type { OwnLists } from "../../../customers/own-lists/held-own-lists.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import type { UsageMeter } from "../../../customers/usage/usage-meter.ts"
import type { Admit } from "../../admission.ts"
import type { Answers } from "../../answer.ts"
import { metered } from "../../metered-check.ts"
import type { Meter } from "../../metrics/meter.ts"
import { Problem } from "../../problem.ts"
import { tested } from "../../tested-check.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { askedIn, NEW_TRY, type TryEntry, tryEntryOf } from "./try-form.ts"
import { TryPage } from "./try-page.tsx"

/** What the box is built from. */
export type TryRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly answers: Answers
  readonly check: Check
  readonly admit: Admit
  readonly ownLists: OwnLists
  readonly usage: UsageMeter
  readonly meter: Meter
  readonly testDomain: string
  readonly clock: Clock
}

/** The box that checks for who is signed in: by the account's own lists, limits and units, as its secret keys do. */
export function tryRoutes(needs: TryRoutesNeeds) {
  const { enter } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.tryIt.path, ({ request }) =>
      enter.account.page(request, async visitor => (
        <TryPage visitor={visitor} entry={NEW_TRY} fault={null} refusal={null} result={null} />
      )),
    )
    .post(
      ROUTES.postTryIt.path,
      ({ request }) =>
        enter.account.form(request, (visitor, form) => answered(needs, request, visitor, tryEntryOf(form))),
      { parse: "none" },
    )
}

async function answered(needs: TryRoutesNeeds, request: Request, visitor: Visitor, entry: TryEntry) {
  const { pages, answers, testDomain } = needs
  const asked = askedIn(entry, testDomain)
  const blank = { visitor, entry, fault: null, refusal: null, result: null }
  if ("field" in asked)
    return pages.page(<TryPage {...blank} fault={asked} />, request, { status: PROBLEMS.invalid_input.status })
  const outcome = await checked(needs, request, visitor.account, asked).catch(refusalIn)
  if (!(outcome instanceof Problem))
    return <TryPage {...blank} result={fullResult(outcome, answers.requestId(request))} />
  const { code, detail, more } = outcome
  return pages.page(<TryPage {...blank} refusal={`${detail} ${WAYS_OUT[code] ?? ""}`} />, request, {
    status: PROBLEMS[code].status,
    headers: more.retry_after === undefined ? {} : { "Retry-After": String(more.retry_after) },
  })
}

/** A refusal is shown beside the box, so that what was typed is kept; what else failed goes on. */
function refusalIn(error: unknown): Problem {
  if (error instanceof Problem && WAYS_OUT[error.code] !== undefined) return error
  throw error
}

/** What to do about the refusals that may come of a check. */
const WAYS_OUT: { readonly [C in ProblemCode]?: string } = {
  rate_limited: "Wait a moment, then try again.",
  quota_exceeded: `A deep check takes ${LIMITS.deepCheckUnits} of them, any other one. They come back at 00:00 UTC.`,
  terms_not_accepted: "Accept them, then try again.",
}

/** A caller like one with a secret key: the same terms, rate, requests in flight and units as all of the account's. */
async function checked(
  needs: TryRoutesNeeds,
  request: Request,
  account: HeldAccount,
  question: Question,
): Promise<Outcome> {
  const known = { kind: "active", key: { ...SITE_KEY, origins: [] }, account } as const
  const pass = needs.admit(request, known, false)
  try {
    // A test address costs nothing, and nobody's lists have it.
    return await (question.subject.isTest ? tested(needs, question) : metered(needs, known, pass, question))
  } catch (error) {
    pass?.tellRefusal()
    throw error
  } finally {
    pass?.leave()
  }
}
