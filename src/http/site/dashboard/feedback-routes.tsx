/** @jsxImportSource preact */
import { REPORTABLE_CATEGORIES } from "../../../contract/feedback-schema.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import {
  type FeedbackQuery,
  type FeedbackReport,
  type FeedbackReportResult,
  listFeedbackOf,
} from "../../../customers/feedback/feedback.ts"
import type { RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../../customers/quota/rate/rate-subject.ts"
import type { Exchange } from "../../exchange.ts"
import { queryParameters } from "../../request/request-url.ts"
import { isTooManyRequests, Problem, rateLimited } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { type FeedbackDeps, parseFeedback, submitMeteredFeedback } from "../../v1/feedback.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, withFlash } from "../links.ts"
import { domainSourceCount } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { paginate } from "../ui/pagination.tsx"
import { FEEDBACK_FLASH, type FeedbackFormErrors, type FeedbackFormValues, FeedbackPage } from "./feedback-page.tsx"
import { withSiteLease } from "./site-lease.ts"

/** How many reports a page displays. */
const REPORTS_PER_PAGE = 50

const FORM_RATE = {
  perSecond: LIMITS.feedbackFormPerSecond,
  burst: LIMITS.feedbackFormPerSecond * LIMITS.burstFactor,
  isBurstWhole: true,
} as const

const EMPTY_FEEDBACK_FORM: FeedbackFormValues = { subject: "", expected: "", comment: "" }

/** The account's reports, and the form for another, which does the same as POST /v1/feedback. */
export function feedbackPageRoutes(site: SiteContext) {
  const { guards } = site
  return handlers({
    feedback: exchange =>
      guards.requireAccount.page(exchange, async user => {
        return await feedbackPage(site, user, exchange, prefilledForm(exchange.request.url), {})
      }),
    postFeedbackForm: exchange =>
      guards.requireAccount.form(exchange, (user, form) => handleReport(site, user, exchange, readFeedbackForm(form))),
  })
}

/** The form with the domain and the category that a link names, such as the one on a verdict's card. */
function prefilledForm(url: string): FeedbackFormValues {
  const parameters = queryParameters(url)
  const category = parameters.get("category")
  return {
    ...EMPTY_FEEDBACK_FORM,
    subject: (parameters.get("domain") ?? "").trim().slice(0, LIMITS.domainBytesMax),
    expected: REPORTABLE_CATEGORIES.find(name => name === category) ?? "",
  }
}

async function handleReport(
  site: SiteContext,
  user: SignedInUser,
  exchange: Exchange,
  values: FeedbackFormValues,
): Promise<Response> {
  const { pages, rates, testDomain } = site
  const parsed = parseFeedback(toFeedbackBody(values), testDomain)
  if (parsed.kind === "invalid")
    return pages.renderInvalid(
      await feedbackPage(site, user, exchange, values, findErrors(values, testDomain)),
      exchange,
    )
  try {
    admitReport(rates, user.account.id)
    const result = await withSiteLease(site, exchange, user.account, () =>
      submitMeteredFeedback(unlessAgreed(site), exchange, parsed.input),
    )
    if (result.kind === "agreed") {
      const expected = `The verdict for ${result.domain} is already ${result.currentCategory}. Choose what it should be instead.`
      return pages.renderInvalid(await feedbackPage(site, user, exchange, values, { expected }), exchange)
    }
    if (result.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
    return pages.redirect(withFlash(ROUTES.feedback.path, result.receipt.status), exchange)
  } catch (error) {
    if (!isTooManyRequests(error)) throw error
    return pages.renderProblem(await feedbackPage(site, user, exchange, values, {}, error.detail), exchange, error)
  }
}

/** A report of what the verdict says already, which a form refuses. Its unit is spent: the domain was checked. */
type AgreedReport = Pick<FeedbackReport, "domain" | "currentCategory"> & { readonly kind: "agreed" }

/** The same service, which stores no report that agrees with the verdict. */
const unlessAgreed = (site: SiteContext): FeedbackDeps<FeedbackReportResult | AgreedReport> => ({
  ...site,
  report: async (report, ...rest) =>
    report.currentCategory === report.reportedCategory
      ? { ...report, kind: "agreed" }
      : await site.report(report, ...rest),
})

async function feedbackPage(
  { changes, lists }: SiteContext,
  user: SignedInUser,
  exchange: Exchange,
  values: FeedbackFormValues,
  errors: FeedbackFormErrors,
  refusal: string | null = null,
) {
  const after = cursorInUrl(exchange.request.url)
  const reportsRead = await listFeedbackOf(changes.store, user.account.id, after, REPORTS_PER_PAGE + 1)
  const overview = lists()
  const lookup = values.subject === "" ? null : overview.lookUpDomain(values.subject)
  return (
    <FeedbackPage
      user={user}
      reports={paginate(reportsRead, REPORTS_PER_PAGE)}
      isFirstPage={after === null}
      flash={flashMessage(exchange.request.url, FEEDBACK_FLASH)}
      values={values}
      errors={errors}
      refusal={refusal}
      lookup={lookup?.kind === "domain" && lookup.entry !== null ? lookup : null}
      sourceCount={domainSourceCount(overview)}
    />
  )
}

function readFeedbackForm(form: SubmittedForm): FeedbackFormValues {
  // Browsers send a line break as two characters and count it as one for `maxlength`.
  const comment = form.text("comment").replaceAll("\r\n", "\n")
  return { subject: form.text("subject"), expected: form.text("expected"), comment }
}

/** The form as the body of POST /v1/feedback. */
function toFeedbackBody({ subject, expected, comment }: FeedbackFormValues) {
  return {
    [subject.includes("@") ? "email" : "domain"]: subject,
    expected_category: expected,
    ...(comment === "" ? {} : { comment }),
  }
}

const FIELD_ERRORS: { readonly [F in keyof FeedbackFormValues]: string } = {
  subject: "This has no domain that can be corrected.",
  expected: "Choose what it should be.",
  comment: `Use at most ${LIMITS.commentLengthMax} characters.`,
}

/** What is wrong with each field, by the rules of the API: each is tried in a form that is valid but for it. */
function findErrors(values: FeedbackFormValues, testDomain: string): FeedbackFormErrors {
  const isFaulty = (field: keyof FeedbackFormValues) =>
    parseFeedback(toFeedbackBody({ ...VALID_FEEDBACK_FORM, [field]: values[field] }), testDomain).kind === "invalid"
  const messages = values.subject === "" ? { ...FIELD_ERRORS, subject: "Enter a domain or an address." } : FIELD_ERRORS
  return Object.fromEntries(
    (["subject", "expected", "comment"] as const).flatMap(field => (isFaulty(field) ? [[field, messages[field]]] : [])),
  )
}

const VALID_FEEDBACK_FORM: FeedbackFormValues = { subject: "example.com", expected: "business", comment: "" }

/** Limits the rate, since each report causes DNS queries. Throws `rate_limited`. */
function admitReport(rates: RateLimiter, accountId: string): void {
  const { waitS } = rates.admit(rateSubject("feedbackForm", accountId), FORM_RATE)
  if (waitS > 0)
    throw rateLimited(
      "You sent too many reports at once. Wait a moment and send it again.",
      waitS,
      LIMITS.feedbackFormPerSecond,
    )
}

/** The position of a report in the account's list, as its page writes it. */
const REPORT_CURSOR = /^(\d{1,15})-(fb_[0-9A-Za-z]{1,40})$/

function cursorInUrl(url: string): FeedbackQuery["after"] {
  const [, createdAt, id] = REPORT_CURSOR.exec(queryParameters(url).get("after") ?? "") ?? []
  return createdAt === undefined || id === undefined ? null : { createdAtMs: Number(createdAt), id }
}
