import { LIMITS } from "../../contract/limits.ts"
import { parsePlainHost } from "./parse-host.ts"
import type { Subject } from "./subject.ts"

/** What is typed for a dot, or beside one: the keys around it, a second dot, and white space. */
const WRONG_DOTS = /[.,;: ]+/g
/** What is left of a sentence or of quoting around a name. */
const ENDS = /^[.<("']+|[.>)"']+$/g

/**
 * The domain of an invalid Subject with its punctuation put right: `gmail,com` and `gmail..com` are `gmail.com`, and so is
 * `gmail.com,` of an address. Null: the fault is another one, or putting it right makes no domain.
 */
export function mendedDomain({ kind, sent, fault, domain }: Subject): string | null {
  if (fault !== "invalid_syntax" || domain !== null || kind === "url") return null
  const atSign = sent.lastIndexOf("@")
  if (atSign < 0 === (kind === "email") || sent.length - atSign > LIMITS.domainBytesMax) return null
  const mended = sent
    .slice(atSign + 1)
    .toLowerCase()
    .replace(WRONG_DOTS, ".")
    .replace(ENDS, "")
  return parsePlainHost(mended)?.parsed.name ?? null
}
