import { BlockList, isIP } from "node:net"

/** Tells whose address a request comes from, as one text for each network that is limited as one: an IPv4 address or an IPv6 /64. */
export type ClientResolver = (peer: string | null, headers: Headers) => string

/** How many entries of `X-Forwarded-For` are looked at, from the right. */
const HOPS_MAX = 32

/** Whether an address is among some addresses and prefixes; what is no address is not. */
export type IpMatcher = (address: string) => boolean

/** Builds a set of addresses and prefixes (`10.0.0.0/8`), each well formed. */
export function createIpMatcher(entries: readonly string[]): IpMatcher {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = "", length] = entry.split("/")
    const family = isIP(address) === 6 ? "ipv6" : "ipv4"
    if (length === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(length), family)
  }
  return address => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
}

/** As `createClientAddressResolver` does, for what is limited as one. */
export function createClientNetworkResolver(trusted: readonly string[]): ClientResolver {
  const peerOf = createClientAddressResolver(trusted)
  return (peer, headers) => networkOf(peerOf(peer, headers))
}

/**
 * Tells the very address that a request comes from. It believes `X-Forwarded-For` from the `trusted` addresses and prefixes
 * only: the client is the rightmost address in it that is not one of them.
 */
export function createClientAddressResolver(trusted: readonly string[]): ClientResolver {
  const isProxy = createIpMatcher(trusted)
  return (peer, headers) => {
    let client = unmapIpv4(peer ?? "")
    if (trusted.length === 0 || isIP(client) === 0) return client
    const hops = (headers.get("x-forwarded-for") ?? "").split(",").slice(-HOPS_MAX)
    while (hops.length > 0 && isProxy(client)) {
      const hop = unmapIpv4(hops.pop()?.trim() ?? "")
      if (isIP(hop) === 0) break
      client = hop
    }
    return client
  }
}

/** An IPv4 address written as IPv6 (RFC 4291 §2.5.5.2), in whichever of its forms, is that IPv4 address. */
function unmapIpv4(address: string): string {
  if (!MAYBE_MAPPED.test(address)) return address
  const [, high = "", low = ""] = MAPPED.exec(URL.parse(`http://[${address}]`)?.hostname ?? "") ?? []
  if (low === "") return address
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [left >> 8, left & 255, right >> 8, right & 255].join(".")
}

const MAYBE_MAPPED = /^[0:]+:ffff:/i

/** How a URL's host is written (WHATWG URL): shortened, in hexadecimal. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/

/** A site has a /64 at least (RFC 6177), so one is one client. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = address.replace(/%.*$/, "").split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return groups.map(group => group.replace(/^0+(?=.)/, "").toLowerCase()).join(":")
}
