import { Elysia } from "elysia"
import type { VNode } from "preact"
import type { Clock } from "../../../base/outside-world.ts"
import { detectSubjectKind, inputRefusal, parseSubject } from "../../../check/address/parse-subject.ts"
import { type Check, type CheckRequest, NO_OWN_LIST_MATCH, type OwnListMatch } from "../../../check/check.ts"
import { fullResult } from "../../../check/result/result.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { FreeCheckRequest, FreeChecks, PassChange } from "../../../customers/free-checks/free-checks.ts"
import type { OwnListCache } from "../../../customers/own-lists/own-list-cache.ts"
import type { BodyReservations } from "../../request/body.ts"
import type { JsonResponses } from "../../response/json-responses.ts"
import { invalidInput, Problem } from "../../response/problem.ts"
import type { ToProblemResponse } from "../../response/problem-response.ts"
import type { Assets } from "../assets.ts"
import type { Cookies } from "../cookies.ts"
import { readForm, type SubmittedForm } from "../form-body.ts"
import type { Guards } from "../guards.ts"
import type { PageResponses } from "../page-responses.ts"
import { assertSameOrigin, assertSameOriginFetch } from "../same-origin.ts"
import { bannedProblem, busyProblem, passRequiredProblem, rateLimitedProblem } from "./free-check-problems.ts"
import { type CheckFormState, EMPTY_CHECK_FORM, HomePage, INPUT_FIELD, SOLUTION_FIELD } from "./home-page.tsx"
import { PassPage } from "./pass-page.tsx"

/** @jsxImportSource preact */
/** What the free checker is built from. */
type FreeCheckRoutesDeps = FreeCheckDeps & {
  readonly responses: JsonResponses
  readonly toProblemResponse: ToProblemResponse
  readonly pages: PageResponses
  readonly files: Assets
  readonly cookies: Cookies
  readonly enter: Guards
  readonly loadShedder: BodyReservations
  readonly baseUrl: () => string
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  /** Null: the operator offers none. */
  readonly freeChecks: FreeChecks | null
}

/** What the form of the first page sends, and the challenge of a pass. Refusals come in `CHECKER_REFUSAL_ORDER`. */
export function freeCheckRoutes(needs: FreeCheckRoutesDeps) {
  const { responses, enter, clientOf } = needs
  return new Elysia({ normalize: false })
    .post(ROUTES.postHome.path, ({ request }) => enter.allowAnonymous(request, () => handleCheckForm(needs, request)), {
      parse: "none",
    })
    .get(ROUTES.getPassChallenge.path, async ({ request }) => {
      assertSameOriginFetch(request)
      const free = requireFreeChecks(needs)
      await admitClient(needs, free, clientOf(request))
      return responses.json(await free.challenge(), responses.requestId(request))
    })
}

/** The checks that the operator offers. */
function requireFreeChecks({ freeChecks }: FreeCheckRoutesDeps): FreeChecks {
  if (freeChecks === null) throw new Problem("not_found", "This server has no free checker.")
  return freeChecks
}

async function admitClient({ clock }: FreeCheckRoutesDeps, free: FreeChecks, client: string): Promise<void> {
  const found = await free.admit(client)
  if (found.kind === "banned") throw bannedProblem(Math.ceil((found.untilMs - clock()) / 1000))
  if (found.kind === "too_fast") throw rateLimitedProblem(found.waitS)
}

/** What was asked about, once it is known, and what the browser is told to keep; an answer has them whatever becomes of it. */
type FormProgress = { form: CheckFormState; passChange: PassChange }

async function handleCheckForm(needs: FreeCheckRoutesDeps, request: Request): Promise<Response> {
  assertSameOrigin(request, needs.baseUrl())
  const free = requireFreeChecks(needs)
  const told: FormProgress = { form: EMPTY_CHECK_FORM, passChange: null }
  try {
    const result = await checkSubmittedInput(needs, free, request, told)
    return homePageResponse(needs, request, told, { result })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // A script that asks is told as the API tells.
    const { accept } = { accept: request.headers.get("accept") ?? "" }
    if (/\bjson\b/i.test(accept) && !/\bhtml\b/i.test(accept))
      return withPassCookie(needs, needs.toProblemResponse(error, request), told)
    return await refusalResponse(needs, request, told, error)
  }
}

async function checkSubmittedInput(
  needs: FreeCheckRoutesDeps,
  free: FreeChecks,
  request: Request,
  told: FormProgress,
): Promise<CheckResult> {
  const client = needs.clientOf(request)
  await admitClient(needs, free, client)
  const form = await readForm(request, LIMITS.bodyBytesMax, needs.loadShedder)
  told.form = { input: form.text(INPUT_FIELD), error: null }
  const question = parseFreeCheckInput(needs, told.form.input)
  const requestId = needs.responses.requestId(request)
  // A test address costs nobody anything.
  if (question.subject.isTest) return await freeCheckResult(needs, question, requestId)
  const giveBack = await grantCheck(needs, free, freeCheckVisit(needs, request, client, form), told)
  try {
    return await freeCheckResult(needs, question, requestId)
  } catch (fault) {
    await giveBack()
    throw fault
  }
}

