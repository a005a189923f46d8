/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { parseSubject } from "../../../check/address/parse.ts"
import type { Check } from "../../../check/check.ts"
import { fullResult } from "../../../check/present.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { findAccount } from "../../../customers/accounts/accounts.ts"
import { decideAsSeen, findCorrection } from "../../../customers/feedback/decision.ts"
import {
  FEEDBACK_STATUSES,
  type Feedback,
  findFeedback,
  listFeedback,
  otherReports,
} from "../../../customers/feedback/feedback.ts"
import type { OwnLists } from "../../../customers/own-lists/held-own-lists.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import type { Store } from "../../../customers/store/store.ts"
import { invalidInput, Problem } from "../../problem.ts"
import { doneWords } from "../deed.ts"
import type { ListsInUse } from "../lists-page.tsx"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { FeedbackPage, QUEUE_DEEDS, shownStatus } from "./feedback-page.tsx"
import { pageOfRows, ROWS_PER_PAGE } from "./page-of-rows.tsx"
import { adminPaths, parameterOf } from "./paths.ts"
import { REPORT_DEEDS, ReportPage, type ShownCorrection, type ShownReport } from "./report-page.tsx"

/** What the pages about reports are built from. */
export type FeedbackNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly check: Check
  readonly ownLists: OwnLists
  readonly lists: () => ListsInUse
  readonly testDomain: string
}

/** The reports, one report, and the decision about it. */
export function feedbackRoutes(needs: FeedbackNeeds) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminFeedback.path, ({ request }) =>
      enter.admin.page(request, visitor => feedbackPage(changes.store, visitor, request)),
    )
    .get(ROUTES.adminReport.path, ({ request, params }) =>
      enter.admin.page(request, visitor => reportPage(needs, visitor, request, params.id, null)),
    )
    .post(ROUTES.postAdminAccept.path, ({ request, params }) => decided(needs, request, params.id, "accepted"), {
      parse: "none",
    })
    .post(ROUTES.postAdminReject.path, ({ request, params }) => decided(needs, request, params.id, "rejected"), {
      parse: "none",
    })
}

async function feedbackPage(store: Store, visitor: Visitor, request: Request) {
  const status = shownStatus(parameterOf(request.url, "status"))
  // A report that went meanwhile is no place to go on from: then the first page is shown.
  const after = await findFeedback(store, parameterOf(request.url, "after"))
  const countMax = ROWS_PER_PAGE + 1
  const found = await listFeedback(store, { status: status === "all" ? null : status, after, countMax })
  const page = { visitor, status, isFirst: after === null, done: doneWords(request.url, QUEUE_DEEDS) }
  return <FeedbackPage {...page} reports={pageOfRows(found)} />
}

async function reportPage(
  needs: FeedbackNeeds,
  visitor: Visitor,
  request: Request,
  id: string,
  refused: string | null,
) {
  const shown = await shownReport(needs, id)
  return <ReportPage visitor={visitor} shown={shown} done={doneWords(request.url, REPORT_DEEDS)} refused={refused} />
}

async function shownReport(needs: FeedbackNeeds, id: string): Promise<ShownReport> {
  const { store } = needs.changes
  const report = await findFeedback(store, id)
  const account = report && (await findAccount(store, report.accountId))
  if (report === null || account === null) throw noReport()
  const found = needs.lists().lookUp(report.domain)
  return {
    report,
    account,
    correction: await shownCorrection(store, report),
    others: await otherReports(store, report),
    listed: found.kind === "domain" ? found : null,
    checked: await checkedNow(needs, report),
  }
}

async function shownCorrection(store: Store, { domain }: Feedback): Promise<ShownCorrection | null> {
  const correction = await findCorrection(store, domain)
  return correction && { ...correction, isOrphan: (await findFeedback(store, correction.feedbackId)) === null }
}

/** One check for one page, which takes as long as the network budget of a check at most. */
async function checkedNow({ check, ownLists, testDomain }: FeedbackNeeds, report: Feedback): Promise<CheckResult> {
  const subject = parseSubject("domain", report.domain, testDomain)
  const standing = await ownLists.standing(report.accountId, null, report.domain)
  const outcome = await check({ subject, policy: POLICY_DEFAULT, deep: false, workspace: true, standing })
  return fullResult(outcome, "")
}

/** Why a decision was not taken. */
const REFUSALS = {
  decided_meanwhile:
    "Somebody else has decided about this report since you opened it, so nothing was changed. This is how it stands now.",
  too_many_corrections: "There are as many corrections as there may be. Reject an accepted report first.",
} as const

const decided = (needs: FeedbackNeeds, request: Request, id: string, verdict: "accepted" | "rejected") =>
  needs.enter.admin.form(request, async (visitor, form) => {
    const { pages, changes } = needs
    const seen = FEEDBACK_STATUSES.find(status => status === form.text("seen"))
    if (seen === undefined) throw invalidInput([{ pointer: "/seen", detail: "The form does not say what was seen." }])
    const decision = await decideAsSeen(changes, id, verdict, seen)
    switch (decision.kind) {
      case "decided":
        return pages.goTo(`${adminPaths.report(id)}?done=${verdict}${decision.isNew ? "" : "-before"}`, request)
      case "orphan_taken_back":
        return pages.goTo(`${ROUTES.adminFeedback.path}?done=orphan-taken-back`, request)
      case "unknown_feedback":
        throw noReport()
      case "decided_meanwhile":
      case "too_many_corrections": {
        const page = await reportPage(needs, visitor, request, id, REFUSALS[decision.kind])
        return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
      }
    }
  })

const noReport = () => new Problem("not_found", "No such report; it may have gone with its account.")
