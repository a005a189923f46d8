/** @jsxImportSource preact */
import { type CheckRequest, NO_OWN_LIST_MATCH } from "../../../check/check.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, type Policy } from "../../../contract/policies.ts"
import type { ProblemCode } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { TEST_ADDRESSES } from "../../../contract/test-addresses.ts"
import type { Exchange } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { runCheck } from "../../v1/check.ts"
import { displayedVerdict } from "../displayed-verdict.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { SignedInUser } from "../guards.ts"
import type { SiteContext } from "../site-context.ts"
import { parseTyped } from "../typed-subject.ts"
import { CheckForm, PolicyChoice } from "../ui/check-form.tsx"
import { ActionButton, FormError } from "../ui/forms.tsx"
import { Empty } from "../ui/panels.tsx"
import { VERDICT_ID } from "../ui/verdict/verdict.tsx"
import { type CheckedVerdict, VerdictCard } from "../ui/verdict/verdict-card.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"
import { withSiteLease } from "./site-lease.ts"

/** The form that checks an input with the account's own lists, rules, limits and units, as its secret keys do. */
export function tryPageRoutes(site: SiteContext) {
  const { guards, testDomain } = site
  return handlers({
    tryIt: exchange =>
      guards.requireAccount.page(exchange, async user => (
        <TryPage user={user} testDomain={testDomain} values={{ input: "", policy: POLICY_DEFAULT, isDeep: false }} />
      )),
    postTryIt: exchange =>
      guards.requireAccount.form(exchange, (user, form) => handleTry(site, exchange, user, readTryForm(form))),
  })
}

/** Checks as a request with a secret key does: the account's terms, rate, requests in flight and units apply. */
async function handleTry(site: SiteContext, exchange: Exchange, user: SignedInUser, values: TryFormValues) {
  const { pages, testDomain } = site
  const { account } = user
  const props = { user, testDomain, values }
  const parsed = parseTryForm(values, testDomain)
  if ("field" in parsed) return pages.renderInvalid(<TryPage {...props} fault={parsed} />, exchange)
  try {
    const check = () => runCheck(site, exchange, { ...parsed, callerId: account.id })
    const outcome = await withSiteLease(site, exchange, account, check)
    const of = { ...account, isDeep: parsed.isDeep }
    return <TryPage {...props} verdict={displayedVerdict(site, outcome, exchange.id, of)} />
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const remedy = REMEDIES[error.code]
    if (remedy === undefined) throw error
    const fault = { field: "form", message: `${error.detail} ${remedy}` } as const
    return pages.renderProblem(<TryPage {...props} fault={fault} />, exchange, error)
  }
}

/** What the user can do about the problems that a check may have. They are displayed above the form, which keeps its input. */
const REMEDIES: { readonly [C in ProblemCode]?: string } = {
  rate_limited: "Wait a moment, then try again.",
  quota_exceeded: `A deep check costs ${LIMITS.deepCheckUnits} units, any other check one. You get new units at 00:00 UTC.`,
  key_revoked: "",
  terms_not_accepted: "Accept them, then try again.",
}

type TryFormValues = { readonly input: string; readonly policy: string; readonly isDeep: boolean }

/** What is wrong with a form field, or why a valid form was not checked. */
type TryFault = { readonly field: "asked" | "policy" | "form"; readonly message: string }

const readTryForm = (form: SubmittedForm): TryFormValues => ({
  input: form.text("asked"),
  policy: form.text("policy"),
  isDeep: form.text("deep") === "yes",
})

function parseTryForm({ input, policy, isDeep }: TryFormValues, testDomain: string): CheckRequest | TryFault {
  if (!isPolicy(policy)) return { field: "policy", message: "Choose one of the policies." }
  const typed = parseTyped(input, testDomain)
  if (typed.kind === "refused") return { field: "asked", message: typed.message }
  return { subject: typed.subject, policy, isDeep, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }
}

const isPolicy = (policy: string): policy is Policy => Object.hasOwn(POLICIES, policy)

type TryPageProps = {
  readonly user: SignedInUser
  /** Empty: there are no test addresses. */
  readonly testDomain: string
  readonly values: TryFormValues
  readonly fault?: TryFault
  /** Absent: nothing was checked. */
  readonly verdict?: CheckedVerdict
}

const COSTS = `Your own lists and rules apply. A check costs 1 unit, a deep check ${LIMITS.deepCheckUnits} units.`

const TRY_PATH = `${ROUTES.postTryIt.path}#${VERDICT_ID}`

/** The form, and below it the verdict of the check, which has the policy then. */
function TryPage({ user, testDomain, values, fault, verdict }: TryPageProps) {
  const faultOf = (field: TryFault["field"]) => (fault?.field === field ? fault.message : null)
  const policyError = faultOf("policy")
  return (
    <DashboardLayout route="tryIt" title="Check one" user={user}>
      <FormError message={faultOf("form")} />
      <CheckForm
        method="post"
        action={TRY_PATH}
        name="asked"
        label="Address, domain or website"
        placeholder="jane@acme.com"
        value={values.input}
        error={faultOf("asked")}
        hint={verdict === undefined ? COSTS : undefined}
      >
        <div class="ask-options">
          <PolicyChoice selected={values.policy} error={policyError} />
          <label class="check">
            <input type="checkbox" name="deep" value="yes" checked={values.isDeep} />
            <span>
              Deep check<span class="more">: the domain’s age and its homepage too</span>
            </span>
          </label>
        </div>
        {policyError === null ? null : (
          <p class="fault" id="policy-fault" role="alert">
            {policyError}
          </p>
        )}
      </CheckForm>
      {verdict === undefined ? (
        <Examples testDomain={testDomain} />
      ) : (
        <VerdictCard
          verdict={verdict}
          form={{ path: TRY_PATH, field: "asked", fields: values.isDeep ? { deep: "yes" } : {} }}
        />
      )}
    </DashboardLayout>
  )
}

/** What stands in place of the verdict: test addresses to begin with. */
const Examples = ({ testDomain }: Pick<TryPageProps, "testDomain">) => (
  <Empty
    action={
      testDomain === "" ? undefined : (
        <div class="actions">
          {EXAMPLES.map(name => (
            <ActionButton
              key={name}
              path={TRY_PATH}
              fields={{ asked: `${name}@${testDomain}`, policy: POLICY_DEFAULT }}
              label={`${name}@${testDomain}`}
            />
          ))}
        </div>
      )
    }
  >
    {testDomain === ""
      ? "The verdict will be here, with its reasons and its evidence."
      : "The verdict will be here. These test addresses cost nothing:"}
  </Empty>
)

const EXAMPLES: readonly (keyof typeof TEST_ADDRESSES)[] = ["business", "disposable", "typo"]
