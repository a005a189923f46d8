import { TypeCompiler } from "@sinclair/typebox/compiler"
import { parseSubject, refusalOf } from "../check/address/parse.ts"
import type { Subject } from "../check/address/subject.ts"
import type { Check } from "../check/check.ts"
import { FeedbackBody, REPORTABLE_CATEGORIES, type ReportableCategory } from "../contract/feedback-schema.ts"
import { LIMITS } from "../contract/limits.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import type { Report, Reporting } from "../customers/feedback/feedback.ts"
import type { OwnLists } from "../customers/own-lists/held-own-lists.ts"
import { NO_OBJECT } from "./problem.ts"

/** A verdict that somebody calls wrong, by the API or by a form. */
type WrongVerdict = {
  readonly subject: Subject
  readonly domain: string
  readonly expected: ReportableCategory
  readonly comment: string | null
}

/** Which member is at fault; the empty one is the whole. */
export type FaultyMember = "" | "email" | "domain" | "expected_category" | "comment"

/** What was sent, or what is wrong with it. */
type WrongVerdictRead =
  | { readonly kind: "read"; readonly verdict: WrongVerdict }
  | { readonly kind: "faulty"; readonly member: FaultyMember; readonly detail: string }

/** What takes reports. */
export type ReportNeeds = {
  readonly check: Check
  readonly ownLists: OwnLists
  /** The role that a local part names, as a word of our lists; null: none. */
  readonly roleOf: (localPart: string) => string | null
  readonly report: (report: Report) => Promise<Reporting>
}

const body = TypeCompiler.Compile(FeedbackBody)

/** Reads what is reported: exactly one of `email` and `domain` is sent, and it names a domain. */
export function readWrongVerdict(sent: unknown, testDomain: string): WrongVerdictRead {
  if (!body.Check(sent)) {
    const member = memberOf(body.Errors(sent).First()?.path ?? "")
    return { kind: "faulty", member, detail: wants(member) }
  }
  const { email, domain: name, expected_category: expected, comment = null } = sent
  if ((email === undefined) === (name === undefined))
    return { kind: "faulty", member: "email", detail: "Send exactly one of `email` and `domain`." }
  const kind = email === undefined ? "domain" : "email"
  const subject = parseSubject(kind, email ?? name ?? "", testDomain)
  const { domain } = subject
  if (refusalOf(subject) !== null || domain === null || subject.fault === "invalid_syntax" || subject.isTest)
    return { kind: "faulty", member: kind, detail: `\`${kind}\` names no domain that can be corrected.` }
  return { kind: "read", verdict: { subject, domain, expected, comment } }
}

/** Reports a wrong verdict for an account. The address is dropped here, and only its domain goes on. */
export async function reportWrongVerdict(
  { check, ownLists, roleOf, report }: ReportNeeds,
  { subject, domain, expected, comment }: WrongVerdict,
  accountId: string,
): Promise<Reporting> {
  // What the account is told now, by the same lists.
  const standing = await ownLists.standing(accountId, subject.normalized, domain)
  const outcome = await check({ subject, policy: POLICY_DEFAULT, deep: false, workspace: false, standing })
  return await report({
    accountId,
    domain,
    roleWord: subject.localPart === null ? null : roleOf(subject.localPart),
    currentCategory: outcome.settled.verdict.category,
    reportedCategory: expected,
    comment,
  })
}

const WANTS: { readonly [M in FaultyMember]: string } = {
  "": NO_OBJECT.detail,
  email: "`email` must be a string.",
  domain: "`domain` must be a string.",
  expected_category: `\`expected_category\` must be one of ${REPORTABLE_CATEGORIES.join(", ")}.`,
  comment: `\`comment\` must be a string of at most ${LIMITS.commentLengthMax} characters.`,
}

const isMember = (name: string): name is FaultyMember => Object.hasOwn(WANTS, name)

function memberOf(path: string): FaultyMember {
  const name = path.slice(1)
  return isMember(name) ? name : ""
}

const wants = (member: FaultyMember): string => WANTS[member]
