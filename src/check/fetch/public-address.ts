import { isIPv4, isIPv6 } from "node:net"
import ipaddr from "ipaddr.js"
import { assert } from "../../base/errors.ts"
import type { Fetch } from "../../base/fetch.ts"
import type { CachingResolver } from "../dns/dns-types.ts"
import { FetchError } from "./fetch-target.ts"

/**
 * The canonical form of a public IPv4 or IPv6 address. Null: it is no address, it has a special purpose (IANA's special-purpose
 * registries, RFC 6890), or it is not known to be public.
 *
 * An address of the well-known NAT64 prefix (RFC 6052 §2.1) is public if the IPv4 address in it is, because DNS64 makes such
 * addresses from public ones. Every other address with an IPv4 address in it is refused: mapped, compatible, translated, 6to4,
 * Teredo, ISATAP, and local-use NAT64 (RFC 8215).
 */
export function parsePublicAddress(text: string): string | null {
  if (isIPv4(text)) {
    // A text that `isIPv4` takes is canonical. The library takes 4 µs to parse it and to search its ranges.
    const octets = text.split(".").map(Number)
    return isInPublicBlock(octets) || isPublicV4(new ipaddr.IPv4(octets)) ? text : null
  }
  // A zone names a link of this machine (RFC 4007 §11).
  if (!isIPv6(text) || text.includes("%")) return null
  const address = ipaddr.IPv6.parse(text)
  return isPublicV6(address) ? address.toString() : null
}

type Ipv4 = ReturnType<typeof ipaddr.IPv4.parse>
type Ipv6 = ReturnType<typeof ipaddr.IPv6.parse>

/** Virtual machines of one cloud reach their host at this address. It is not public, though it is in no special range. */
const CLOUD_HOST = ipaddr.IPv4.parseCIDR("168.63.129.16/32")

/** By the first octet of an address, between which second octets special networks lie. From 224 on there is nothing else. */
const SPECIAL_BLOCKS: ReadonlyMap<number, readonly [from: number, to: number]> = new Map<
  number,
  readonly [number, number]
>([
  [0, [0, 255]],
  [10, [0, 255]],
  [127, [0, 255]],
  [100, [64, 127]],
  [168, [63, 63]],
  [169, [254, 254]],
  [172, [16, 31]],
  [192, [0, 175]],
  [198, [18, 51]],
  [203, [0, 0]],
])

/** Whether it is public like all addresses around it. False: that is not known. */
function isInPublicBlock([first = 0, second = 0]: readonly number[]): boolean {
  const [from, to] = SPECIAL_BLOCKS.get(first) ?? NO_BLOCK
  return first < 224 && (second < from || second > to)
}
const NO_BLOCK = [256, -1] as const

const isPublicV4 = (address: Ipv4): boolean => address.range() === "unicast" && !address.match(CLOUD_HOST)

/** All allocated global unicast addresses (RFC 4291 §2.4, IANA). All others are reserved or special. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3")
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")

/** The 6bone test network, returned in 2006 (RFC 3701). */
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

/** Whether its interface identifier holds the IPv4 address of a tunnel (RFC 5214 §6.1). */
const isIsatap = ({ parts }: Ipv6): boolean => parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200)

/**
 * The addresses of a name in their canonical form, IPv4 first. If one address is not public, the name is refused: it points to a
 * private network by intent or by mistake. Throws `FetchError`.
 *
 * IPv4 comes first because a network-specific NAT64 prefix (RFC 6052 §2.2) looks like a public network.
 */
export async function resolvePublicAddresses(resolver: CachingResolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.all([resolver({ name, type: "A" }), resolver({ name, type: "AAAA" })])
  const records = answers.flatMap(answer => (answer.known ? answer.value.records : []))
  const addresses = records.flatMap(record => ("address" in record ? [parsePublicAddress(record.address)] : []))
  const publicAddresses = addresses.filter(address => address !== null)
  if (publicAddresses.length < addresses.length) throw new FetchError("not_public")
  if (publicAddresses.length > 0) return publicAddresses
  const failure = answers.find(answer => !answer.known)
  if (failure === undefined) throw new FetchError("no_address")
  throw new FetchError(failure.cause === "timed_out" ? "timed_out" : "dns_unavailable")
}

/** The IP address that is the host of a URL, without brackets; null: the host is a name. */
export function addressInUrl({ hostname }: URL): string | null {
  const text = hostname.replace(/^\[|\]$/g, "")
  return isIPv4(text) || isIPv6(text) ? text : null
}

/** Where the host of a URL is: `private` if any of its addresses is not public, `unknown` if it has none or they are not known. */
export async function addressKind(resolver: CachingResolver, url: URL): Promise<"public" | "private" | "unknown"> {
  const address = addressInUrl(url)
  if (address !== null) return parsePublicAddress(address) === null ? "private" : "public"
  try {
    await resolvePublicAddresses(resolver, url.hostname.replace(/\.$/, ""))
    return "public"
  } catch (error) {
    if (error instanceof FetchError) return error.reason === "not_public" ? "private" : "unknown"
    throw error
  }
}

/**
 * Builds a fetch that rejects, before it connects, if an address of the host is not public. `fetchUrl` resolves the name once
 * more, so only https is allowed: there the server has to prove that the name is its own.
 */
export function createPublicFetch(resolver: CachingResolver, fetchUrl: Fetch): Fetch {
  return async (url, options) => {
    const { protocol, hostname } = new URL(url)
    assert(protocol === "https:", "only https is fetched from public addresses")
    await resolvePublicAddresses(resolver, hostname.replace(/\.$/, ""))
    return await fetchUrl(url, options)
  }
}
