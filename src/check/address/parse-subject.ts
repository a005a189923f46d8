import { hasControlCharacter, trimSpace } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { normalLocalPartEnd, type ParsedEmail, parseEmail } from "./parse-email.ts"
import { parseHost, parsePlainHost, parseUrl } from "./parse-host.ts"
import { classifySuffix, isSameOrSubdomain } from "./public-suffix.ts"
import type { Subject, SubjectFault, SubjectKind } from "./subject.ts"

/** The domain of test addresses as it is parsed with, from its setting. `off` becomes the empty text, which is no address's domain. */
export const testDomainOf = (setting: string): string => (setting === "off" ? "" : setting)

/**
 * Parses an input. It never throws, takes time linear in the length of the text, and returns a Subject for every text.
 *
 * White space at the ends is ignored, as `trimSpace` says. An empty text and a text with a control character are `invalid_syntax`, and
 * no part of them is parsed. If several faults apply, the first of this order is reported: too long, syntax, IP address,
 * fault of the suffix. An IP address gives no domain. `normalized` and `localPart` are set unless the fault is
 * `invalid_syntax`, `too_long` or `ip_literal`. `testDomain` is A-labels in lower case; it and its subdomains have no
 * fault of the suffix.
 */
export function parseSubject(kind: SubjectKind, sent: string, testDomain: string): Subject {
  const plain = kind === "email" ? plainEmailSubject(sent, testDomain) : null
  if (plain !== null) return plain
  const text = trimSpace(sent)
  if (text === "" || hasControlCharacter(text)) return faultySubject(kind, sent, "invalid_syntax")
  if (kind === "email") return emailSubject(sent, text, testDomain)
  if (kind === "url") return urlSubject(sent, text, testDomain)
  const host = parseHost(text, true)
  return buildSubject(kind, sent, host.name, host.fault, NO_EMAIL, testDomain)
}

/**
 * The fast path of most addresses: the local part is a dot-atom in normal form, and the host is a plain name.
 * Null: the text needs the complete parser, which also handles white space and control characters.
 */
export function plainEmailSubject(sent: string, testDomain: string): Subject | null {
  const atSign = normalLocalPartEnd(sent)
  const host = atSign < 0 || sent.length > LIMITS.addressBytesMax ? null : parsePlainHost(sent, atSign + 1)
  if (host === null) return null
  const { name: domain } = host
  const { fault, registrable } = host.suffix
  const isTest = isSameOrSubdomain(domain, testDomain)
  return {
    kind: "email",
    sent,
    fault: isTest ? null : fault,
    domain,
    wwwHost: null,
    registrable,
    localPart: sent.slice(0, atSign),
    normalized: sent,
    mailbox: sent,
    tagged: null,
    hasSubaddress: false,
    isTest,
  }
}

/** The Subject of a text that is not parsed at all. */
export const faultySubject = (kind: SubjectKind, sent: string, fault: SubjectFault): Subject =>
  buildSubject(kind, sent, null, fault, NO_EMAIL, "")

/**
 * The kind of a batch item: a text with an `@` is an email; another one with a `/` (of a scheme or a path) is a URL; the
 * rest are domains. `acme.com:8080` has neither, so it is a domain, which does not parse.
 */
export function detectSubjectKind(item: string): SubjectKind {
  if (item.includes("@")) return "email"
  return item.includes("/") ? "url" : "domain"
}

/** Why a single check is refused and gets no verdict. */
type InputRefusal = "empty" | "control_character" | "too_long"

/**
 * Why a single check of the Subject is refused (`DECISIONS 13`): the text is empty or only white space, contains a
 * control character, or is too long. Null: it gets a verdict, which may be `invalid`. A batch item is never refused.
 */
export function inputRefusal({ sent, fault }: Subject): InputRefusal | null {
  if (fault === "too_long") return "too_long"
  if (fault !== "invalid_syntax") return null
  const text = trimSpace(sent)
  if (text === "") return "empty"
  return hasControlCharacter(text) ? "control_character" : null
}

function emailSubject(sent: string, text: string, testDomain: string): Subject {
  const email = parseEmail(text)
  return buildSubject("email", sent, email.host.name, email.fault, email, testDomain)
}

function urlSubject(sent: string, text: string, testDomain: string): Subject {
  const { name, fault, wwwHost } = parseUrl(text)
  return { ...buildSubject("url", sent, name, fault, NO_EMAIL, testDomain), wwwHost }
}

/** The email parts of a text that is not an email. */
const NO_EMAIL = { localPart: null, normalized: null, mailbox: null, tagged: null } as const

function buildSubject(
  kind: SubjectKind,
  sent: string,
  domain: string | null,
  syntaxFault: SubjectFault | null,
  { localPart, normalized, mailbox, tagged }: Omit<ParsedEmail, "host" | "fault">,
  testDomain: string,
): Subject {
  const suffix = domain === null ? null : classifySuffix(domain)
  const isUnderTest = domain !== null && isSameOrSubdomain(domain, testDomain)
  const fault = syntaxFault ?? (isUnderTest || suffix === null ? null : suffix.fault)
  return {
    kind,
    sent,
    fault,
    domain,
    wwwHost: null,
    registrable: suffix === null ? null : suffix.registrable,
    localPart: normalized === null ? null : normalized.slice(0, normalized.lastIndexOf("@")),
    normalized,
    mailbox,
    tagged,
    hasSubaddress: localPart !== null && localPart.tagged !== null,
    isTest: isUnderTest && fault === null,
  }
}

/** An address or a domain with valid syntax, whether or not its name can exist in public DNS. */
type AddressOrDomain =
  | { readonly kind: "address"; readonly normalized: string; readonly domain: string }
  | { readonly kind: "domain"; readonly domain: string }

/** The address that a text names, in normal form with its `+tag`, or the domain as A-labels; null if it is neither. */
export function parseAddressOrDomain(text: string): AddressOrDomain | null {
  const isAddress = text.includes("@")
  const { domain, mailbox, tagged } = parseSubject(isAddress ? "email" : "domain", text, "")
  if (domain === null) return null
  if (!isAddress) return { kind: "domain", domain }
  return mailbox === null ? null : { kind: "address", normalized: tagged ?? mailbox, domain }
}
