import { LIMITS } from "../../contract/limits.ts"
import { normalLocalPartEnd, type ParsedEmail, parseEmail } from "./parse-email.ts"
import { cachedHostName, parseHost, parseUrl } from "./parse-host.ts"
import { classifySuffix, isSameOrSubdomain } from "./public-suffix.ts"
import type { Subject, SubjectFault, SubjectKind } from "./subject.ts"
import { hasControlCharacter, trimAsciiSpace } from "./text.ts"

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
  const plain = kind === "email" ? plainEmailSubject(sent, testDomain) : null
  if (plain !== null) return plain
  const text = trimAsciiSpace(sent)
  if (text === "" || hasControlCharacter(text)) return faultySubject(kind, sent, "invalid_syntax")
  if (kind === "email") return emailSubject(sent, text, testDomain)
  const host = kind === "url" ? parseUrl(text) : parseHost(text, true)
  return buildSubject(kind, sent, host.name, host.fault, NO_EMAIL_PARTS, testDomain)
}

/**
 * The Subject of most addresses, in one look: the local part is a dot-atom in its normal form, the host a plain name that was
 * read lately. Null: the text is to be read with care, white space and control characters included.
 */
function plainEmailSubject(sent: string, testDomain: string): Subject | null {
  const at = normalLocalPartEnd(sent)
  const domain = at < 0 || sent.length > LIMITS.addressBytesMax ? null : cachedHostName(sent.slice(at + 1))
  if (domain === null) return null
  const { fault, registrable } = classifySuffix(domain)
  const isTest = isSameOrSubdomain(domain, testDomain)
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
export const faultySubject = (kind: SubjectKind, sent: string, fault: SubjectFault): Subject =>
  buildSubject(kind, sent, null, fault, NO_EMAIL_PARTS, "")

/**
 * What a batch takes an item for (interface, "POST /v1/check/batch"): an `@` anywhere makes an email, then a `/`
 * a URL, with the `//` of a scheme or the `/` of a path; the rest are domains. `acme.com:8080` is a domain that
 * does not parse, since it has neither.
 */
export function detectSubjectKind(item: string): SubjectKind {
  if (item.includes("@")) return "email"
  return item.includes("/") ? "url" : "domain"
}

/** Why a single check is refused and gets no verdict. */
type InputRefusal = "empty" | "control_character" | "too_long"

/**
 * Why a single check of the Subject is refused (decisions §2): nothing was sent but white space, a control character
 * stands in it, or it is too long. Null: it gets a verdict, `invalid` included. A batch item is never refused.
 */
export function inputRefusal({ sent, fault }: Subject): InputRefusal | null {
  if (fault === "too_long") return "too_long"
  if (fault !== "invalid_syntax") return null
  const text = trimAsciiSpace(sent)
  if (text === "") return "empty"
  return hasControlCharacter(text) ? "control_character" : null
}

function emailSubject(sent: string, text: string, testDomain: string): Subject {
  const email = parseEmail(text)
  return buildSubject("email", sent, email.host.name, email.fault, email, testDomain)
}

/** What a text that is no email has of one. */
const NO_EMAIL_PARTS = { localPart: null, normalized: null } as const

function buildSubject(
  kind: SubjectKind,
  sent: string,
  domain: string | null,
  syntaxFault: SubjectFault | null,
  { localPart, normalized }: Pick<ParsedEmail, "localPart" | "normalized">,
  testDomain: string,
): Subject {
  const standing = domain === null ? null : classifySuffix(domain)
  const isUnderTest = domain !== null && isSameOrSubdomain(domain, testDomain)
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

/** What somebody means who names an address or a domain, wherever it stands in public DNS. */
type AddressOrDomain =
  | { readonly kind: "address"; readonly normalized: string; readonly domain: string }
  | { readonly kind: "domain"; readonly domain: string }

/** What a text names: an address in lower case without its `+tag`, or a domain as A-labels; null when it is neither. */
export function parseAddressOrDomain(text: string): AddressOrDomain | null {
  const isAddress = text.includes("@")
  const { domain, normalized } = parseSubject(isAddress ? "email" : "domain", text, "")
  if (domain === null) return null
  if (!isAddress) return { kind: "domain", domain }
  return normalized === null ? null : { kind: "address", normalized, domain }
}
