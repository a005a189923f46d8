import { isIPv4, isIPv6 } from "node:net"

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
export function readsAsIpv4(name: string): boolean {
  const parts = name.split(".")
  if (parts.length > 4) return false
  const last = parts.length - 1
  return parts.every((part, index) => ipv4Number(part) < (index < last ? 256 : 256 ** (4 - last)))
}

/** Whether the text is an IPv6 address without a zone, bare or in brackets (RFC 3986 §3.2.2). */
export function readsAsIpv6(text: string): boolean {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  return !bare.includes("%") && isIPv6(bare)
}

/** Whether the text is an address literal of an email: `[192.0.2.1]` or `[IPv6:2001:db8::1]` (RFC 5321 §4.1.3). */
export function isAddressLiteral(text: string): boolean {
  const [, tag, address = ""] = ADDRESS_LITERAL.exec(text) ?? []
  return tag === undefined ? isIPv4(address) : isIPv6(address)
}

/** The value of one part of an IPv4 address; NaN where it is none. */
function ipv4Number(part: string): number {
  if (/^0x[\da-f]*$/.test(part)) return part === "0x" ? 0 : Number.parseInt(part.slice(2), 16)
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8)
  return /^[1-9]\d*$/.test(part) ? Number(part) : Number.NaN
}
