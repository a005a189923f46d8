import { isIPv4, isIPv6 } from "node:net"
import ipaddr from "ipaddr.js"
import { assert } from "../../base/errors.ts"
import type { Fetch } from "../../base/fetch.ts"
import type { CachingResolver } from "../dns/dns-types.ts"
import { FetchError } from "./fetch-target.ts"

/**
 * An IPv4 or IPv6 address in its one canonical form, when hosts of the public internet have such; null: it is no address,
 * or one of a special use (IANA's special-purpose registries, RFC 6890). What is not known to be public is not.
 *
 * An address of the well-known NAT64 prefix (RFC 6052 §2.1) is as public as the IPv4 address in it, for DNS64 makes such
 * addresses of every public one. Any other that has an IPv4 address within is refused: mapped, compatible, translated,
 * 6to4, Teredo, ISATAP, and NAT64 of local use (RFC 8215).
 */
export function parsePublicAddress(text: string): string | null {
  if (isIPv4(text)) {
    const address = ipaddr.IPv4.parse(text)
    return isPublicV4(address) ? address.toString() : null
  }
  // A zone names a link of this machine (RFC 4007 §11).
  if (!isIPv6(text) || text.includes("%")) return null
  const address = ipaddr.IPv6.parse(text)
  return isPublicV6(address) ? address.toString() : null
}

type Ipv4 = ReturnType<typeof ipaddr.IPv4.parse>
type Ipv6 = ReturnType<typeof ipaddr.IPv6.parse>

/** Where one cloud's virtual machines reach their host, from within alone, though it is none of the special ranges. */
const CLOUD_HOST = ipaddr.IPv4.parseCIDR("168.63.129.16/32")

const isPublicV4 = (address: Ipv4): boolean => address.range() === "unicast" && !address.match(CLOUD_HOST)

/** All that is handed out as global unicast (RFC 4291 §2.4, IANA); what lies beyond is reserved or special. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3")
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")

/** The test network of before 2006, given back (RFC 3701). */
const RETURNED_TEST_NETWORK = ipaddr.IPv6.parseCIDR("3ffe::/16")

function isPublicV6(address: Ipv6): boolean {
  if (address.match(NAT64)) return isPublicV4(new ipaddr.IPv4(address.toByteArray().slice(-4)))
  return (
    address.match(GLOBAL_UNICAST) &&
    address.range() === "unicast" &&
    !address.match(RETURNED_TEST_NETWORK) &&
    !isIsatap(address)
  )
}

/** Its interface identifier holds an IPv4 address to tunnel to (RFC 5214 §6.1), whether that is unique or not. */
const isIsatap = ({ parts }: Ipv6): boolean => parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200)

/**
 * The addresses of a name, each in its canonical form, IPv4 first. One that is not public stands for all: a name that leads
 * inwards at all leads there by intent or by a fault that is not ours to follow. It throws a `FetchError`.
 *
 * IPv4 comes first because a translator's prefix of its own (RFC 6052 §2.2) cannot be told from a public network.
 */
export async function resolvePublicAddresses(ask: CachingResolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.all([ask({ name, type: "A" }), ask({ name, type: "AAAA" })])
  const records = answers.flatMap(answer => (answer.known ? answer.value.records : []))
  const addresses = records.flatMap(record => ("address" in record ? [parsePublicAddress(record.address)] : []))
  const reachable = addresses.filter(address => address !== null)
  if (reachable.length < addresses.length) throw new FetchError("not_public")
  if (reachable.length > 0) return reachable
  const failed = answers.find(answer => !answer.known)
  if (failed === undefined) throw new FetchError("no_address")
  throw new FetchError(failed.cause === "timed_out" ? "timed_out" : "dns_unavailable")
}

/**
 * Builds a web that rejects, without a connection, for a name whose addresses are not all public. The name is resolved
 * again to connect, so it is for https alone, where whoever answers must show that the name is theirs.
 */
export function createPublicFetch(ask: CachingResolver, web: Fetch): Fetch {
  return async (url, options) => {
    const { protocol, hostname } = new URL(url)
    assert(protocol === "https:", "a public web is asked by https")
    await resolvePublicAddresses(ask, hostname.replace(/\.$/, ""))
    return await web(url, options)
  }
}
