/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { parseSubject } from "../../../check/address/parse-subject.ts"
import type { Check } from "../../../check/check.ts"
import { fullResult } from "../../../check/result/result.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { findAccount } from "../../../customers/accounts/accounts.ts"
import { decideIfUnchanged, findCorrection } from "../../../customers/feedback/decision.ts"
import {
  FEEDBACK_STATUSES,
  type Feedback,
  findFeedback,
  listFeedback,
  readOtherReports,
} from "../../../customers/feedback/feedback.ts"
import type { OwnListCache } from "../../../customers/own-lists/own-list-cache.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import type { Store } from "../../../customers/store/core/store.ts"
import { invalidInput, Problem } from "../../response/problem.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import { adminPaths, queryParameter } from "../links.ts"
import type { PageResponses } from "../page-responses.ts"
import type { ListsOverview } from "../public/lists-overview.tsx"
import { flashMessage } from "../ui/forms.tsx"
import { paginate, ROWS_PER_PAGE } from "../ui/pagination.tsx"
import { AdminFeedbackPage, parseStatusFilter, QUEUE_FLASH } from "./feedback-page.tsx"
import { type DomainCorrection, REPORT_FLASH, type ReportDetails, ReportPage } from "./report-page.tsx"

/** What the pages about reports are built from. */
export type AdminFeedbackRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly lists: () => ListsOverview
  readonly testDomain: string
}

/** The reports, one report, and the decision about it. */
export function adminFeedbackRoutes(needs: AdminFeedbackRoutesDeps) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminFeedback.path, ({ request }) =>
      enter.requireAdmin.page(request, visitor => adminFeedbackPage(changes.store, visitor, request)),
    )
    .get(ROUTES.adminReport.path, ({ request, params }) =>
      enter.requireAdmin.page(request, visitor => reportPage(needs, visitor, request, params.id, null)),
    )
    .post(ROUTES.postAdminAccept.path, ({ request, params }) => handleDecision(needs, request, params.id, "accepted"), {
      parse: "none",
    })
    .post(ROUTES.postAdminReject.path, ({ request, params }) => handleDecision(needs, request, params.id, "rejected"), {
      parse: "none",
    })
}

async function adminFeedbackPage(store: Store, visitor: SignedInUser, request: Request) {
  const status = parseStatusFilter(queryParameter(request.url, "status"))
  // A report that went meanwhile is no place to go on from: then the first page is shown.
  const after = await findFeedback(store, queryParameter(request.url, "after"))
  const countMax = ROWS_PER_PAGE + 1
  const found = await listFeedback(store, { status: status === "all" ? null : status, after, countMax })
  const page = { visitor, status, isFirstPage: after === null, flash: flashMessage(request.url, QUEUE_FLASH) }
  return <AdminFeedbackPage {...page} reports={paginate(found)} />
}

async function reportPage(
  needs: AdminFeedbackRoutesDeps,
  visitor: SignedInUser,
  request: Request,
  id: string,
  refused: string | null,
) {
  const shown = await readReportDetails(needs, id)
  return <ReportPage user={visitor} details={shown} flash={flashMessage(request.url, REPORT_FLASH)} error={refused} />
}

async function readReportDetails(needs: AdminFeedbackRoutesDeps, id: string): Promise<ReportDetails> {
  const { store } = needs.changes
  const report = await findFeedback(store, id)
  const account = report && (await findAccount(store, report.accountId))
  if (report === null || account === null) throw unknownReportProblem()
  const found = needs.lists().lookUpDomain(report.domain)
  return {
    report,
    account,
    correction: await readCorrection(store, report),
    otherReports: await readOtherReports(store, report),
    lookup: found.kind === "domain" ? found : null,
    checkResult: await checkReportedDomain(needs, report),
  }
}

async function readCorrection(store: Store, { domain }: Feedback): Promise<DomainCorrection | null> {
  const correction = await findCorrection(store, domain)
  return correction && { ...correction, isOrphan: (await findFeedback(store, correction.feedbackId)) === null }
}

/** One check for one page, which takes as long as the network budget of a check at most. */
async function checkReportedDomain(
  { check, ownLists, testDomain }: AdminFeedbackRoutesDeps,
  report: Feedback,
): Promise<CheckResult> {
  const subject = parseSubject("domain", report.domain, testDomain)
  const ownListMatch = await ownLists.lookup(report.accountId, null, report.domain)
  const outcome = await check({ subject, policy: POLICY_DEFAULT, isDeep: false, includeTenant: true, ownListMatch })
  return fullResult(outcome, "")
}

/** Why a decision was not taken. */
const DECISION_ERRORS = {
  decided_meanwhile:
    "Somebody else has decided about this report since you opened it, so nothing was changed. This is how it stands now.",
  too_many_corrections: "There are as many corrections as there may be. Reject an accepted report first.",
} as const

const handleDecision = (
  needs: AdminFeedbackRoutesDeps,
  request: Request,
  id: string,
  verdict: "accepted" | "rejected",
) =>
  needs.enter.requireAdmin.form(request, async (visitor, form) => {
    const { pages, changes } = needs
    const seen = FEEDBACK_STATUSES.find(status => status === form.text("seen"))
    if (seen === undefined) throw invalidInput([{ pointer: "/seen", detail: "The form does not say what was seen." }])
    const decision = await decideIfUnchanged(changes, id, verdict, seen)
    switch (decision.kind) {
      case "decided":
        return pages.redirect(`${adminPaths.report(id)}?done=${verdict}${decision.isNew ? "" : "-before"}`, request)
      case "orphan_taken_back":
        return pages.redirect(`${ROUTES.adminFeedback.path}?done=orphan-taken-back`, request)
      case "unknown_feedback":
        throw unknownReportProblem()
      case "decided_meanwhile":
      case "too_many_corrections": {
        const page = await reportPage(needs, visitor, request, id, DECISION_ERRORS[decision.kind])
        return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
      }
    }
  })

const unknownReportProblem = () => new Problem("not_found", "No such report; it may have gone with its account.")
