/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { type Feedback, type FeedbackQuery, listFeedbackOf } from "../../../customers/feedback/feedback.ts"
import type { RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import { queryParameters } from "../../request/request-url.ts"
import { Problem } from "../../response/problem.ts"
import { type FeedbackDeps, type FeedbackMember, parseFeedback, submitFeedback } from "../../v1/feedback.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import type { PageResponses } from "../page-responses.ts"
import { flashMessage } from "../ui/forms.tsx"
import { FEEDBACK_FLASH, type FeedbackFormErrors, type FeedbackFormValues, FeedbackPage } from "./feedback-page.tsx"

/** What the pages about feedback are built from. */
export type FeedbackRoutesDeps = FeedbackDeps & {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly rates: RateLimiter
  readonly testDomain: string
}

/** How many reports a page shows. */
const REPORTS_PER_PAGE = 50

const FORM_RATE = {
  perSecond: LIMITS.feedbackFormPerSecond,
  burst: LIMITS.feedbackFormPerSecond * LIMITS.burstFactor,
  isBurstWhole: true,
} as const

const EMPTY_FEEDBACK_FORM: FeedbackFormValues = { subject: "", expected: "", comment: "" }

/** The page of the account's reports, and what its form does: the same as POST /v1/feedback. */
export function feedbackPageRoutes(needs: FeedbackRoutesDeps) {
  const { pages, enter, changes, rates, testDomain } = needs
  const { path } = ROUTES.feedback
  const shown = async (
    visitor: SignedInUser,
    request: Request,
    draft: FeedbackFormValues,
    faults: FeedbackFormErrors,
  ) => {
    const after = cursorInUrl(request.url)
    const found = await listFeedbackOf(changes.store, visitor.account.id, after, REPORTS_PER_PAGE + 1)
    const reports = found.slice(0, REPORTS_PER_PAGE)
    const last = reports.at(-1)
    return (
      <FeedbackPage
        user={visitor}
        reports={reports}
        olderPath={found.length > REPORTS_PER_PAGE && last !== undefined ? `${path}?after=${reportCursor(last)}` : null}
        isFirstPage={after === null}
        flash={flashMessage(request.url, FEEDBACK_FLASH)}
        values={draft}
        errors={faults}
      />
    )
  }
  return new Elysia({ normalize: false })
    .get(path, ({ request }) =>
      enter.requireAccount.page(request, async visitor => {
        const subject = (queryParameters(request.url).get("domain") ?? "").slice(0, LIMITS.domainBytesMax)
        return await shown(visitor, request, { ...EMPTY_FEEDBACK_FORM, subject }, {})
      }),
    )
    .post(
      ROUTES.postFeedbackForm.path,
      ({ request }) =>
        enter.requireAccount.form(request, async (visitor, form) => {
          const draft = readFeedbackForm(form)
          const read = parseFeedback(toFeedbackBody(draft), testDomain)
          if (read.kind === "invalid") {
            const page = await shown(visitor, request, draft, {
              [FIELD_OF_MEMBER[read.member]]: fieldError(read.member, draft),
            })
            return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
          }
          admitReport(rates, visitor.account.id)
          const reporting = await submitFeedback(needs, read.input, visitor.account.id)
          if (reporting.kind === "unknown_account")
            throw new Problem("not_found", "Your account was deleted a moment ago.")
          return pages.redirect(`${path}?done=${reporting.receipt.status}`, request)
        }),
      { parse: "none" },
    )
}

function readFeedbackForm(form: SubmittedForm): FeedbackFormValues {
  // Browsers send a line's end as two characters, and count it as one.
  const comment = form.text("comment").replaceAll("\r\n", "\n")
  return { subject: form.text("subject"), expected: form.text("expected"), comment }
}

/** The draft as the body of POST /v1/feedback. */
function toFeedbackBody({ subject, expected, comment }: FeedbackFormValues) {
  return {
    [subject.includes("@") ? "email" : "domain"]: subject,
    expected_category: expected,
    ...(comment === "" ? {} : { comment }),
  }
}

const FIELD_OF_MEMBER: { readonly [M in FeedbackMember]: keyof FeedbackFormValues } = {
  "": "subject",
  email: "subject",
  domain: "subject",
  expected_category: "expected",
  comment: "comment",
}

const FIELD_ERRORS: { readonly [F in keyof FeedbackFormValues]: string } = {
  subject: "That names no domain that can be corrected.",
  expected: "Please choose what it should be.",
  comment: `That is longer than ${LIMITS.commentLengthMax} characters.`,
}

const fieldError = (member: FeedbackMember, { subject }: FeedbackFormValues): string =>
  FIELD_OF_MEMBER[member] === "subject" && subject === ""
    ? "Please write a domain or an address."
    : FIELD_ERRORS[FIELD_OF_MEMBER[member]]

/** A report asks the world what its domain is, so nobody sends them as fast as a program can. */
function admitReport(rates: RateLimiter, accountId: string): void {
  const { waitS } = rates.admit(`feedback form ${accountId}`, FORM_RATE)
  if (waitS > 0)
    throw new Problem("rate_limited", "That was one report too many at once. Please wait a moment and send it again.", {
      retry_after: waitS,
      limit: LIMITS.feedbackFormPerSecond,
    })
}

/** Where a report stands among those of its account, for a URL. */
const reportCursor = ({ createdAtMs, id }: Feedback): string => `${createdAtMs}-${id}`

const REPORT_CURSOR = /^(\d{1,15})-(fb_[0-9A-Za-z]{1,40})$/

function cursorInUrl(url: string): FeedbackQuery["after"] {
  const [, createdAt, id] = REPORT_CURSOR.exec(queryParameters(url).get("after") ?? "") ?? []
  return createdAt === undefined || id === undefined ? null : { createdAtMs: Number(createdAt), id }
}
