import { type Command, Option } from "commander"
import { domainToALabels } from "../base/idna.ts"
import { isoInstant } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Category } from "../contract/categories.ts"
import { decideFeedback, findCorrection } from "../customers/feedback/decision.ts"
import {
  FEEDBACK_STATUSES,
  type Feedback,
  type FeedbackStatus,
  findFeedback,
  listFeedback,
  readOtherReports,
} from "../customers/feedback/feedback.ts"
import { type CustomerCommandDeps, namedAccount, type WithCustomers } from "./account/accounts.ts"
import { addTimeOptions, parseCount, type TimeFlags, timeRange } from "./list-options.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** How many reports `feedback list` shows at most, and how many it reads at once. */
const LISTED_REPORTS_MAX = 10_000
const PAGE_SIZE = 500

/** Registers `feedback list`, `accept` and `reject`. */
export function registerFeedbackCommands(root: Command, output: Output, withCustomers: WithCustomers): void {
  const group = root.command("feedback").description("Reports of wrong verdicts.")
  addTimeOptions(group.command("list").description("List reports, newest first."))
    .addOption(new Option("--status <status>", "only reports with this status").choices(FEEDBACK_STATUSES))
    .option("--account <account>", "only reports of this account, by its email or id")
    .option("--domain <domain>", "only reports about this domain and its subdomains")
    .option("--limit <n>", "so many at most", parseCount)
    .option(...JSON_FLAG, false)
    .action((flags: ListFlags) => withCustomers(deps => feedbackList(output, deps, LISTED_REPORTS_MAX, flags)))
  group
    .command("show")
    .description("Show a report, the correction of its domain, and what others reported.")
    .argument(...REPORT_ARGUMENT)
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(deps => feedbackShow(output, deps, id, asJson)))
  for (const [name, verdict, description] of [
    ["accept", "accepted", "Accept a report and correct its domain."],
    ["reject", "rejected", "Reject a report and remove its correction."],
  ] as const)
    group
      .command(name)
      .description(description)
      .argument(...REPORT_ARGUMENT)
      .addOption(
        new Option("--seen <status>", "decide a report again that has this status")
          .choices(FEEDBACK_STATUSES)
          .default("received"),
      )
      .option(...JSON_FLAG, false)
      .action((id, { seen, json: asJson }: DecisionFlags) =>
        withCustomers(deps => feedbackDecide(output, deps, { id, verdict, seen }, asJson)),
      )
}

const REPORT_ARGUMENT = ["<id>", "the report's id, such as fb_…"] as const

type DecisionFlags = { readonly seen: FeedbackStatus; readonly json: boolean }
type ListFlags = TimeFlags & {
  readonly status?: FeedbackStatus
  readonly account?: string
  readonly domain?: string
  readonly limit?: number
  readonly json: boolean
}

/** `feedback list`: the reports that fit all of the options, newest first, at most `listedMax`; a note says when there are more. */
export async function feedbackList(
  output: Output,
  customers: CustomerCommandDeps,
  listedMax: number,
  { status, account, domain, limit, json: asJson, ...times }: ListFlags,
): Promise<void> {
  const { changes } = customers
  const shownMax = Math.min(listedMax, limit ?? listedMax)
  const query = {
    ...timeRange(times, changes.clock()),
    status: status ?? null,
    ...(account === undefined ? {} : { accountId: (await namedAccount(customers, account)).id }),
    ...(domain === undefined ? {} : { domain: domainToALabels(domain.toLowerCase()) }),
  }
  const reports: Feedback[] = []
  // Reads one more than is shown, to know whether there are more.
  while (reports.length <= shownMax) {
    const countMax = Math.min(PAGE_SIZE, shownMax + 1 - reports.length)
    const page = await listFeedback(changes.store, { ...query, after: reports.at(-1) ?? null, countMax })
    reports.push(...page)
    if (page.length < countMax) break
  }
  if (reports.length > shownMax && limit === undefined)
    output.stderrLine(`There are more reports. These are the latest ${shownMax}.`)
  const latest = reports.slice(0, shownMax)
  if (asJson) return printJson(output, latest.map(feedbackJson))
  if (latest.length === 0)
    return output.line(
      status === undefined ? "There are no reports." : `There are no reports with the status ${status}.`,
    )
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

/** `feedback show ID`. What the lists and DNS say of the domain now is shown by `check`. */
async function feedbackShow(
  output: Output,
  { changes: { store } }: CustomerCommandDeps,
  id: string,
  asJson: boolean,
): Promise<void> {
  const report = await findFeedback(store, id)
  if (report === null) throw new CommandError(UNKNOWN_REPORT)
  const correction = await findCorrection(store, report.domain)
  const others = await readOtherReports(store, report)
  if (asJson)
    return printJson(output, {
      ...feedbackJson(report),
      correction: correction?.category ?? null,
      correction_by: correction?.feedbackId ?? null,
      other_reports: others.map(({ category, accountCount }) => ({ category, accounts: accountCount })),
    })
  printTable(output, [
    ["id", report.id],
    ["status", report.status],
    ["domain", escapeControls(report.domain)],
    ["reported", `${report.currentCategory} → ${report.reportedCategory}`],
    ["comment", escapeControls(report.comment ?? "-")],
    ["account", report.accountId],
    ["created", isoInstant(report.createdAtMs)],
    ["decided", isoInstant(report.decidedAtMs) ?? "not yet"],
    ["correction", correction?.category ?? "none"],
    ["others", others.map(({ category, accountCount }) => `${category} by ${accountCount}`).join(", ") || "none"],
  ])
}

const UNKNOWN_REPORT = "There is no report with this id. `feedback list` shows the ids."

type Decision = {
  readonly id: string
  readonly verdict: "accepted" | "rejected"
  readonly seen: FeedbackStatus
}

/** `feedback accept ID` and `reject ID`: corrections are live everywhere within a minute. What somebody else decided stays unless `seen` names it. */
async function feedbackDecide(
  output: Output,
  { changes }: CustomerCommandDeps,
  { id, verdict, seen }: Decision,
  asJson: boolean,
): Promise<void> {
  const decision = await decideFeedback(changes, id, verdict, seen)
  switch (decision.kind) {
    case "unknown_feedback":
      throw new CommandError(UNKNOWN_REPORT)
    case "decided_meanwhile": {
      const { status, decidedAtMs } = decision.feedback
      const since = decidedAtMs === null ? "" : ` since ${isoInstant(decidedAtMs)}`
      throw new CommandError(
        `Nothing was changed. The report is ${status}${since}. To decide it again, add --seen ${status}.`,
        4,
      )
    }
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
      return
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
