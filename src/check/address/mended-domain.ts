import { trimSpace } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { parseLocalPart } from "./parse-email.ts"
import { parsePlainHost } from "./parse-host.ts"
import type { Subject } from "./subject.ts"

/** What is typed for a dot, or beside one: the keys around it, a second dot, and white space. */
const WRONG_DOTS = /[.,;: ]+/g
/** What is left of a sentence or of quoting around a name. */
const ENDS = /^[.<("']+|[.>)"']+$/g

/**
 * The domain of an invalid Subject with its punctuation put right: `gmail,com` and `gmail..com` are `gmail.com`, and so is
 * `gmail.com,` of an address. Null: the fault is another one too, such as a second `@`, or putting it right makes no domain.
 */
export function mendedDomain({ kind, sent, fault, domain }: Subject): string | null {
  if (fault !== "invalid_syntax" || domain !== null || kind === "url") return null
  const atSign = sent.lastIndexOf("@")
  if (atSign < 0 === (kind === "email") || sent.length - atSign > LIMITS.domainBytesMax) return null
  if (hasAnotherAtSign(trimSpace(sent.slice(0, Math.max(atSign, 0))))) return null
  const mended = sent
    .slice(atSign + 1)
    .toLowerCase()
    .replace(WRONG_DOTS, ".")
    .replace(ENDS, "")
  return parsePlainHost(mended)?.name ?? null
}

/** Whether the text before the last `@` has one that no quoted string holds. A text with the fault `invalid_syntax` is not longer than an address. */
const hasAnotherAtSign = (before: string): boolean => before.includes("@") && parseLocalPart(before) === null
