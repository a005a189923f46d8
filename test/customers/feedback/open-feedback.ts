import { type FeedbackReport, type ReportReceipt, recordFeedback } from "../../../src/customers/feedback/feedback.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** Reports that example.com is a business, but for what is wanted otherwise, and gives the receipt. */
export async function submitReport(
  log: AttributedLog,
  wanted: Partial<FeedbackReport> & { readonly accountId: string },
): Promise<ReportReceipt> {
  const made = await recordFeedback(log, random, {
    domain: "example.com",
    roleWord: null,
    currentCategory: "unknown",
    reportedCategory: "business",
    comment: null,
    ...wanted,
  })
  if (made.kind !== "reported") throw new Error(made.kind)
  return made.receipt
}

/** A store with an account that reports, and everything to read what came of it. */
export async function openFeedback() {
  const path = tempPlace()
  const store = await tempStore(path)
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const report = (wanted: Partial<FeedbackReport> = {}) => submitReport(log, { accountId, ...wanted })
  const corrections = () =>
    store.all<{ domain: string; category: string; feedback_id: string }>(
      "SELECT domain, category, feedback_id FROM corrections ORDER BY domain",
    )
  return { path, store, log, accountId, report, corrections }
}
