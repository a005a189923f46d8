/** @jsxImportSource preact */
import type { VNode } from "preact"
import type { CheckRequest } from "../../../check/check.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_DEFAULT, POLICY_NAMES } from "../../../contract/policies.ts"
import type { FreeChecks } from "../../../customers/free-checks/free-checks.ts"
import type { PassChange } from "../../../customers/free-checks/passes.ts"
import { charged, type UnitCharge } from "../../admission/metered.ts"
import type { Exchange } from "../../exchange.ts"
import {
  bannedProblem,
  busyProblem,
  passRequiredProblem,
  rateLimitedProblem,
} from "../../response/free-check-problems.ts"
import { invalidInput, Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { displayedVerdict } from "../displayed-verdict.ts"
import { readForm, type SubmittedForm } from "../form-body.ts"
import { canSolveChallenge, passPageAssets, SOLUTION_FIELD, withPassCookie } from "../pass.tsx"
import { assertSameOrigin, assertSameOriginFetch } from "../same-origin.ts"
import type { SiteContext } from "../site-context.ts"
import { parseTyped } from "../typed-subject.ts"
import type { CheckedVerdict } from "../ui/verdict/verdict-card.tsx"
import { type Examples, freeCheckRequest, publicOwnListMatch } from "./examples.ts"
import { type CheckFormState, EMPTY_CHECK_FORM, INPUT_FIELD, type RenderHomePage } from "./home-page.tsx"
import { EXAMPLE_FIELD } from "./home-sections.tsx"
import { PassPage } from "./pass-page.tsx"
import { ResultPage } from "./result-page.tsx"

type FreeCheckSite = SiteContext & { readonly examples: Examples; readonly homePage: RenderHomePage }

/** The free checker: the form of the home page, and the challenge of a pass. Refusals come in `CHECKER_REFUSAL_ORDER`. */
export function freeCheckRoutes(site: FreeCheckSite) {
  const { responses, guards, clientOf } = site
  return handlers({
    postHome: exchange => guards.allowAnonymous(exchange, () => handleCheckForm(site, exchange)),
    getPassChallenge: async exchange => {
      assertSameOriginFetch(exchange.request)
      const freeChecks = requireFreeChecks(site)
      await admitClient(freeChecks, clientOf(exchange.request))
      return responses.json(await freeChecks.challenge(), exchange.id)
    },
  })
}

/** What the response needs whether the check succeeds or not: the form to display again, and the change of the pass cookie. */
type FormProgress = { form: CheckFormState; passChange: PassChange }

async function handleCheckForm(site: FreeCheckSite, exchange: Exchange): Promise<Response> {
  assertSameOrigin(exchange.request, site.baseUrl())
  const freeChecks = requireFreeChecks(site)
  const progress: FormProgress = { form: EMPTY_CHECK_FORM, passChange: null }
  return withPassCookie(site.cookies, await checkResponse(site, freeChecks, exchange, progress), progress.passChange)
}

async function checkResponse(
  site: FreeCheckSite,
  freeChecks: FreeChecks,
  exchange: Exchange,
  progress: FormProgress,
): Promise<Response> {
  const isForScript = acceptsJsonAlone(exchange.request)
  try {
    const verdict = await checkSubmittedForm(site, freeChecks, exchange, progress)
    if (isForScript) return site.responses.json(verdict.result, exchange.id)
    return site.pages.render(<ResultPage input={progress.form.input} verdict={verdict} />, exchange)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (isForScript) return site.toProblemResponse(error, exchange)
    return site.pages.renderProblem(await problemPage(site, exchange, progress.form, error), exchange, error)
  }
}

/** A script of our pages, such as the form demo of the guide, gets the result or the problem as the API sends it. */
function acceptsJsonAlone({ headers }: Request): boolean {
  const accept = headers.get("accept") ?? ""
  return /\bjson\b/i.test(accept) && !/\bhtml\b/i.test(accept)
}

async function checkSubmittedForm(
  site: FreeCheckSite,
  freeChecks: FreeChecks,
  exchange: Exchange,
  progress: FormProgress,
): Promise<CheckedVerdict> {
  const client = site.clientOf(exchange.request)
  const { loadShedder } = site
  const readBody = () =>
    loadShedder.readKeylessBody(client, () => readForm(exchange.request, LIMITS.bodyBytesMax, loadShedder))
  await admitClient(freeChecks, client).catch(async (error: unknown) => {
    // The page of a refusal shows what was typed. A banned client costs no body.
    if (error instanceof Problem && error.code === "rate_limited")
      progress.form = await readBody().then(typedForm, () => EMPTY_CHECK_FORM)
    throw error
  })
  const form = await readBody()
  progress.form = typedForm(form)
  const checkRequest = parseFreeCheckInput(site, progress.form, client)
  const isFree = checkRequest.subject.isTest || site.examples.has(form.text(EXAMPLE_FIELD))
  const charge = freeCharge(site, freeChecks, exchange, client, form, progress)
  return await charged(charge, isFree ? 0 : 1, () => freeCheckResult(site, checkRequest, exchange.id))
}

/** The form as it was sent. An example replaces what is in the field. */
const typedForm = (form: SubmittedForm): CheckFormState => ({
  input: form.text(EXAMPLE_FIELD) || form.text(INPUT_FIELD),
  error: null,
  policy: POLICY_NAMES.find(name => name === form.text("policy")) ?? POLICY_DEFAULT,
})

function requireFreeChecks({ freeChecks }: SiteContext): FreeChecks {
  if (freeChecks === null) throw new Problem("not_found", "This server has no free checker.")
  return freeChecks
}

async function admitClient(freeChecks: FreeChecks, client: string): Promise<void> {
  const admission = await freeChecks.admit(client)
  if (admission.kind === "banned") throw bannedProblem(admission.waitS)
  if (admission.kind === "too_fast") throw rateLimitedProblem(admission.waitS)
}

/** Uses up a free check, and gives it back. */
function freeCharge(
  { cookies }: SiteContext,
  freeChecks: FreeChecks,
  exchange: Exchange,
  client: string,
  form: SubmittedForm,
  progress: FormProgress,
): UnitCharge {
  let refund = async (): Promise<void> => undefined
  const charge = async (): Promise<void> => {
    const grant = await freeChecks.grant({
      client,
      pass: cookies.read(exchange.request, "pass"),
      solution: form.text(SOLUTION_FIELD),
    })
    progress.passChange = grant.change
    switch (grant.kind) {
      case "granted":
        refund = grant.refund
        return
      case "pass_required":
        throw passRequiredProblem()
      case "busy":
        throw busyProblem(new Date(grant.resetsAtMs).toISOString(), grant.waitS)
    }
  }
  return { charge, refund: () => refund() }
}

/** Parses what was typed. Throws `invalid_input`. */
function parseFreeCheckInput(
  { testDomain }: SiteContext,
  { input, policy }: CheckFormState,
  callerId: string,
): CheckRequest {
  const typed = parseTyped(input, testDomain)
  if (typed.kind === "refused") throw invalidInput([{ pointer: `/${INPUT_FIELD}`, detail: typed.message }])
  return { ...freeCheckRequest(typed.subject, callerId), policy }
}

/** Rejects when the operator's lists cannot be read. */
async function freeCheckResult(
  site: FreeCheckSite,
  checkRequest: CheckRequest,
  requestId: string,
): Promise<CheckedVerdict> {
  const ownListMatch = await publicOwnListMatch(site, checkRequest.subject)
  return displayedVerdict(site, await site.check({ ...checkRequest, ownListMatch }), requestId)
}

/** The page that explains a problem: the pass page, or the home page with a message. Throws the problem when it is another one. */
async function problemPage(
  site: FreeCheckSite,
  exchange: Exchange,
  form: CheckFormState,
  problem: Problem,
): Promise<VNode> {
  const { code, detail } = problem
  switch (code) {
    case "pass_required":
      return (
        <PassPage
          assets={canSolveChallenge(exchange.request) ? await passPageAssets(site.assets) : null}
          fields={{ [INPUT_FIELD]: form.input, policy: form.policy }}
        />
      )
    case "invalid_input":
      return await site.homePage({ form: { ...form, error: detail } })
    case "banned":
    case "rate_limited":
    case "busy":
      return await site.homePage({ form, error: detail })
    default:
      throw problem
  }
}
