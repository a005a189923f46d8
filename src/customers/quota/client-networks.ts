import { isIPv4 } from "node:net"

/** A network that holds a client and others. */
export type WiderNetwork = {
  /** The length of its prefix. */
  readonly prefix: 24 | 48 | 56
  /** A name that no client and no other network has: `192.0.2.0/24`, `2001:db8:0/48`. */
  readonly name: string
}

/** A client that is an IPv6 /64, as `createClientNetworkResolver` writes it: four groups in lower case without leading zeros. */
const IPV6_CLIENT = /^((?:[0-9a-f]{1,4}:){3})([0-9a-f]{1,4})$/

/**
 * The networks around a client that one person or company may hold as a whole, the narrowest first: the /24 of an IPv4 address;
 * the /56, which homes get, and the /48, which companies get (RFC 6177), of an IPv6 client. None for a client without an address.
 */
export function widerNetworks(client: string): readonly WiderNetwork[] {
  if (isIPv4(client)) return [{ prefix: 24, name: `${client.split(".").slice(0, 3).join(".")}.0/24` }]
  const [, site, subnet = ""] = IPV6_CLIENT.exec(client) ?? []
  if (site === undefined) return []
  const home = (Number.parseInt(subnet, 16) >> 8).toString(16)
  return [
    { prefix: 56, name: `${site}${home}/56` },
    { prefix: 48, name: `${site}/48` },
  ]
}
