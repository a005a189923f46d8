/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { VNode } from "preact"
import type { Clock } from "../../../base/clock.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { FreeChecks, PassChange, Visit } from "../../../customers/free-checks/free-checks.ts"
import type { Answers } from "../../answer.ts"
import type { Bodies } from "../../body.ts"
import type { Refuse } from "../../errors.ts"
import { Problem } from "../../problem.ts"
import type { Assets } from "../assets.ts"
import type { Cookies } from "../cookies.ts"
import { type Form, readForm } from "../form.ts"
import { refuseForeign, refuseForeignRead } from "../own-origin.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances } from "../signed-in.ts"
import { type Asked, INPUT, NOT_ASKED, SOLUTION } from "./ask-form.tsx"
import { CheckerPage } from "./checker-page.tsx"
import { type FreeCheckNeeds, freeQuestion, freeResult } from "./free-result.ts"
import { PassPage } from "./pass-page.tsx"
import { banned, busy, passRequired, tooFast } from "./refusals.ts"

/** What the free checker is built from. */
export type CheckerRoutesNeeds = FreeCheckNeeds & {
  readonly answers: Answers
  readonly refuse: Refuse
  readonly pages: PageAnswers
  readonly files: Assets
  readonly cookies: Cookies
  readonly enter: Entrances
  readonly load: Bodies
  readonly baseUrl: () => string
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  /** Null: the operator offers none. */
  readonly freeChecks: FreeChecks | null
}

/** What the form of the first page sends, and the challenge of a pass. Refusals come in `CHECKER_REFUSAL_ORDER`. */
export function checkerRoutes(needs: CheckerRoutesNeeds) {
  const { answers, enter, clientOf } = needs
  return new Elysia({ normalize: false })
    .post(ROUTES.postHome.path, ({ request }) => enter.anybody(request, () => formAnswer(needs, request)), {
      parse: "none",
    })
    .get(ROUTES.getPassChallenge.path, async ({ request }) => {
      refuseForeignRead(request)
      const free = offered(needs)
      await welcome(needs, free, clientOf(request))
      return answers.json(await free.challenge(), answers.requestId(request))
    })
}

/** The checks that the operator offers. */
function offered({ freeChecks }: CheckerRoutesNeeds): FreeChecks {
  if (freeChecks === null) throw new Problem("not_found", "This server has no free checker.")
  return freeChecks
}

async function welcome({ clock }: CheckerRoutesNeeds, free: FreeChecks, client: string): Promise<void> {
  const found = await free.welcome(client)
  if (found.kind === "banned") throw banned(Math.ceil((found.untilMs - clock()) / 1000))
  if (found.kind === "too_fast") throw tooFast(found.waitS)
}

/** What was asked about, once it is known, and what the browser is told to keep; an answer has them whatever becomes of it. */
type Told = { asked: Asked; change: PassChange }

async function formAnswer(needs: CheckerRoutesNeeds, request: Request): Promise<Response> {
  refuseForeign(request, needs.baseUrl())
  const free = offered(needs)
  const told: Told = { asked: NOT_ASKED, change: null }
  try {
    const result = await checked(needs, free, request, told)
    return shown(needs, request, told, { result })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // A script that asks is told as the API tells.
    const { accept } = { accept: request.headers.get("accept") ?? "" }
    if (/\bjson\b/i.test(accept) && !/\bhtml\b/i.test(accept))
      return withCookie(needs, needs.refuse(error, request), told)
    return await refusalPage(needs, request, told, error)
  }
}

async function checked(
  needs: CheckerRoutesNeeds,
  free: FreeChecks,
  request: Request,
  told: Told,
): Promise<CheckResult> {
  const client = needs.clientOf(request)
  await welcome(needs, free, client)
  const form = await readForm(request, LIMITS.bodyBytesMax, needs.load)
  told.asked = { typed: form.text(INPUT), fault: null }
  const question = freeQuestion(needs, told.asked.typed)
  const requestId = needs.answers.requestId(request)
  // A test address costs nobody anything.
  if (question.subject.isTest) return await freeResult(needs, question, requestId)
  const giveBack = await granted(needs, free, visitOf(needs, request, client, form), told)
  try {
    return await freeResult(needs, question, requestId)
  } catch (fault) {
    await giveBack()
    throw fault
  }
}

const visitOf = ({ cookies }: CheckerRoutesNeeds, request: Request, client: string, form: Form): Visit => ({
  client,
  pass: cookies.read(request, "pass"),
  solution: form.text(SOLUTION),
})

/** Takes a check, and gives what gives it back. */
async function granted(
  { clock }: CheckerRoutesNeeds,
  free: FreeChecks,
  visit: Visit,
  told: Told,
): Promise<() => Promise<void>> {
  const found = await free.grant(visit)
  told.change = found.change
  switch (found.kind) {
    case "granted":
      return found.giveBack
    case "pass_required":
      throw passRequired()
    case "busy":
      throw busy(new Date(found.resetsAtMs).toISOString(), Math.ceil((found.resetsAtMs - clock()) / 1000))
  }
}

type ShownParts = { readonly refusal?: string | null; readonly result?: CheckResult; readonly problem?: Problem }

function shown(needs: CheckerRoutesNeeds, request: Request, told: Told, parts: ShownParts): Response {
  const { baseUrl, testDomain } = needs
  const page = (
    <CheckerPage
      baseUrl={baseUrl()}
      testDomain={testDomain}
      hasChecker={true}
      asked={told.asked}
      refusal={parts.refusal ?? null}
      result={parts.result ?? null}
    />
  )
  return withCookie(needs, answered(needs, request, page, parts.problem), told)
}

/** The page on which a refusal is told: that of the pass, else the checker's own with the sentence in its place. */
async function refusalPage(
  needs: CheckerRoutesNeeds,
  request: Request,
  told: Told,
  problem: Problem,
): Promise<Response> {
  const { detail } = problem
  switch (problem.code) {
    case "pass_required": {
      const page = <PassPage files={await passFiles(needs)} typed={told.asked.typed} />
      return withCookie(needs, answered(needs, request, page, problem), told)
    }
    case "invalid_input":
      return shown(needs, request, { ...told, asked: { ...told.asked, fault: detail } }, { problem })
    case "banned":
    case "rate_limited":
    case "busy":
      return shown(needs, request, told, { refusal: detail, problem })
    default:
      throw problem
  }
}

function answered({ pages }: CheckerRoutesNeeds, request: Request, page: VNode, problem?: Problem): Response {
  if (problem === undefined) return pages.page(page, request)
  const { retry_after: retryAfter } = problem.more
  return pages.page(page, request, {
    status: PROBLEMS[problem.code].status,
    headers: retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
  })
}

/** Has the browser keep the pass that it got, or forget the one that is over. */
function withCookie({ cookies }: CheckerRoutesNeeds, response: Response, { change }: Told): Response {
  if (change !== null) {
    const { secret } = change
    response.headers.append("Set-Cookie", secret === null ? cookies.erase("pass") : cookies.write("pass", secret))
  }
  return response
}

async function passFiles({ files }: CheckerRoutesNeeds) {
  const [widget, looks, worker, script] = await Promise.all([
    files.path("altcha.js"),
    files.path("altcha.css"),
    files.path("altcha-worker.js"),
    files.path("pass.js"),
  ])
  return { widget, looks, worker, script }
}
