import { isIPv4, isIPv6 } from "node:net"
import ipaddr from "ipaddr.js"

/**
 * An IPv4 or IPv6 address in its one canonical form, when hosts of the public internet have such; null: it is no address,
 * or one of a special use (IANA's special-purpose registries, RFC 6890). What is not known to be public is not.
 *
 * An address of the well-known NAT64 prefix (RFC 6052 §2.1) is as public as the IPv4 address in it, for DNS64 makes such
 * addresses of every public one. Any other that has an IPv4 address within is refused: mapped, compatible, translated,
 * 6to4, Teredo, ISATAP, and NAT64 of local use (RFC 8215).
 */
export function publicAddress(text: string): string | null {
  if (isIPv4(text)) {
    const address = ipaddr.IPv4.parse(text)
    return isPublicV4(address) ? address.toString() : null
  }
  // A zone names a link of this machine (RFC 4007 §11).
  if (!isIPv6(text) || text.includes("%")) return null
  const address = ipaddr.IPv6.parse(text)
  return isPublicV6(address) ? address.toString() : null
}

type V4 = ReturnType<typeof ipaddr.IPv4.parse>
type V6 = ReturnType<typeof ipaddr.IPv6.parse>

/** Where one cloud's virtual machines reach their host, from within alone, though it is none of the special ranges. */
const CLOUD_HOST = ipaddr.IPv4.parseCIDR("168.63.129.16/32")

const isPublicV4 = (address: V4): boolean => address.range() === "unicast" && !address.match(CLOUD_HOST)

/** All that is handed out as global unicast (RFC 4291 §2.4, IANA); what lies beyond is reserved or special. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3")
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")

/** The test network of before 2006, given back (RFC 3701). */
const GIVEN_BACK = ipaddr.IPv6.parseCIDR("3ffe::/16")

function isPublicV6(address: V6): boolean {
  if (address.match(NAT64)) return isPublicV4(new ipaddr.IPv4(address.toByteArray().slice(-4)))
  return (
    address.match(GLOBAL_UNICAST) && address.range() === "unicast" && !address.match(GIVEN_BACK) && !isIsatap(address)
  )
}

/** Its interface identifier holds an IPv4 address to tunnel to (RFC 5214 §6.1), whether that is unique or not. */
const isIsatap = ({ parts }: V6): boolean => parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200)
