import { isIPv4, isIPv6 } from "node:net"
import { domainToASCII, domainToUnicode } from "node:url"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { LIMITS } from "../../contract/limits.ts"

type HostFault = "invalid_syntax" | "too_long" | "ip_literal"

/** What a host reads as: a name as A-labels, lower case, without a trailing dot; or why it is none. */
export type ParsedHost =
  | { readonly name: string; readonly fault: null }
  | { readonly name: null; readonly fault: HostFault }

/** A text that is no host. */
export const INVALID_HOST: ParsedHost = { name: null, fault: "invalid_syntax" }

/** A host that is an IP address and no name. */
export const IP_HOST: ParsedHost = { name: null, fault: "ip_literal" }

const TOO_LONG_HOST: ParsedHost = { name: null, fault: "too_long" }

/**
 * Texts over this many code units are too long without a closer look: 253 octets of A-labels hold fewer than 250 code
 * points, and the longest canonical decomposition of one has four.
 */
const HOST_CODE_UNITS_MAX = 1000

/** How many hosts are kept at least, about 100 bytes each. */
const CACHED_HOSTS_MIN = 5_000

/** Lower-case letters, digits and inner hyphens, in labels of 1 to 63 octets, the last of them letters only, none an A-label. */
const PLAIN_NAME = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
const LDH_AND_DOTS = /^[a-z0-9.-]+$/i
const OTHER_ASCII = /[\0-,/:-@[-`{-\x7f]/
const EMPTY_LABEL_OR_EDGE_HYPHEN = /^[.-]|[.-]$|[.-]\.|\.-/
const LABEL_TOO_LONG = new RegExp(`[^.]{${LIMITS.labelBytesMax + 1}}`)
const ALL_DIGITS_TOP = /(?:^|\.)\d+$/
const NON_ASCII = /[^\0-\x7f]/
const U_LABEL_HYPHENS = /^-|-$|^..--/u

/**
 * Parses a host by UTS 46, non-transitional, with STD3 rules: letters, digits and inner hyphens, labels of 1 to 63
 * octets, 253 octets in all. An ASCII label may hold hyphens in its third and fourth place, since such names are in DNS; a
 * label with other letters may not (RFC 5891 §4.2.3.1). A text that spells an IP address in any way that browsers and
 * resolvers take for one is `ip_literal`; another name whose last label is all digits is none (RFC 3696 §2). One trailing
 * dot is dropped where `mayEndInDot`.
 */
export function parseHost(text: string, mayEndInDot: boolean): ParsedHost {
  const held = plainHostCache.get(text)
  if (held !== undefined) return held
  // Most hosts need no more than this look.
  if (text.length <= LIMITS.domainBytesMax && PLAIN_NAME.test(text)) return cachePlainHost(text)
  return parseUncommonHost(text, mayEndInDot)
}

/** A plain name that was parsed lately, as the text that it was then; null: it is to be parsed. */
export const cachedHostName = (text: string): string | null => plainHostCache.get(text)?.name ?? null

function parseUncommonHost(text: string, mayEndInDot: boolean): ParsedHost {
  if (text.length > HOST_CODE_UNITS_MAX) return TOO_LONG_HOST
  const ascii = toAscii(text)
  if (ascii === null) return nonDomainHost(text)
  const isRooted = ascii.endsWith(".")
  if (isRooted && !mayEndInDot) return INVALID_HOST
  const name = isRooted ? ascii.slice(0, -1) : ascii
  if (name.length > LIMITS.domainBytesMax) return TOO_LONG_HOST
  if (name === "" || EMPTY_LABEL_OR_EDGE_HYPHEN.test(name) || LABEL_TOO_LONG.test(name)) return INVALID_HOST
  if (endsInNumber(name)) {
    if (parsesAsIpv4(name)) return IP_HOST
    if (ALL_DIGITS_TOP.test(name)) return INVALID_HOST
  }
  return { name, fault: null }
}

/** Hosts come again, and a name that is the same text each time is found at once wherever it is looked up. */
const plainHostCache = new TwoGenerationCache<string, ParsedHost>(CACHED_HOSTS_MIN)

function cachePlainHost(name: string): ParsedHost {
  const host = { name, fault: null }
  plainHostCache.set(name, host)
  return host
}

/** The text as lower-case A-labels, lengths unchecked; null where a character or a label is not allowed in a name. */
function toAscii(text: string): string | null {
  if (LDH_AND_DOTS.test(text)) {
    const lower = text.toLowerCase()
    if (!lower.includes("xn--")) return lower
  }
  // `domainToASCII` decodes percent signs and cuts at `/`, `?` and `#`, so it must not see them.
  if (OTHER_ASCII.test(text)) return null
  const ascii = domainToASCII(text)
  return LDH_AND_DOTS.test(ascii) && hasValidULabels(ascii) ? ascii : null
}

/** Whether every A-label stands for a U-label, and none of these has a hyphen where IDNA allows none. */
function hasValidULabels(ascii: string): boolean {
  if (!ascii.includes("xn--")) return true
  const labels = domainToUnicode(ascii).split(".")
  return labels.every(label => !label.startsWith("xn--") && !(NON_ASCII.test(label) && U_LABEL_HYPHENS.test(label)))
}

function nonDomainHost(text: string): ParsedHost {
  if (parsesAsIpv6(text)) return IP_HOST
  return text.length > LIMITS.domainBytesMax ? TOO_LONG_HOST : INVALID_HOST
}

const NUMERIC_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/
const ADDRESS_LITERAL = /^\[(ipv6:)?([\da-f.:]+)\]$/i

/** Whether the last label of a lower-case name is a number, decimal or hexadecimal, as in every spelling of an IPv4 address. */
export function endsInNumber(name: string): boolean {
  return NUMERIC_END.test(name)
}

/**
 * Whether a lower-case name reads as an IPv4 address to a browser or to `inet_aton`: one to four numbers, decimal, octal
 * or hexadecimal, the last of which fills the remaining octets (WHATWG URL, "IPv4 parser"). So `127.1`, `0x7f.1` and
 * `2130706433` do.
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

/** Whether the text is an address literal of an email: `[192.0.2.1]` or `[IPv6:2001:db8::1]` (RFC 5321 §4.1.3). */
export function isAddressLiteral(text: string): boolean {
  const [, tag, address = ""] = ADDRESS_LITERAL.exec(text) ?? []
  return tag === undefined ? isIPv4(address) : isIPv6(address)
}

/** The value of one part of an IPv4 address; NaN where it is none. */
function parseIpv4Number(part: string): number {
  if (/^0x[\da-f]*$/.test(part)) return part === "0x" ? 0 : Number.parseInt(part.slice(2), 16)
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8)
  return /^[1-9]\d*$/.test(part) ? Number(part) : Number.NaN
}

