import { type Command, Option } from "commander"
import { isoInstant } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Category } from "../contract/categories.ts"
import { acceptFeedback, type FeedbackDecision, rejectFeedback } from "../customers/feedback/decision.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus, listFeedback } from "../customers/feedback/feedback.ts"
import type { CustomerCommandDeps, WithCustomers } from "./accounts.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** How many reports `feedback list` shows at most, and how many it reads at once. */
const LISTED_REPORTS_MAX = 10_000
const PAGE_SIZE = 500

/** Registers `feedback list`, `accept` and `reject`. */
export function registerFeedbackCommands(root: Command, output: Output, withCustomers: WithCustomers): void {
  const group = root.command("feedback").description("Reports of wrong verdicts.")
  group
    .command("list")
    .description("List reports, newest first.")
    .addOption(new Option("--status <status>", "only reports with this status").choices(FEEDBACK_STATUSES))
    .option(...JSON_FLAG, false)
    .action(({ status, json: asJson }) =>
      withCustomers(deps => feedbackList(output, deps, LISTED_REPORTS_MAX, status ?? null, asJson)),
    )
  group
    .command("accept")
    .description("Accept a report and correct its domain.")
    .argument("<id>", "the report's id, such as fb_…")
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(deps => feedbackAccept(output, deps, id, asJson)))
  group
    .command("reject")
    .description("Reject a report and remove its correction.")
    .argument("<id>", "the report's id, such as fb_…")
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(deps => feedbackReject(output, deps, id, asJson)))
}

/** `feedback list [--status S]`: the reports, newest first, at most `shownMax`; a note says when there are more. */
export async function feedbackList(
  output: Output,
  { changes }: CustomerCommandDeps,
  shownMax: number,
  status: FeedbackStatus | null,
  asJson: boolean,
): Promise<void> {
  const reports: Feedback[] = []
  // Reads one more than is shown, to know whether there are more.
  while (reports.length <= shownMax) {
    const countMax = Math.min(PAGE_SIZE, shownMax + 1 - reports.length)
    const page = await listFeedback(changes.store, { status, after: reports.at(-1) ?? null, countMax })
    reports.push(...page)
    if (page.length < countMax) break
  }
  if (reports.length > shownMax) output.stderrLine(`There are more reports. These are the latest ${shownMax}.`)
  const latest = reports.slice(0, shownMax)
  if (asJson) return printJson(output, latest.map(feedbackJson))
  if (latest.length === 0)
    return output.line(status === null ? "There are no reports." : `There are no reports with the status ${status}.`)
  printTable(
    output,
    latest.map(report => [
      report.id,
      report.status,
      escapeControls(report.domain),
      `${report.currentCategory} → ${report.reportedCategory}`,
      escapeControls(report.roleWord ?? "-"),
      new Date(report.createdAtMs).toISOString(),
      escapeControls(report.comment ?? ""),
    ]),
  )
}

/** `feedback accept ID`: its correction is live everywhere within a minute. */
export async function feedbackAccept(
  output: Output,
  { changes }: CustomerCommandDeps,
  id: string,
  asJson: boolean,
): Promise<void> {
  printDecision(output, id, await acceptFeedback(changes, id), asJson)
}

/** `feedback reject ID`: a correction that it made is taken back, everywhere within a minute. */
export async function feedbackReject(
  output: Output,
  { changes }: CustomerCommandDeps,
  id: string,
  asJson: boolean,
): Promise<void> {
  printDecision(output, id, await rejectFeedback(changes, id), asJson)
}

function printDecision(output: Output, id: string, decision: FeedbackDecision, asJson: boolean): void {
  switch (decision.kind) {
    case "unknown_feedback":
      throw new CommandError("There is no report with this id. `feedback list` shows the ids.")
    case "too_many_corrections":
      throw new CommandError("The number of corrections has reached its limit. Reject an accepted report first.")
    case "orphan_taken_back": {
      const { domain, correction } = decision
      if (asJson) printJson(output, { id, status: "rejected", domain, changed: true, correction })
      else
        output.line(
          `The report was deleted with its account. Its correction is now deleted too. ${describeCorrection(domain, correction)}`,
        )
      return
    }
    case "decided": {
      const { feedback, isNew, correction } = decision
      const { status, domain, decidedAtMs } = feedback
      const says = isNew ? `is ${status}` : `has been ${status} since ${isoInstant(decidedAtMs)}`
      if (asJson) printJson(output, { ...feedbackJson(feedback), changed: isNew, correction })
      else output.line(`The report ${says}. ${describeCorrection(domain, correction)}`)
    }
  }
}

const describeCorrection = (domain: string, correction: Category | null): string =>
  correction === null
    ? `${escapeControls(domain)} has no correction.`
    : `${escapeControls(domain)} is corrected to ${correction}.`

const feedbackJson = (report: Feedback) => ({
  id: report.id,
  status: report.status,
  domain: report.domain,
  current_category: report.currentCategory,
  reported_category: report.reportedCategory,
  role_word: report.roleWord,
  comment: report.comment,
  account_id: report.accountId,
  created_at: isoInstant(report.createdAtMs),
  decided_at: isoInstant(report.decidedAtMs),
})
