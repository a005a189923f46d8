import { parseSubject, refusalOf } from "../../../check/address/parse.ts"
import type { SubjectKind } from "../../../check/address/subject.ts"
import { NO_STANDING, type Question } from "../../../check/check.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, type Policy } from "../../../contract/policies.ts"
import type { Form } from "../form.ts"

/** What stands in the box. */
export type TryEntry = { readonly asked: string; readonly policy: string; readonly isDeep: boolean }

/** What is wrong with it. */
export type TryFault = { readonly field: "asked" | "policy"; readonly says: string }

/** An empty box. */
export const NEW_TRY: TryEntry = { asked: "", policy: POLICY_DEFAULT, isDeep: false }

/** What a form brought. */
export const tryEntryOf = (form: Form): TryEntry => ({
  asked: form.text("asked"),
  policy: form.text("policy"),
  isDeep: form.text("deep") === "yes",
})

/** The question that the box asks, or why it asks none. */
export function askedIn({ asked, policy, isDeep }: TryEntry, testDomain: string): Question | TryFault {
  if (!isPolicy(policy)) return { field: "policy", says: "Choose one of the policies." }
  const kind = kindOf(asked)
  if (kind === "url" && asked.length > LIMITS.urlLengthMax) return { field: "asked", says: REFUSED.too_long }
  const subject = parseSubject(kind, asked, testDomain)
  const refusal = refusalOf(subject)
  if (refusal !== null) return { field: "asked", says: REFUSED[refusal] }
  return { subject, policy, deep: isDeep, workspace: true, standing: NO_STANDING }
}

/** What people write with an `@` is an address, unless it begins like a link; with a slash it is a website. */
function kindOf(asked: string): SubjectKind {
  if (/^https?:\/\//i.test(asked)) return "url"
  if (asked.includes("@")) return "email"
  return asked.includes("/") || /^[a-z][a-z0-9+.-]*:/i.test(asked) ? "url" : "domain"
}

const REFUSED = {
  empty: "Write an address, a domain or a website.",
  control_character: "This holds a character that cannot be seen. Please type it anew.",
  too_long: `This is too long: an address has at most ${LIMITS.addressOctetsMax} octets, a domain ${LIMITS.domainOctetsMax}, a website address ${LIMITS.urlLengthMax} characters.`,
} as const

const isPolicy = (policy: string): policy is Policy => Object.hasOwn(POLICIES, policy)
