import { hasAtMostCharacters } from "../../base/text.ts"
import { detectSubjectKind, inputRefusal, parseSubject } from "../../check/address/parse-subject.ts"
import type { Subject } from "../../check/address/subject.ts"
import { LIMITS } from "../../contract/limits.ts"
import { cleanAddressCell } from "../../rows/clean-cell.ts"
import { formatNumber } from "./ui/format.ts"
import { lengthSentence } from "./ui/verdict/reason-words.ts"

/** A text as a person types it into one field for addresses, domains and websites, or why it cannot be checked. */
export type TypedSubject =
  | { readonly kind: "subject"; readonly subject: Subject }
  | { readonly kind: "refused"; readonly message: string }

/**
 * Parses a typed text. It is read as in a batch, apart from a website with an `@` behind its host, which is a website, and a copied address, which is
 * taken out of its link (`mailto:`) or the angle brackets around it. The message of a refusal is a sentence for the person.
 */
export function parseTyped(typed: string, testDomain: string): TypedSubject {
  const copied = COPIED_ADDRESS.test(typed) ? cleanAddressCell(typed) : null
  const text = copied !== null && copied.others.length === 0 ? copied.text : typed
  const website = text.includes("@") && HOST_BEFORE_AT.test(text) ? parseSubject("url", text, testDomain) : null
  const subject = website?.fault === null ? website : parseSubject(typedKind(text), text, testDomain)
  if (subject.kind === "url" && !hasAtMostCharacters(text, LIMITS.urlLengthMax))
    return {
      kind: "refused",
      message: `A website address has at most ${formatNumber(LIMITS.urlLengthMax)} characters.`,
    }
  const refusal = inputRefusal(subject)
  if (refusal === null) return { kind: "subject", subject }
  const { kind, sent } = subject
  return { kind: "refused", message: REFUSALS[refusal] ?? lengthSentence(kind === "email" ? sent : null) }
}

/** A link to an address, or angle brackets at its end. */
const COPIED_ADDRESS = /^\s*<?mailto:|>\s*$/i

/** A host followed by a path, a query or a fragment in which the first `@` stands. */
const HOST_BEFORE_AT = /^\s*(?:https?:\/\/)?[^\s@"/?#]+[/?#][^@]*@/i

const typedKind = (text: string) => (/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text) ? "url" : detectSubjectKind(text))

const REFUSALS = {
  empty: "Enter an email address, a domain or a website.",
  control_character: "This contains an invisible character. Type it again.",
  too_long: null,
} as const
