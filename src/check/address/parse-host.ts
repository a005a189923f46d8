import { isIPv4, isIPv6 } from "node:net"
import { domainToALabels, hasValidULabels } from "../../base/idna.ts"
import { cutOut } from "../../base/recurring-text-cache.ts"
import { hasAtMostCharacters } from "../../base/text.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type ClassifiedName, cachedName, classifiedName, classifySuffix } from "./public-suffix.ts"

/** The number of recent uncommon hosts that are cached at least, about 200 bytes each. */
const UNCOMMON_HOSTS_MIN = 2_000

type HostFault = "invalid_syntax" | "too_long" | "ip_literal"

/** The result of parsing a host: a name as A-labels, lower case, without a trailing dot; or why it is not a name. */
export type ParsedHost =
  | { readonly name: string; readonly fault: null }
  | { readonly name: null; readonly fault: HostFault }

/** The host of a website address. `wwwHost` is the whole host if a leading `www.` was dropped, else null. */
type ParsedUrl = ParsedHost & { readonly wwwHost: string | null }

/** A text that is not a host. */
export const INVALID_HOST: ParsedHost = { name: null, fault: "invalid_syntax" }

/** A host that is an IP address instead of a name. */
export const IP_HOST: ParsedHost = { name: null, fault: "ip_literal" }

const TOO_LONG: ParsedHost = { name: null, fault: "too_long" }