const freeCheckVisit = (
  { cookies }: FreeCheckRoutesDeps,
  request: Request,
  client: string,
  form: SubmittedForm,
): FreeCheckRequest => ({
  client,
  pass: cookies.read(request, "pass"),
  solution: form.text(SOLUTION_FIELD),
})

/** Takes a check, and gives what gives it back. */
async function grantCheck(
  { clock }: FreeCheckRoutesDeps,
  free: FreeChecks,
  visit: FreeCheckRequest,
  told: FormProgress,
): Promise<() => Promise<void>> {
  const found = await free.grant(visit)
  told.passChange = found.change
  switch (found.kind) {
    case "granted":
      return found.refund
    case "pass_required":
      throw passRequiredProblem()
    case "busy":
      throw busyProblem(new Date(found.resetsAtMs).toISOString(), Math.ceil((found.resetsAtMs - clock()) / 1000))
  }
}

type HomePageContent = { readonly error?: string | null; readonly result?: CheckResult; readonly problem?: Problem }

function homePageResponse(
  needs: FreeCheckRoutesDeps,
  request: Request,
  told: FormProgress,
  parts: HomePageContent,
): Response {
  const { baseUrl, testDomain } = needs
  const page = (
    <HomePage
      baseUrl={baseUrl()}
      testDomain={testDomain}
      hasChecker={true}
      form={told.form}
      error={parts.error ?? null}
      result={parts.result ?? null}
    />
  )
  return withPassCookie(needs, problemPageResponse(needs, request, page, parts.problem), told)
}

/** The page on which a refusal is told: that of the pass, else the checker's own with the sentence in its place. */
async function refusalResponse(
  needs: FreeCheckRoutesDeps,
  request: Request,
  told: FormProgress,
  problem: Problem,
): Promise<Response> {
  const { detail } = problem
  switch (problem.code) {
    case "pass_required": {
      const page = <PassPage assets={await passPageAssets(needs)} input={told.form.input} />
      return withPassCookie(needs, problemPageResponse(needs, request, page, problem), told)
    }
    case "invalid_input":
      return homePageResponse(needs, request, { ...told, form: { ...told.form, error: detail } }, { problem })
    case "banned":
    case "rate_limited":
    case "busy":
      return homePageResponse(needs, request, told, { error: detail, problem })
    default:
      throw problem
  }
}

function problemPageResponse(
  { pages }: FreeCheckRoutesDeps,
  request: Request,
  page: VNode,
  problem?: Problem,
): Response {
  if (problem === undefined) return pages.render(page, request)
  const { retry_after: retryAfter } = problem.extensions
  return pages.render(page, request, {
    status: PROBLEMS[problem.code].status,
    headers: retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
  })
}

/** Has the browser keep the pass that it got, or forget the one that is over. */
function withPassCookie({ cookies }: FreeCheckRoutesDeps, response: Response, { passChange }: FormProgress): Response {
  if (passChange !== null) {
    const { secret } = passChange
    response.headers.append("Set-Cookie", secret === null ? cookies.clear("pass") : cookies.write("pass", secret))
  }
  return response
}

async function passPageAssets({ files }: FreeCheckRoutesDeps) {
  const [widget, looks, worker, script] = await Promise.all([
    files.path("altcha.js"),
    files.path("altcha.css"),
    files.path("altcha-worker.js"),
    files.path("pass.js"),
  ])
  return { widget, looks, worker, script }
}

/** What a free check is made by. */
type FreeCheckDeps = { readonly check: Check; readonly ownLists: OwnListCache; readonly testDomain: string }

/** What a text asks: about an email, a URL or a domain, told apart as a batch does. Throws `invalid_input`, in words for people. */
function parseFreeCheckInput({ testDomain }: FreeCheckDeps, text: string): CheckRequest {
  const subject = parseSubject(detectSubjectKind(text), text, testDomain)
  const refusal = text.length > LIMITS.urlLengthMax ? "too_long" : inputRefusal(subject)
  if (refusal !== null) throw invalidInput([{ pointer: `/${INPUT_FIELD}`, detail: INPUT_ERRORS[refusal] }])
  return { subject, policy: POLICY_DEFAULT, isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }
}

/** Checks it. Rejects when the operator's lists cannot be read. */
async function freeCheckResult(
  { check, ownLists }: FreeCheckDeps,
  question: CheckRequest,
  requestId: string,
): Promise<CheckResult> {
  const { domain, normalized, isTest } = question.subject
  const ownListMatch =
    domain === null || isTest ? NO_OWN_LIST_MATCH : publicOwnListMatch(await ownLists.lookup(null, normalized, domain))
  return fullResult(await check({ ...question, ownListMatch }), requestId)
}

/** The operator's allow list holds for everybody. Whom the operator blocks is told to key holders alone: here anybody could try names. */
const publicOwnListMatch = ({ isOperatorAllowed }: OwnListMatch): OwnListMatch => ({
  ...NO_OWN_LIST_MATCH,
  isOperatorAllowed,
})

const INPUT_ERRORS = {
  empty: "Type an email address, a domain or a website.",
  control_character: "There is a character in it that cannot be seen and belongs in no address. Type it anew.",
  too_long: `That is too long: an address has at most ${LIMITS.addressBytesMax} characters, a domain ${LIMITS.domainBytesMax}, a website ${LIMITS.urlLengthMax}.`,
} as const
