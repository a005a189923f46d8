import { TypeCompiler } from "@sinclair/typebox/compiler"
import { Elysia } from "elysia"
import { parseSubject, refusalOf } from "../../check/address/parse.ts"
import type { Check } from "../../check/check.ts"
import { FeedbackBody, type FeedbackReceipt, REPORTABLE_CATEGORIES } from "../../contract/feedback-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../contract/policies.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Report, Reporting } from "../../customers/feedback/feedback.ts"
import type { OwnLists } from "../../customers/own-lists/held-own-lists.ts"
import type { Answers } from "../answer.ts"
import { type Bodies, jsonBody } from "../body.ts"
import { invalidKey } from "../caller.ts"
import type { Keyed } from "../keyed.ts"
import { invalidInput, NO_OBJECT } from "../problem.ts"

type Needs = {
  readonly answers: Answers
  readonly keyed: Keyed
  readonly check: Check
  readonly ownLists: OwnLists
  /** The role that a local part names, as a word of our lists; null: none. */
  readonly roleOf: (localPart: string) => string | null
  readonly testDomain: string
  readonly load: Bodies
  readonly report: (report: Report) => Promise<Reporting>
}

const ACCEPTED = 202
const body = TypeCompiler.Compile(FeedbackBody)

/** POST /v1/feedback: reports a wrong verdict. It costs no unit; the address is dropped here, and only its domain goes on. */
export function feedbackRoute({ answers, keyed, check, ownLists, roleOf, testDomain, report, load }: Needs) {
  const reported = async (sent: unknown, accountId: string): Promise<FeedbackReceipt> => {
    const { subject, domain, expected, comment } = readReport(sent, testDomain)
    // What the caller is told now, by the same lists.
    const standing = await ownLists.standing(accountId, subject.normalized, domain)
    const outcome = await check({ subject, policy: POLICY_DEFAULT, deep: false, workspace: false, standing })
    const { verdict } = outcome.settled
    const reporting = await report({
      accountId,
      domain,
      roleWord: subject.localPart === null ? null : roleOf(subject.localPart),
      currentCategory: verdict.category,
      reportedCategory: expected,
      comment,
    })
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
      keyed(request, async ({ account }, pass) => {
        const receipt = await reported(await jsonBody(request, LIMITS.bodyBytesMax, load), account.id)
        return answers.text(JSON.stringify(receipt), answers.requestId(request), ACCEPTED, pass?.told())
      }),
    { parse: "none" },
  )
}

/** What a body reports. Throws `invalid_input`: exactly one of `email` and `domain` is sent, and it names a domain. */
function readReport(sent: unknown, testDomain: string) {
  if (!body.Check(sent)) {
    const [first] = body.Errors(sent)
    throw invalidInput([{ pointer: first?.path ?? "", detail: wants(first?.path ?? "") }])
  }
  const { email, domain: name, expected_category: expected, comment = null } = sent
  if ((email === undefined) === (name === undefined)) {
    throw invalidInput([{ pointer: "/email", detail: "Send exactly one of `email` and `domain`." }])
  }
  const kind = email === undefined ? "domain" : "email"
  const subject = parseSubject(kind, email ?? name ?? "", testDomain)
  const { domain } = subject
  if (refusalOf(subject) !== null || domain === null || subject.fault === "invalid_syntax" || subject.isTest) {
    throw invalidInput([{ pointer: `/${kind}`, detail: `\`${kind}\` names no domain that can be corrected.` }])
  }
  return { subject, domain, expected, comment }
}

function wants(path: string): string {
  if (path === "") return NO_OBJECT.detail
  if (path === "/expected_category") return `\`expected_category\` must be one of ${REPORTABLE_CATEGORIES.join(", ")}.`
  if (path === "/comment") return `\`comment\` must be a string of at most ${LIMITS.commentLengthMax} characters.`
  return `\`${path.slice(1)}\` must be a string.`
}
