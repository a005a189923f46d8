import { BlockList, isIP, isIPv4 } from "node:net"

/** Whether the address of a client is in one of some networks. False for a text that is no address. */
export type IsInNetworks = (address: string) => boolean

/** The longest IPv6 address with an IPv4 part and a prefix. */
const NETWORK_LENGTH_MAX = 50

const PREFIX_FORMAT = /^(?:0|[1-9]\d{0,2})$/

/** A prefix of an IPv4-mapped IPv6 address that leaves the IPv4 address whole. */
const MAPPED_PREFIX = 96

/**
 * A network in the form in which it is stored and shown: `203.0.113.0/24` or `2001:db8::/32`, with zeros behind the prefix. An address
 * without a prefix is a network of that one address. Null for a text that is no network.
 */
export function parseNetwork(text: string): string | null {
  if (text.length > NETWORK_LENGTH_MAX) return null
  const [address = "", length, ...more] = text.split("/")
  if (more.length > 0 || (length !== undefined && !PREFIX_FORMAT.test(length))) return null
  const prefix = length === undefined ? null : Number(length)
  if (isIPv4(address)) return ipv4Network(address.split(".").map(Number), prefix ?? 32)
  // A zone (RFC 4007) is known to one machine only.
  if (isIP(address) === 0 || address.includes("%")) return null
  return ipv6Network(ipv6Groups(address), prefix ?? 128)
}

function ipv4Network(bytes: readonly number[], prefix: number): string | null {
  return prefix > 32 ? null : `${masked(bytes, prefix, 8).join(".")}/${prefix}`
}

function ipv6Network(groups: readonly number[], prefix: number): string | null {
  if (prefix > 128) return null
  const isMapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff
  // Clients are told by their IPv4 address, also on a socket for both (RFC 4291 §2.5.5.2).
  if (isMapped && prefix >= MAPPED_PREFIX)
    return ipv4Network(
      groups.slice(6).flatMap(group => [group >> 8, group & 255]),
      prefix - MAPPED_PREFIX,
    )
  const written = masked(groups, prefix, 16)
    .map(group => group.toString(16))
    .join(":")
  return `${canonicalIpv6(written)}/${prefix}`
}

/** Sets the bits behind the prefix to zero. `parts` have `width` bits each. */
const masked = (parts: readonly number[], prefix: number, width: number): readonly number[] =>
  parts.map((part, at) => {
    const dropped = width - Math.min(width, Math.max(0, prefix - at * width))
    return (part >> dropped) << dropped
  })

/** The eight groups of an IPv6 address. */
function ipv6Groups(address: string): readonly number[] {
  const [head = "", tail] = canonicalIpv6(address).split("::")
  const groupsOf = (text: string): readonly number[] =>
    text === "" ? [] : text.split(":").map(group => Number.parseInt(group, 16))
  const [left, right] = [groupsOf(head), groupsOf(tail ?? "")]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

/** The shortest form, in lower case and without an IPv4 part (RFC 5952, as the URL standard writes it). */
const canonicalIpv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/**
 * Creates the matcher of networks in the form of `parseNetwork`. An IPv4 address is in IPv4 networks only: a `BlockList` alone also finds
 * its IPv4-mapped form in `::/0`.
 */
export function createNetworkMatcher(networks: readonly string[]): IsInNetworks {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = "", prefix = ""] = network.split("/")
    const family = isIPv4(address) ? "ipv4" : "ipv6"
    lists[family].addSubnet(address, Number(prefix), family)
  }
  return address => {
    if (isIP(address) === 0) return false
    const family = isIPv4(address) ? "ipv4" : "ipv6"
    return lists[family].check(address, family)
  }
}

/** The text in which the database stores networks: separated by single spaces. */
export const serializeNetworks = (networks: readonly string[]): string => networks.join(" ")

/** The networks in a text that `serializeNetworks` wrote. */
export const deserializeNetworks = (text: string): readonly string[] => (text === "" ? [] : text.split(" "))
