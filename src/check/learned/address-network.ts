import { isIPv6 } from "node:net"
import ipaddr from "ipaddr.js"
import SHARED_NETWORKS from "../../../data/mail/shared-networks.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable } from "../../base/text-table.ts"

type Address = ReturnType<typeof ipaddr.parse>
type Range = ReturnType<typeof ipaddr.parseCIDR>

/**
 * The network of an address in its canonical form: the /24 of an IPv4 address, the /64 of an IPv6 address, which is what one customer
 * of a hoster gets (RFC 6177). It never throws: stored observations may hold anything.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address.slice(0, address.lastIndexOf("."))
  return ipaddr.IPv6.parse(address)
    .parts.slice(0, 4)
    .map(part => part.toString(16))
    .join(":")
}

/** Parses a table of networks. Throws `InvariantError` if one is malformed, has bits beyond its prefix, or occurs twice. */
export function parseSharedNetworks(text: string): readonly Range[] {
  const networks = parseTable(text, ["network", "owner"]).map(({ network }) => network)
  assert(new Set(networks).size === networks.length, "the networks differ")
  return networks.map(network => {
    assert(ipaddr.isValidCIDR(network), `${network} is a network`)
    const [start, bits] = ipaddr.parseCIDR(network)
    const family = start.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6
    const first = family.networkAddressFromCIDR(network)
    assert(`${first.toString()}/${bits}` === network, `${network} is written by its first address`)
    return [start, bits] as Range
  })
}

let sharedNetworks: readonly Range[] | null = null

/** Whether the address is in a network of mail providers, clouds' shared mail services, CDNs or forwarders, which serve everybody. */
export function isSharedAddress(address: string): boolean {
  sharedNetworks ??= parseSharedNetworks(SHARED_NETWORKS)
  const parsed: Address = ipaddr.parse(address)
  return sharedNetworks.some(([start, bits]) => start.kind() === parsed.kind() && parsed.match(start, bits))
}
