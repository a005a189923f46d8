import { Elysia } from "elysia"
import type { Clock } from "../../../base/outside-world.ts"
import { inputRefusal, parseSubject } from "../../../check/address/parse-subject.ts"
import type { SubjectKind } from "../../../check/address/subject.ts"
import { type Check, type CheckRequest, NO_OWN_LIST_MATCH } from "../../../check/check.ts"
import { type CheckOutcome, fullResult } from "../../../check/result/result.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, POLICY_NAMES, type Policy } from "../../../contract/policies.ts"
import { PROBLEMS, type ProblemCode } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { CallerAccount } from "../../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../../customers/own-lists/own-list-cache.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import type { UsageMeter } from "../../../customers/usage/usage-meter.ts"
import type { Admit } from "../../admission/admission.ts"
import type { Meter } from "../../metrics/meter.ts"
import type { JsonResponses } from "../../response/json-responses.ts"
import { Problem } from "../../response/problem.ts"
import { checkTestAddress, runMeteredCheck } from "../../v1/metered-check.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import type { PageResponses } from "../page-responses.ts"
import { FormError, SelectField, TextField } from "../ui/forms.tsx"
import { VerdictView } from "../ui/verdict-view.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** @jsxImportSource preact */
/** What the box is built from. */
type TryRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly responses: JsonResponses
  readonly check: Check
  readonly admit: Admit
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly meter: Meter
  readonly testDomain: string
  readonly clock: Clock
}

/** The box that checks for who is signed in: by the account's own lists, limits and units, as its secret keys do. */
export function tryPageRoutes(needs: TryRoutesDeps) {
  const { enter } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.tryIt.path, ({ request }) =>
      enter.requireAccount.page(request, async visitor => (
        <TryPage visitor={visitor} entry={EMPTY_TRY_FORM} error={null} problem={null} result={null} />
      )),
    )
    .post(
      ROUTES.postTryIt.path,
      ({ request }) =>
        enter.requireAccount.form(request, (visitor, form) => handleTry(needs, request, visitor, readTryForm(form))),
      { parse: "none" },
    )
}

async function handleTry(needs: TryRoutesDeps, request: Request, visitor: SignedInUser, entry: TryFormValues) {
  const { pages, responses, testDomain } = needs
  const asked = parseTryForm(entry, testDomain)
  const blank = { visitor, entry, error: null, problem: null, result: null }
  if ("field" in asked)
    return pages.render(<TryPage {...blank} error={asked} />, request, { status: PROBLEMS.invalid_input.status })
  const outcome = await checkMetered(needs, request, visitor.account, asked).catch(displayableProblem)
  if (!(outcome instanceof Problem))
    return <TryPage {...blank} result={fullResult(outcome, responses.requestId(request))} />
  const { code, detail, extensions } = outcome
  return pages.render(<TryPage {...blank} problem={`${detail} ${REMEDIES[code] ?? ""}`} />, request, {
    status: PROBLEMS[code].status,
    headers: extensions.retry_after === undefined ? {} : { "Retry-After": String(extensions.retry_after) },
  })
}

/** A refusal is shown beside the box, so that what was typed is kept; what else failed goes on. */
function displayableProblem(error: unknown): Problem {
  if (error instanceof Problem && REMEDIES[error.code] !== undefined) return error
  throw error
}

/** What to do about the refusals that may come of a check. */
const REMEDIES: { readonly [C in ProblemCode]?: string } = {
  rate_limited: "Wait a moment, then try again.",
  quota_exceeded: `A deep check takes ${LIMITS.deepCheckUnits} of them, any other one. They come back at 00:00 UTC.`,
  terms_not_accepted: "Accept them, then try again.",
}

/** A caller like one with a secret key: the same terms, rate, requests in flight and units as all of the account's. */
async function checkMetered(
  needs: TryRoutesDeps,
  request: Request,
  account: CallerAccount,
  question: CheckRequest,
): Promise<CheckOutcome> {
  const known = { kind: "active", key: { ...SITE_KEY, origins: [] }, account } as const
  const pass = needs.admit(request, known, false)
  try {
    // A test address costs nothing, and nobody's lists have it.
    return await (question.subject.isTest
      ? checkTestAddress(needs, question)
      : runMeteredCheck(needs, known, pass, question))
  } catch (error) {
    pass?.attachRefusalHeaders()
    throw error
  } finally {
    pass?.release()
  }
}

