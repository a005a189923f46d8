/** @jsxImportSource preact */
import { parseSubject } from "../../../check/address/parse-subject.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { findAccount } from "../../../customers/accounts/accounts.ts"
import { decideFeedback, findCorrection } from "../../../customers/feedback/decision.ts"
import {
  FEEDBACK_STATUSES,
  type Feedback,
  findFeedback,
  listFeedback,
  readOtherReports,
} from "../../../customers/feedback/feedback.ts"
import type { Store } from "../../../customers/store/core/store.ts"
import type { Exchange } from "../../exchange.ts"
import { invalidInput, Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import { displayedVerdict } from "../displayed-verdict.ts"
import { flashMessage, pathWithId, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { paginate } from "../ui/pagination.tsx"
import { ROWS_PER_PAGE } from "./admin-layout.tsx"
import { AdminFeedbackPage, parseStatusFilter, QUEUE_FLASH } from "./feedback-page.tsx"
import { type DomainCorrection, REPORT_FLASH, type ReportDetails, ReportPage } from "./report-page.tsx"

/** The list of feedback reports, the page of one report, and the decision about it. */
export function adminFeedbackRoutes(site: SiteContext) {
  const { guards, changes } = site
  return handlers({
    adminFeedback: exchange => guards.requireAdmin.page(exchange, () => adminFeedbackPage(changes.store, exchange)),
    adminReport: exchange =>
      guards.requireAdmin.page(exchange, () => reportPage(site, exchange, exchange.params.id, null)),
    postAdminAccept: exchange => handleDecision(site, exchange, exchange.params.id, "accepted"),
    postAdminReject: exchange => handleDecision(site, exchange, exchange.params.id, "rejected"),
  })
}

async function adminFeedbackPage(store: Store, exchange: Exchange) {
  const status = parseStatusFilter(queryParameter(exchange.request.url, "status"))
  // If the report of the cursor was deleted meanwhile, the first page is displayed.
  const after = await findFeedback(store, queryParameter(exchange.request.url, "after"))
  const reportsRead = await listFeedback(store, {
    status: status === "all" ? null : status,
    after,
    countMax: ROWS_PER_PAGE + 1,
  })
  return (
    <AdminFeedbackPage
      reports={paginate(reportsRead, ROWS_PER_PAGE)}
      status={status}
      isFirstPage={after === null}
      flash={flashMessage(exchange.request.url, QUEUE_FLASH)}
    />
  )
}

async function reportPage(site: SiteContext, exchange: Exchange, id: string, error: string | null) {
  const details = await readReportDetails(site, id)
  return <ReportPage details={details} flash={flashMessage(exchange.request.url, REPORT_FLASH)} error={error} />
}

async function readReportDetails(site: SiteContext, id: string): Promise<ReportDetails> {
  const { store } = site.changes
  const report = await findFeedback(store, id)
  const account = report && (await findAccount(store, report.accountId))
  if (report === null || account === null) throw unknownReportProblem()
  const lookup = site.lists().lookUpDomain(report.domain)
  return {
    report,
    account,
    correction: await readCorrection(store, report),
    otherReports: await readOtherReports(store, report),
    lookup: lookup.kind === "domain" ? lookup : null,
    ...(await checkReportedDomain(site, report)),
  }
}

async function readCorrection(store: Store, { domain }: Feedback): Promise<DomainCorrection | null> {
  const correction = await findCorrection(store, domain)
  return correction && { ...correction, isOrphan: (await findFeedback(store, correction.feedbackId)) === null }
}

/** Checks the domain as for an account without own lists, and says what the reporter's do. It takes at most the network deadline of a check. */
async function checkReportedDomain(site: SiteContext, { domain, accountId }: Feedback) {
  const { check, ownLists, testDomain } = site
  const subject = parseSubject("domain", domain, testDomain)
  const match = await ownLists.lookup(accountId, subject)
  const isOwnBlock = match.blockedBy === "account"
  const ownListMatch = { ...match, isAllowed: false, blockedBy: isOwnBlock ? null : match.blockedBy }
  const outcome = await check({ subject, policy: POLICY_DEFAULT, isDeep: false, includeTenant: true, ownListMatch })
  const ownList = match.isAllowed ? ("allows" as const) : isOwnBlock ? ("blocks" as const) : null
  return { ownList, verdict: displayedVerdict(site, outcome, "") }
}

/** Why a decision was refused. */
const DECISION_ERRORS = {
  decided_meanwhile:
    "Another administrator decided while you had this page open. Nothing changed. This is the report now.",
  too_many_corrections: "The limit of corrections is reached. Reject an accepted report first.",
} as const

const handleDecision = (site: SiteContext, exchange: Exchange, id: string, decision: "accepted" | "rejected") =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages } = site
    const seenStatus = FEEDBACK_STATUSES.find(status => status === form.text("seen"))
    if (seenStatus === undefined)
      throw invalidInput([{ pointer: "/seen", detail: "The form is incomplete. Reload the page and try again." }])
    const result = await decideFeedback(adminChanges(site, user), id, decision, seenStatus)
    switch (result.kind) {
      case "decided": {
        const flash = `${decision}${result.isNew ? "" : "-before"}`
        return pages.redirect(withFlash(pathWithId("adminReport", id), flash), exchange)
      }
      case "orphan_taken_back":
        return pages.redirect(withFlash(ROUTES.adminFeedback.path, "orphan-taken-back"), exchange)
      case "unknown_feedback":
        throw unknownReportProblem()
      case "decided_meanwhile":
      case "too_many_corrections": {
        const page = await reportPage(site, exchange, id, DECISION_ERRORS[result.kind])
        return pages.renderInvalid(page, exchange)
      }
    }
  })

const unknownReportProblem = () => new Problem("not_found", "No such report. Its account may have been deleted.")