const TOO_LONG_URL: ParsedHost = { name: null, fault: "too_long" }

const WEB_SCHEME = /^https?$/i
const FORBIDDEN_IN_URL = /[ \\]/
/** Scheme, if any; host, or IPv6 address in brackets; port, if any, which may be empty. User info never matches as a host. */
const URL_AUTHORITY = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]@/?#]*\]|[^:@/?#]*)(?::(\d*))?(?:[/?#]|$)/i
const PORT_MAX = 65_535

/**
 * Parses a website address and gives its host, without one leading `www.` where what is left has a dot. The scheme is
 * `http`, `https` or left out. A port is checked and forgotten; it may be empty after a scheme only (RFC 3986 §3.2.3), so
 * that neither `http:/acme.com` nor `http://jane@acme.com` has a host `http`. User info, spaces and backslashes are
 * refused; what follows the host is free. The host is never percent-decoded.
 */
export function parseUrl(text: string): ParsedHost {
  if (text.length > LIMITS.urlLengthMax) return TOO_LONG_URL
  if (FORBIDDEN_IN_URL.test(text) || !text.isWellFormed()) return INVALID_HOST
  const [, scheme, hostText = "", port] = URL_AUTHORITY.exec(text) ?? []
  const isWeb = scheme === undefined ? port !== "" : WEB_SCHEME.test(scheme)
  if (!isWeb || Number(port ?? 0) > PORT_MAX) return INVALID_HOST
  return stripWww(parseHost(hostText, true))
}

function stripWww(host: ParsedHost): ParsedHost {
  if (host.name === null || !host.name.startsWith("www.")) return host
  const rest = host.name.slice(4)
  return rest.includes(".") ? { name: rest, fault: null } : host
}
