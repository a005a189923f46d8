import { domainToASCII, domainToUnicode } from "node:url"
import { Recent } from "../../base/recent.ts"
import { LIMITS } from "../../contract/limits.ts"
import { endsInNumber, readsAsIpv4, readsAsIpv6 } from "./ip-address.ts"

type HostFault = "invalid_syntax" | "too_long" | "ip_literal"

/** What a host reads as: a name as A-labels, lower case, without a trailing dot; or why it is none. */
export type Host = { readonly name: string; readonly fault: null } | { readonly name: null; readonly fault: HostFault }

/** A text that is no host. */
export const INVALID_HOST: Host = { name: null, fault: "invalid_syntax" }

/** A host that is an IP address and no name. */
export const IP_HOST: Host = { name: null, fault: "ip_literal" }

const TOO_LONG_HOST: Host = { name: null, fault: "too_long" }

/**
 * Texts over this many code units are too long without a closer look: 253 octets of A-labels hold fewer than 250 code
 * points, and the longest canonical decomposition of one has four.
 */
const HOST_UNITS_MAX = 1000

/** How many hosts are kept at least, about 100 bytes each. */
const RECENT_MIN = 5_000

/** Lower-case letters, digits and inner hyphens, in labels of 1 to 63 octets, the last of them letters only, none an A-label. */
const PLAIN_NAME = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
const LDH_AND_DOTS = /^[a-z0-9.-]+$/i
const OTHER_ASCII = /[\0-,/:-@[-`{-\x7f]/
const EMPTY_LABEL_OR_EDGE_HYPHEN = /^[.-]|[.-]$|[.-]\.|\.-/
const LABEL_TOO_LONG = new RegExp(`[^.]{${LIMITS.labelOctetsMax + 1}}`)
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
export function parseHost(text: string, mayEndInDot: boolean): Host {
  const held = plainHosts.get(text)
  if (held !== undefined) return held
  // Most hosts need no more than this look.
  if (text.length <= LIMITS.domainOctetsMax && PLAIN_NAME.test(text)) return keptPlain(text)
  return otherHost(text, mayEndInDot)
}

/** A plain name that was parsed lately, as the text that it was then; null: it is to be parsed. */
export const heldName = (text: string): string | null => plainHosts.get(text)?.name ?? null

function otherHost(text: string, mayEndInDot: boolean): Host {
  if (text.length > HOST_UNITS_MAX) return TOO_LONG_HOST
  const ascii = toAscii(text)
  if (ascii === null) return faultyHost(text)
  const isRooted = ascii.endsWith(".")
  if (isRooted && !mayEndInDot) return INVALID_HOST
  const name = isRooted ? ascii.slice(0, -1) : ascii
  if (name.length > LIMITS.domainOctetsMax) return TOO_LONG_HOST
  if (name === "" || EMPTY_LABEL_OR_EDGE_HYPHEN.test(name) || LABEL_TOO_LONG.test(name)) return INVALID_HOST
  if (endsInNumber(name)) {
    if (readsAsIpv4(name)) return IP_HOST
    if (ALL_DIGITS_TOP.test(name)) return INVALID_HOST
  }
  return { name, fault: null }
}

/** Hosts come again, and a name that is the same text each time is found at once wherever it is looked up. */
const plainHosts = new Recent<string, Host>(RECENT_MIN)

function keptPlain(name: string): Host {
  const host = { name, fault: null }
  plainHosts.set(name, host)
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
  return LDH_AND_DOTS.test(ascii) && areDecodable(ascii) ? ascii : null
}

/** Whether every A-label stands for a U-label, and none of these has a hyphen where IDNA allows none. */
function areDecodable(ascii: string): boolean {
  if (!ascii.includes("xn--")) return true
  const labels = domainToUnicode(ascii).split(".")
  return labels.every(label => !label.startsWith("xn--") && !(NON_ASCII.test(label) && U_LABEL_HYPHENS.test(label)))
}

function faultyHost(text: string): Host {
  if (readsAsIpv6(text)) return IP_HOST
  return text.length > LIMITS.domainOctetsMax ? TOO_LONG_HOST : INVALID_HOST
}
