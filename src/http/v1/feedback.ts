import { TypeCompiler } from "@sinclair/typebox/compiler"
import { lazy } from "../../base/lazy.ts"
import type { Clock } from "../../base/outside-world.ts"
import { dayEndMs } from "../../base/time.ts"
import { inputRefusal, parseSubject } from "../../check/address/parse-subject.ts"
import type { Subject } from "../../check/address/subject.ts"
import type { Check } from "../../check/check.ts"
import {
  FeedbackBody,
  type FeedbackReceipt,
  REPORTABLE_CATEGORIES,
  type ReportableCategory,
} from "../../contract/feedback-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../contract/policies.ts"
import { unitSubject } from "../../customers/accounts/unit-subjects.ts"
import type {
  FeedbackReport,
  FeedbackReportResult,
  RecordReceipt,
  ReportReceipt,
} from "../../customers/feedback/feedback.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { Actor } from "../../customers/store/change-log/actor.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { charged, metered, type UnitCharge } from "../admission/metered.ts"
import { callerOf, type Exchange, type RequestResult } from "../exchange.ts"
import { type BodyReservations, readJsonBody } from "../request/body.ts"
import { invalidKey } from "../request/caller.ts"
import { callerActor } from "../request/caller-actor.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { invalidInput, NOT_AN_OBJECT, type Problem, quotaExceeded } from "../response/problem.ts"
import { handlers } from "../router.ts"
import { answerOnce, onceResponse } from "./answer-once.ts"

type FeedbackRouteDeps = FeedbackDeps & {
  readonly responses: JsonResponses
  readonly testDomain: string
  readonly loadShedder: BodyReservations
  readonly changes: Pick<ChangeLog, "store">
}

const ACCEPTED = 202

/** POST /v1/feedback: reports a wrong verdict. It costs a unit, since the domain is checked. */
export function feedbackRoute(deps: FeedbackRouteDeps) {
  const { responses, testDomain, loadShedder, clock } = deps
  return handlers({
    postFeedback: async exchange => {
      const body = await readJsonBody(exchange.request, LIMITS.bodyBytesMax, loadShedder)
      const parsed = parseFeedback(body, testDomain)
      if (parsed.kind === "invalid")
        throw invalidInput([{ pointer: parsed.member === "" ? "" : `/${parsed.member}`, detail: parsed.detail }])
      const once = await answerOnce({ store: deps.changes.store, clock }, exchange, body, async record => {
        const recordReceipt: RecordReceipt = (store, receipt) => record(store, receiptText(receipt))
        const result = await submitMeteredFeedback(deps, exchange, parsed.input, recordReceipt)
        // The account and its key were deleted after the key was looked up.
        if (result.kind === "unknown_account") throw invalidKey("This key does not exist.")
        return receiptText(result.receipt)
      })
      return onceResponse(responses, exchange, once, ACCEPTED)
    },
  })
}

const receiptText = ({ id, status, domain, currentCategory, reportedCategory }: ReportReceipt): string =>
  JSON.stringify({
    ...{ id, status, domain, current_category: currentCategory, reported_category: reportedCategory },
  } satisfies FeedbackReceipt)

/** A valid report of a wrong verdict, from the API or from the dashboard's form. */
type FeedbackInput = {
  readonly subject: Subject
  readonly domain: string
  readonly expected: ReportableCategory
  readonly comment: string | null
}

/** A member of the input; the empty one stands for the whole body. */
type FeedbackMember = "" | "email" | "domain" | "expected_category" | "comment"

type ParsedFeedback =
  | { readonly kind: "valid"; readonly input: FeedbackInput }
  | { readonly kind: "invalid"; readonly member: FeedbackMember; readonly detail: string }

/** Dependencies of the feedback endpoint. `R`: what comes of a report. */
export type FeedbackDeps<R = FeedbackReportResult> = {
  readonly check: Check
  readonly ownLists: OwnListCache
  /** The role word of the lists that a local part is; null: none. */
  readonly roleOf: (localPart: string) => string | null
  /** Stores a report, and its receipt in the same transaction if it must be given again. */
  readonly report: (report: FeedbackReport, actor: Actor, record?: RecordReceipt | null) => Promise<R>
  readonly units: UnitQuota
  readonly usage: UsageMeter
  readonly clock: Clock
}

/** What nobody writes in a comment: control characters but TAB, LF and CR, and lone surrogates. */
const UNWRITTEN = /[\p{Cs}[\p{Cc}--[\t\n\r]]]/v
const UNWRITTEN_COMMENT =
  "`comment` has a control character other than a tab, a line feed and a carriage return, or half of a character."

const feedbackSchema = lazy(() => TypeCompiler.Compile(FeedbackBody))