/** Labels of 1 to 63 lower-case letters, digits and inner hyphens; the last has letters only; none is an A-label. */
const PLAIN_NAME = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
const NAME_CHARACTERS = /^[a-z0-9._-]+$/i
const OTHER_ASCII = /[\0-,/:-@[-^`{-\x7f]/
const EMPTY_LABEL_OR_EDGE_HYPHEN = /^[.-]|[.-]$|[.-]\.|\.-/
const LABEL_TOO_LONG = new RegExp(`[^.]{${LIMITS.labelBytesMax + 1}}`)
const ALL_DIGITS_TOP = /(?:^|\.)\d+$/

/**
 * Parses a host by UTS 46, non-transitional, with STD3 rules: letters, digits and inner hyphens, labels of 1 to 63
 * bytes, 253 bytes in all. An ASCII label may have hyphens as its third and fourth characters, since DNS has such names;
 * a label with other letters may not (RFC 5891 §4.2.3.1). Every spelling of an IP address that browsers and resolvers
 * accept is `ip_literal`; any other name whose last label is all digits is invalid (RFC 3696 §2). `standsAlone`: the host is not that of
 * an email, so one trailing dot is allowed and dropped, and labels left of the registrable domain may have underscores.
 */
export function parseHost(text: string, standsAlone: boolean): ParsedHost {
  const plain = parsePlainHost(text)
  if (plain !== null) return { name: plain.name, fault: null }
  if (text.length > LIMITS.domainBytesMax) return parseUncommonHost(text, standsAlone)
  const recent = uncommonHosts[standsAlone ? 1 : 0]
  const known = recent.get(text)
  if (known !== undefined) return known
  const host = parseUncommonHost(text, standsAlone)
  recent.set(text, host)
  return host
}

/** The host of most texts, which is the text itself from an index on; null: it needs the complete parser. */
export function parsePlainHost(text: string, from = 0): ClassifiedName | null {
  const cached = cachedName(text, from)
  if (cached?.isPlainHost === true) return cached
  const name = cutOut(text, from)
  if (name.length > LIMITS.domainBytesMax || !PLAIN_NAME.test(name)) return null
  const host = cached ?? classifiedName(name)
  host.isPlainHost = true
  return host
}

/**
 * Hosts with capitals or letters of other scripts, which recur too, and take ten times as long to parse as plain ones: those of emails,
 * and those that stand alone.
 */
const uncommonHosts = [
  new TwoGenerationCache<string, ParsedHost>(UNCOMMON_HOSTS_MIN),
  new TwoGenerationCache<string, ParsedHost>(UNCOMMON_HOSTS_MIN),
] as const

function parseUncommonHost(text: string, standsAlone: boolean): ParsedHost {
  const ascii = toAscii(text)
  if (ascii === null) return nonDomainHost(text)
  const isRooted = ascii.endsWith(".")
  if (isRooted && !standsAlone) return INVALID_HOST
  const name = isRooted ? ascii.slice(0, -1) : ascii
  if (name.length > LIMITS.domainBytesMax) return TOO_LONG
  if (name.includes("_") && !(standsAlone && hasOwnUnderscores(name))) return INVALID_HOST
  if (name === "" || EMPTY_LABEL_OR_EDGE_HYPHEN.test(name) || LABEL_TOO_LONG.test(name)) return INVALID_HOST
  if (endsInNumber(name)) {
    if (parsesAsIpv4(name)) return IP_HOST
    if (ALL_DIGITS_TOP.test(name)) return INVALID_HOST
  }
  return { name, fault: null }
}

/** The text as lower-case A-labels, lengths unchecked; null if a character or a label is not allowed in a name. */
function toAscii(text: string): string | null {
  if (NAME_CHARACTERS.test(text)) {
    const lower = text.toLowerCase()
    if (!lower.includes("xn--")) return lower
  }
  if (OTHER_ASCII.test(text)) return null
  const ascii = domainToALabels(text)
  return NAME_CHARACTERS.test(ascii) && hasValidULabels(ascii) ? ascii : null
}

/**
 * Whether all underscores stand in labels left of the registrable domain, where the owner of a name chooses freely (RFC 2181 §11),
 * and in none that is an A-label.
 */
function hasOwnUnderscores(name: string): boolean {
  const isALabel = (label: string): boolean => label.startsWith("xn--")
  return (
    !classifySuffix(name).registrable.includes("_") &&
    !name.split(".").some(label => isALabel(label) && label.includes("_"))
  )
}

function nonDomainHost(text: string): ParsedHost {
  if (parsesAsIpv6(text)) return IP_HOST
  return text.length > LIMITS.domainBytesMax ? TOO_LONG : INVALID_HOST
}

const NUMERIC_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/
const ADDRESS_LITERAL = /^\[(ipv6:)?([\da-f.:]+)\]$/i

/** Whether the last label of a lower-case name is a decimal or hexadecimal number, as in every spelling of an IPv4 address. */
export function endsInNumber(name: string): boolean {
  return NUMERIC_END.test(name)
}

/**
 * Whether browsers or `inet_aton` parse a lower-case name as an IPv4 address: one to four decimal, octal or hexadecimal
 * numbers, of which the last fills the remaining bytes (WHATWG URL, "IPv4 parser"). Examples: `127.1`, `0x7f.1`,
 * `2130706433`.
 */
export function parsesAsIpv4(name: string): boolean {
  const parts = name.split(".")
  if (parts.length > 4) return false
  const last = parts.length - 1
  return parts.every((part, index) => parseIpv4Number(part) < (index < last ? 256 : 256 ** (4 - last)))
}

/** Whether the text is an IPv6 address without a zone, bare or in brackets (RFC 3986 §3.2.2). */
export function parsesAsIpv6(text: string): boolean {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  return !bare.includes("%") && isIPv6(bare)
}

/** Whether the text is an address literal as in an email: `[192.0.2.1]` or `[IPv6:2001:db8::1]` (RFC 5321 §4.1.3). */
export function isAddressLiteral(text: string): boolean {
  const [, tag, address = ""] = ADDRESS_LITERAL.exec(text) ?? []
  return tag === undefined ? isIPv4(address) : isIPv6(address)
}

/** The value of one part of an IPv4 address; NaN if it is not a number. */
function parseIpv4Number(part: string): number {
  if (/^0x[\da-f]*$/.test(part)) return part === "0x" ? 0 : Number.parseInt(part.slice(2), 16)
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8)
  return /^[1-9]\d*$/.test(part) ? Number(part) : Number.NaN
}

const WEB_SCHEME = /^https?$/i
const FORBIDDEN_IN_URL = /[ \\]/
/** Optional scheme; host, or IPv6 address in brackets; optional port, which may be empty. User info never matches as a host. */
const URL_AUTHORITY = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]@/?#]*\]|[^:@/?#]*)(?::(\d*))?(?:[/?#]|$)/i
const PORT_MAX = 65_535

/**
 * Parses a website address and returns its host, without one leading `www.` if the rest still contains a dot. The scheme
 * is `http`, `https` or absent. A port is validated and dropped; it may be empty only after a scheme (RFC 3986 §3.2.3),
 * so that neither `http:/acme.com` nor `http://jane@acme.com` has a host `http`. User info, spaces and backslashes are
 * invalid; anything may follow the host. The host is not percent-decoded.
 */
export function parseUrl(text: string): ParsedUrl {
  const whole = parseWholeHost(text)
  const { name, fault } = whole
  if (name === null) return { name, fault, wwwHost: null }
  const rest = name.startsWith("www.") ? name.slice(4) : ""
  return rest.includes(".") ? { name: rest, fault: null, wwwHost: name } : { name, fault: null, wwwHost: null }
}

function parseWholeHost(text: string): ParsedHost {
  if (!hasAtMostCharacters(text, LIMITS.urlLengthMax)) return TOO_LONG
  if (FORBIDDEN_IN_URL.test(text) || !text.isWellFormed()) return INVALID_HOST
  const [, scheme, hostText = "", port] = URL_AUTHORITY.exec(text) ?? []
  const isWeb = scheme === undefined ? port !== "" : WEB_SCHEME.test(scheme)
  if (!isWeb || Number(port ?? 0) > PORT_MAX) return INVALID_HOST
  return parseHost(hostText, true)
}
