import { LIMITS } from "../../contract/limits.ts"
import { plainLocalPartEnd } from "./local-part.ts"
import { type Email, parseEmail } from "./parse-email.ts"
import { heldName, parseHost } from "./parse-host.ts"
import { parseUrl } from "./parse-url.ts"
import { isWithin, standingOf } from "./public-suffix.ts"
import type { Fault, Subject, SubjectKind } from "./subject.ts"
import { hasControl, trimmed } from "./text.ts"

/**
 * Parses what was asked about. It never throws, takes time in proportion to the text, and gives a Subject for every text.
 *
 * Surrounding ASCII white space is not part of the text; an empty text and one with a control character are
 * `invalid_syntax` with nothing read from them. Of several faults the first counts: too long, syntax, IP address, then
 * where the name stands. An IP address is no domain. `normalized` and `localPart` stand unless the fault is
 * `invalid_syntax`, `too_long` or `ip_literal`. Only a Subject without a fault is a test. `testDomain` is A-labels, lower
 * case; names at and under it have no fault of standing.
 */
export function parseSubject(kind: SubjectKind, sent: string, testDomain: string): Subject {
  const plain = kind === "email" ? plainAddress(sent, testDomain) : null
  if (plain !== null) return plain
  const text = trimmed(sent)
  if (text === "" || hasControl(text)) return unreadSubject(kind, sent, "invalid_syntax")
  if (kind === "email") return emailSubject(sent, text, testDomain)
  const host = kind === "url" ? parseUrl(text) : parseHost(text, true)
  return subjectOf(kind, sent, host.name, host.fault, NO_ADDRESS, testDomain)
}

/**
 * The Subject of most addresses, in one look: the local part is a dot-atom in its normal form, the host a plain name that was
 * read lately. Null: the text is to be read with care, white space and control characters included.
 */
function plainAddress(sent: string, testDomain: string): Subject | null {
  const at = plainLocalPartEnd(sent)
  const domain = at < 0 || sent.length > LIMITS.addressOctetsMax ? null : heldName(sent.slice(at + 1))
  if (domain === null) return null
  const { fault, registrable } = standingOf(domain)
  const isTest = isWithin(domain, testDomain)
  return {
    kind: "email",
    sent,
    fault: isTest ? null : fault,
    domain,
    registrable,
    localPart: sent.slice(0, at),
    normalized: sent,
    hasSubaddress: false,
    isTest,
  }
}

/** The Subject of a text from which nothing is read. */
export const unreadSubject = (kind: SubjectKind, sent: string, fault: Fault): Subject =>
  subjectOf(kind, sent, null, fault, NO_ADDRESS, "")

/**
 * What a batch takes an item for (interface, "POST /v1/check/batch"): an `@` anywhere makes an email, then a `/`
 * a URL, with the `//` of a scheme or the `/` of a path; the rest are domains. `acme.com:8080` is a domain that
 * does not parse, since it has neither.
 */
export function kindOf(item: string): SubjectKind {
  if (item.includes("@")) return "email"
  return item.includes("/") ? "url" : "domain"
}

/** Why a single check is refused and gets no verdict. */
type Refusal = "empty" | "control_character" | "too_long"

/**
 * Why a single check of the Subject is refused (decisions §2): nothing was sent but white space, a control character
 * stands in it, or it is too long. Null: it gets a verdict, `invalid` included. A batch item is never refused.
 */
export function refusalOf({ sent, fault }: Subject): Refusal | null {
  if (fault === "too_long") return "too_long"
  if (fault !== "invalid_syntax") return null
  const text = trimmed(sent)
  if (text === "") return "empty"
  return hasControl(text) ? "control_character" : null
}

function emailSubject(sent: string, text: string, testDomain: string): Subject {
  const email = parseEmail(text)
  return subjectOf("email", sent, email.host.name, email.fault, email, testDomain)
}

/** What a text that is no email has of one. */
const NO_ADDRESS = { localPart: null, normalized: null } as const

function subjectOf(
  kind: SubjectKind,
  sent: string,
  domain: string | null,
  syntaxFault: Fault | null,
  { localPart, normalized }: Pick<Email, "localPart" | "normalized">,
  testDomain: string,
): Subject {
  const standing = domain === null ? null : standingOf(domain)
  const isUnderTest = domain !== null && isWithin(domain, testDomain)
  const fault = syntaxFault ?? (isUnderTest || standing === null ? null : standing.fault)
  return {
    kind,
    sent,
    fault,
    domain,
    registrable: standing === null ? null : standing.registrable,
    localPart: normalized === null || localPart === null ? null : localPart.text,
    normalized,
    hasSubaddress: localPart?.hasTag ?? false,
    isTest: isUnderTest && fault === null,
  }
}