/** What stands in the box. */
type TryFormValues = { readonly input: string; readonly policy: string; readonly isDeep: boolean }

/** What is wrong with it. */
type TryFormError = { readonly field: "asked" | "policy"; readonly message: string }

/** An empty box. */
const EMPTY_TRY_FORM: TryFormValues = { input: "", policy: POLICY_DEFAULT, isDeep: false }

/** What a form brought. */
const readTryForm = (form: SubmittedForm): TryFormValues => ({
  input: form.text("asked"),
  policy: form.text("policy"),
  isDeep: form.text("deep") === "yes",
})

/** The question that the box asks, or why it asks none. */
function parseTryForm({ input, policy, isDeep }: TryFormValues, testDomain: string): CheckRequest | TryFormError {
  if (!isPolicy(policy)) return { field: "policy", message: "Choose one of the policies." }
  const kind = typedSubjectKind(input)
  if (kind === "url" && input.length > LIMITS.urlLengthMax) return { field: "asked", message: INPUT_ERRORS.too_long }
  const subject = parseSubject(kind, input, testDomain)
  const refusal = inputRefusal(subject)
  if (refusal !== null) return { field: "asked", message: INPUT_ERRORS[refusal] }
  return { subject, policy, isDeep: isDeep, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }
}

/** What people write with an `@` is an address, unless it begins like a link; with a slash it is a website. */
function typedSubjectKind(asked: string): SubjectKind {
  if (/^https?:\/\//i.test(asked)) return "url"
  if (asked.includes("@")) return "email"
  return asked.includes("/") || /^[a-z][a-z0-9+.-]*:/i.test(asked) ? "url" : "domain"
}

const INPUT_ERRORS = {
  empty: "Write an address, a domain or a website.",
  control_character: "This holds a character that cannot be seen. Please type it anew.",
  too_long: `This is too long: an address has at most ${LIMITS.addressBytesMax} octets, a domain ${LIMITS.domainBytesMax}, a website address ${LIMITS.urlLengthMax} characters.`,
} as const

const isPolicy = (policy: string): policy is Policy => Object.hasOwn(POLICIES, policy)

/** @jsxImportSource preact */
type TryPageProps = {
  readonly visitor: SignedInUser
  readonly entry: TryFormValues
  /** What is wrong with the entry; null: nothing, or nothing was sent yet. */
  readonly error: TryFormError | null
  /** Why nothing was checked, though nothing is wrong with the entry. */
  readonly problem: string | null
  /** Null: nothing was checked. */
  readonly result: CheckResult | null
}

/** A box that checks what is written into it, and what the check found. */
function TryPage({ visitor, entry, error, problem, result }: TryPageProps) {
  return (
    <DashboardLayout route="tryIt" title="Try it" user={visitor}>
      <p class="lead">
        Checks as a secret key does, with your own lists. It costs one unit of your day, {LIMITS.deepCheckUnits} when
        deep.
      </p>
      <FormError message={problem} />
      <TryForm entry={entry} error={error} />
      {result === null ? null : <VerdictView result={result} />}
    </DashboardLayout>
  )
}

function TryForm({ entry, error }: Pick<TryPageProps, "entry" | "error">) {
  return (
    <form class="form" method="post" action={`${ROUTES.postTryIt.path}#verdict`}>
      <TextField
        name="asked"
        label="Address, domain or website"
        hint={
          <>
            Such as <code>jane@acme.com</code>, <code>acme.com</code> or <code>https://acme.com/about</code>.
          </>
        }
        value={entry.input}
        error={error?.field === "asked" ? error.message : null}
        required
        maxLength={LIMITS.urlLengthMax}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <SelectField
        name="policy"
        label="Policy"
        options={POLICY_NAMES.map(policy => ({ value: policy, label: `${policy} · ${POLICIES[policy].description}` }))}
        selected={entry.policy}
        error={error?.field === "policy" ? error.message : null}
      />
      <label class="check">
        <input type="checkbox" name="deep" value="yes" checked={entry.isDeep} />
        <span>Deep check: also ask how old the domain is and what its homepage shows.</span>
      </label>
      <button type="submit">Check</button>
    </form>
  )
}
