import { BlockList, isIP } from "node:net"

/**
 * Finds the address of a request's sender, or a text that is no address: a sender that nobody knows. `peer` is the other end
 * of the connection; null: unknown.
 */
export type ClientResolver = (peer: string | null, headers: Headers) => string

/** How many entries of `X-Forwarded-For` are read, from the right. */
const HOPS_MAX = 32

/** Whether an address is in a set of addresses and prefixes. False for text that is not an address. */
export type IpMatcher = (address: string) => boolean

/** `entries` are well-formed addresses and prefixes (`10.0.0.0/8`). */
export function createIpMatcher(entries: readonly string[]): IpMatcher {
  if (entries.length === 0) return () => false
  const list = new BlockList()
  for (const entry of entries) {
    const [address = "", length] = entry.split("/")
    const family = isIP(address) === 6 ? "ipv6" : "ipv4"
    if (length === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(length), family)
  }
  return address => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
}

/** Gives the network that is limited as one client: the IPv4 address, or the /64 of the IPv6 address. */
export function createClientNetworkResolver(trusted: readonly string[]): ClientResolver {
  const addressOf = createClientAddressResolver(trusted)
  return (peer, headers) => networkOf(addressOf(peer, headers))
}

/**
 * Gives the exact address. `X-Forwarded-For` counts only when it comes from the `trusted` addresses and prefixes: the client
 * is then its rightmost address that is not one of them. Ports and brackets are ignored. An entry that is no address, or a
 * header without entries, is a sender of its own (`unreadableSender`). A request without the header is the proxy's own.
 */
export function createClientAddressResolver(trusted: readonly string[]): ClientResolver {
  const isProxy = createIpMatcher(trusted)
  return (peer, headers) => {
    let client = unmapIpv4(peer ?? "")
    const forwarded = isProxy(client) ? headers.get("x-forwarded-for") : null
    if (forwarded === null) return client
    const hops = forwarded.split(",").slice(-HOPS_MAX)
    while (hops.length > 0 && isProxy(client)) {
      const hop = parseForwardedEntry(hops.pop() ?? "")
      if (hop === null) return unreadableSender(client)
      client = hop
    }
    return client
  }
}

/**
 * The sender whose address a proxy does not tell legibly. All such senders behind one proxy are limited as one client, apart
 * from the proxy itself and from everybody whose address is known. The text is no address, so no allow list holds it.
 */
const unreadableSender = (proxy: string): string => `unreadable behind ${proxy}`

/** No entry is longer: an IPv6 address with an IPv4 part has 45 characters, brackets and port 8, and a zone (RFC 4007) a few. */
const ENTRY_LENGTH_MAX = 100

/** An entry of `X-Forwarded-For`: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`. */
const FORWARDED_ENTRY = /^(?:\[([^[\]]+)\](?::\d{0,5})?|([^:[\]]+):\d{0,5}|([^[\]]+))$/

/** The address of an entry; null: it is none. */
function parseForwardedEntry(entry: string): string | null {
  const text = entry.trim()
  if (text.length > ENTRY_LENGTH_MAX) return null
  const [, bracketed, beforePort, bare] = FORWARDED_ENTRY.exec(text) ?? []
  const address = unmapIpv4(bracketed ?? beforePort ?? bare ?? "")
  return isIP(address) === 0 ? null : address
}

/** Turns an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), in any of its forms, into the IPv4 address. */
function unmapIpv4(address: string): string {
  if (!MAYBE_MAPPED.test(address)) return address
  const [, high = "", low = ""] = MAPPED.exec(URL.parse(`http://[${address}]`)?.hostname ?? "") ?? []
  if (low === "") return address
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [left >> 8, left & 255, right >> 8, right & 255].join(".")
}

const MAYBE_MAPPED = /^[0:]+:ffff:/i

/** The form that the WHATWG URL parser gives such an address: shortened, in hexadecimal. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/

/** A site gets at least a /64 (RFC 6177), so all its addresses count as one client. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = address.replace(/%.*$/, "").split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return groups.map(group => group.replace(/^0+(?=.)/, "").toLowerCase()).join(":")
}