/** Validates a report: exactly one of `email` and `domain`, which must name a domain that can be corrected. */
export function parseFeedback(body: unknown, testDomain: string): ParsedFeedback {
  if (!feedbackSchema().Check(body)) {
    const member = memberAt(feedbackSchema().Errors(body).First()?.path ?? "")
    return { kind: "invalid", member, detail: memberRule(member) }
  }
  const { email, domain: name, expected_category: expected, comment = null } = body
  if (comment !== null && UNWRITTEN.test(comment))
    return { kind: "invalid", member: "comment", detail: UNWRITTEN_COMMENT }
  if ((email === undefined) === (name === undefined))
    return { kind: "invalid", member: "email", detail: "Send exactly one of `email` and `domain`." }
  const kind = email === undefined ? "domain" : "email"
  const subject = parseSubject(kind, email ?? name ?? "", testDomain)
  const { domain } = subject
  if (inputRefusal(subject) !== null || domain === null || subject.fault === "invalid_syntax" || subject.isTest)
    return { kind: "invalid", member: kind, detail: `\`${kind}\` has no domain that can be corrected.` }
  return { kind: "valid", input: { subject, domain, expected, comment } }
}

/**
 * Reports a wrong verdict at the cost of a unit and of one of the reports that the account may send on a UTC day, a duplicate too:
 * each of them checks the domain. Rejects with `quota_exceeded`. When anything fails, nothing is charged. Reports are
 * limited also where units are not.
 */
export async function submitMeteredFeedback<R extends { readonly kind: string }>(
  deps: FeedbackDeps<R>,
  exchange: Exchange,
  input: FeedbackInput,
  record: RecordReceipt | null = null,
): Promise<R> {
  const { key, account } = callerOf(exchange)
  const result = await charged(reportsOf(deps, account.id), 1, () =>
    metered(
      deps,
      exchange,
      1,
      () => submitFeedback(deps, input, account.id, callerActor(account.id, key.id), record),
      () => ({ kind: "feedback" }),
    ),
  )
  if (result.kind !== "unknown_account") exchange.result = FEEDBACK_RESULT
  return result
}

/** What a report comes to in the request log. */
const FEEDBACK_RESULT: RequestResult = { units: 1, check: null, categoryCounts: null }

/** The reports that an account may send on a UTC day. */
function reportsOf({ units }: Pick<FeedbackDeps, "units">, accountId: string): UnitCharge {
  const subject = unitSubject(accountId, "reports")
  let takenOn: number | null = null
  return {
    charge: async count => {
      const { isTaken, day } = await units.take(subject, count, LIMITS.feedbackPerDay)
      if (!isTaken) throw tooManyReports(day, units.now())
      takenOn = day
    },
    refund: count => {
      if (takenOn !== null) units.refund(subject, count, takenOn)
    },
  }
}

const tooManyReports = (day: number, nowMs: number): Problem =>
  quotaExceeded(
    { needed: 1, remaining: 0, limit: LIMITS.feedbackPerDay },
    dayEndMs(day),
    nowMs,
    `An account can send ${LIMITS.feedbackPerDay} reports per day.`,
    "reports",
  )

/** Reports a wrong verdict for an account. Of an address only the domain and the role word are passed on. */
async function submitFeedback<R>(
  { check, ownLists, roleOf, report }: FeedbackDeps<R>,
  { subject, domain, expected, comment }: FeedbackInput,
  accountId: string,
  actor: Actor,
  record: RecordReceipt | null,
): Promise<R> {
  // The current verdict for this account, with its own lists.
  const ownListMatch = await ownLists.lookup(accountId, subject)
  const outcome = await check({
    subject,
    policy: POLICY_DEFAULT,
    isDeep: false,
    includeTenant: false,
    callerId: accountId,
    ownListMatch,
  })
  return await report(
    {
      accountId,
      domain,
      roleWord: subject.localPart === null ? null : roleOf(subject.localPart),
      currentCategory: outcome.judged.verdict.category,
      reportedCategory: expected,
      comment,
    },
    actor,
    record,
  )
}

const MEMBER_RULES: { readonly [M in FeedbackMember]: string } = {
  "": NOT_AN_OBJECT.detail,
  email: "`email` must be a string.",
  domain: "`domain` must be a string.",
  expected_category: `\`expected_category\` must be one of ${REPORTABLE_CATEGORIES.join(", ")}.`,
  comment: `\`comment\` must be a string of at most ${LIMITS.commentLengthMax} characters.`,
}

const isFeedbackMember = (name: string): name is FeedbackMember => Object.hasOwn(MEMBER_RULES, name)

function memberAt(path: string): FeedbackMember {
  const name = path.slice(1)
  return isFeedbackMember(name) ? name : ""
}

const memberRule = (member: FeedbackMember): string => MEMBER_RULES[member]
