import { kindOf, parseSubject, refusalOf } from "../../../check/address/parse.ts"
import { type Check, NO_STANDING, type Question, type Standing } from "../../../check/check.ts"
import { fullResult } from "../../../check/present.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { OwnLists } from "../../../customers/own-lists/held-own-lists.ts"
import { invalidInput } from "../../problem.ts"
import { INPUT } from "./ask-form.tsx"

/** What a free check is made by. */
export type FreeCheckNeeds = { readonly check: Check; readonly ownLists: OwnLists; readonly testDomain: string }

/** What a text asks: about an email, a URL or a domain, told apart as a batch does. Throws `invalid_input`, in words for people. */
export function freeQuestion({ testDomain }: FreeCheckNeeds, text: string): Question {
  const subject = parseSubject(kindOf(text), text, testDomain)
  const refusal = text.length > LIMITS.urlLengthMax ? "too_long" : refusalOf(subject)
  if (refusal !== null) throw invalidInput([{ pointer: `/${INPUT}`, detail: REFUSED[refusal] }])
  return { subject, policy: POLICY_DEFAULT, deep: false, workspace: true, standing: NO_STANDING }
}

/** Checks it. Rejects when the operator's lists cannot be read. */
export async function freeResult(
  { check, ownLists }: FreeCheckNeeds,
  question: Question,
  requestId: string,
): Promise<CheckResult> {
  const { domain, normalized, isTest } = question.subject
  const standing = domain === null || isTest ? NO_STANDING : toldAll(await ownLists.standing(null, normalized, domain))
  return fullResult(await check({ ...question, standing }), requestId)
}

/** The operator's allow list holds for everybody. Whom the operator blocks is told to key holders alone: here anybody could try names. */
const toldAll = ({ isOperatorAllowed }: Standing): Standing => ({ ...NO_STANDING, isOperatorAllowed })

const REFUSED = {
  empty: "Type an email address, a domain or a website.",
  control_character: "There is a character in it that cannot be seen and belongs in no address. Type it anew.",
  too_long: `That is too long: an address has at most ${LIMITS.addressOctetsMax} characters, a domain ${LIMITS.domainOctetsMax}, a website ${LIMITS.urlLengthMax}.`,
} as const
