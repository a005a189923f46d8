import { createClient, type Mailkind, type MailkindBrowser } from "./client.ts"
import type { MailkindOptions, PublishableOptions } from "./options.ts"
import { clientPlatform } from "./platform.ts"

export type {
  BatchItemResult,
  Category,
  CheckResult,
  FeedbackBody,
  FeedbackReceipt,
  Health,
  Job,
  JobEstimate,
  JobFormat,
  JobReason,
  JobState,
  OwnListAddition,
  OwnListEntry,
  OwnListPage,
  OwnListRemoval,
  Policy,
  Problem,
  ProblemCode,
  Reason,
  Recommendation,
  ReducedResult,
  Usage,
} from "./api-types.ts"
export type { BatchItems, BatchOptions, BatchProgress, BatchRun } from "./batch.ts"
export type { CheckSubject, CheckTerms, Mailkind, MailkindBrowser } from "./client.ts"
export {
  JobError,
  type ListFile,
  type MailkindJob,
  type MailkindJobs,
  type ResultOptions,
  type UploadOptions,
} from "./jobs.ts"
export type { CallOptions, MailkindOptions, OnceOptions, PublishableOptions } from "./options.ts"
export type { Cause, Checked, Failure, ItemOutcome, Outcome, Reply, Unchecked } from "./outcome.ts"
export type { MailkindList, OwnListItem, OwnListPlace } from "./own-lists.ts"
export type { MailkindStats } from "./statistics.ts"

/** Makes a client: with `publishableKey` for pages of a browser, with `key` for everywhere else. */
export function createMailkind(options: PublishableOptions): MailkindBrowser
export function createMailkind(options: MailkindOptions): Mailkind
export function createMailkind(options: MailkindOptions | PublishableOptions): Mailkind | MailkindBrowser {
  return createClient(options, clientPlatform(options))
}
