import { TypeCompiler } from "@sinclair/typebox/compiler"
import { Elysia } from "elysia"
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
import { ROUTES } from "../../contract/routes.ts"
import type { FeedbackReport, FeedbackReportResult } from "../../customers/feedback/feedback.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { WithSecretKey } from "../admission/admission.ts"
import { type BodyReservations, readJsonBody } from "../request/body.ts"
import { invalidKey } from "../request/caller.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { invalidInput, NOT_AN_OBJECT } from "../response/problem.ts"

type FeedbackRouteDeps = FeedbackDeps & {
  readonly responses: JsonResponses
  readonly withSecretKey: WithSecretKey
  readonly testDomain: string
  readonly loadShedder: BodyReservations
}

const ACCEPTED = 202

/** POST /v1/feedback: reports a wrong verdict. It costs no unit. */
export function feedbackRoute(needs: FeedbackRouteDeps) {
  const { responses, withSecretKey, testDomain, loadShedder } = needs
  const reported = async (sent: unknown, accountId: string): Promise<FeedbackReceipt> => {
    const read = parseFeedback(sent, testDomain)
    if (read.kind === "faulty")
      throw invalidInput([{ pointer: read.member === "" ? "" : `/${read.member}`, detail: read.detail }])
    const reporting = await submitFeedback(needs, read.input, accountId)
    // The account went between the look-up of its key and now, and the key with it.
    if (reporting.kind === "unknown_account") throw invalidKey("No such key exists.")
    const { receipt } = reporting
    return {
      id: receipt.id,
      status: receipt.status,
      domain: receipt.domain,
      current_category: receipt.currentCategory,
      reported_category: receipt.reportedCategory,
    }
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postFeedback.path,
    ({ request }) =>
      withSecretKey(request, async ({ account }, pass) => {
        const receipt = await reported(await readJsonBody(request, LIMITS.bodyBytesMax, loadShedder), account.id)
        return responses.serialized(JSON.stringify(receipt), responses.requestId(request), ACCEPTED, pass?.headers())
      }),
    { parse: "none" },
  )
}

/** A verdict that somebody calls wrong, by the API or by a form. */
type FeedbackInput = {
  readonly subject: Subject
  readonly domain: string
  readonly expected: ReportableCategory
  readonly comment: string | null
}

/** Which member is at fault; the empty one is the whole. */
export type FeedbackMember = "" | "email" | "domain" | "expected_category" | "comment"

/** What was sent, or what is wrong with it. */
type ParsedFeedback =
  | { readonly kind: "read"; readonly input: FeedbackInput }
  | { readonly kind: "faulty"; readonly member: FeedbackMember; readonly detail: string }

/** What takes reports. */
export type FeedbackDeps = {
  readonly check: Check
  readonly ownLists: OwnListCache
  /** The role that a local part names, as a word of our lists; null: none. */
  readonly roleOf: (localPart: string) => string | null
  readonly report: (report: FeedbackReport) => Promise<FeedbackReportResult>
}

const feedbackSchema = TypeCompiler.Compile(FeedbackBody)

/** Reads what is reported: exactly one of `email` and `domain` is sent, and it names a domain. */
export function parseFeedback(sent: unknown, testDomain: string): ParsedFeedback {
  if (!feedbackSchema.Check(sent)) {
    const member = memberAt(feedbackSchema.Errors(sent).First()?.path ?? "")
    return { kind: "faulty", member, detail: memberRule(member) }
  }
  const { email, domain: name, expected_category: expected, comment = null } = sent
  if ((email === undefined) === (name === undefined))
    return { kind: "faulty", member: "email", detail: "Send exactly one of `email` and `domain`." }
  const kind = email === undefined ? "domain" : "email"
  const subject = parseSubject(kind, email ?? name ?? "", testDomain)
  const { domain } = subject
  if (inputRefusal(subject) !== null || domain === null || subject.fault === "invalid_syntax" || subject.isTest)
    return { kind: "faulty", member: kind, detail: `\`${kind}\` names no domain that can be corrected.` }
  return { kind: "read", input: { subject, domain, expected, comment } }
}

/** Reports a wrong verdict for an account. The address is dropped here, and only its domain goes on. */
export async function submitFeedback(
  { check, ownLists, roleOf, report }: FeedbackDeps,
  { subject, domain, expected, comment }: FeedbackInput,
  accountId: string,
): Promise<FeedbackReportResult> {
  // What the account is told now, by the same lists.
  const ownListMatch = await ownLists.lookup(accountId, subject.normalized, domain)
  const outcome = await check({ subject, policy: POLICY_DEFAULT, isDeep: false, includeTenant: false, ownListMatch })
  return await report({
    accountId,
    domain,
    roleWord: subject.localPart === null ? null : roleOf(subject.localPart),
    currentCategory: outcome.judged.verdict.category,
    reportedCategory: expected,
    comment,
  })
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
