import { isIPv4 } from "node:net"
import { LIMITS } from "../../contract/limits.ts"
import type { CachingResolver, DnsRecord } from "../dns/dns-types.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"
import type { MxHost } from "./mail-hosts.ts"
import type { HostQuestions } from "./question-budget.ts"

/** How many mail hosts are looked up side by side, the most preferred first; the others only while none has a public address. */
export const HOSTS_SIDE_BY_SIDE = 2

/** A and AAAA. */
const QUESTIONS_PER_HOST = 2

/** How many are looked up if no host before has a public address. Further ones only show that none has, so a failed query ends it. */
export const HOSTS_RESOLVED_MIN = 4

/** How long their questions together may take: a quick domain must not wait for the servers of its mail hosts until the end of a check. */
export const HOSTS_TIMEOUT_MS = LIMITS.dnsHostsTimeoutMs

/** How many public addresses of one host count: those that come first as text, so that the order of an answer does not matter. */
export const ADDRESSES_PER_HOST_MAX = 64

/** A mail host of no known provider whose addresses were looked up. */
export type ResolvedHost = {
  readonly host: string
  readonly priority: number
  /** The public addresses in their canonical form, in order. Empty: there is none, or they are not known. */
  readonly addresses: readonly string[]
}

/** What the addresses of a domain's mail hosts tell. */
export type HostAddresses = {
  readonly hosts: readonly ResolvedHost[]
  /** Every mail host has no address, or only loopback, private or otherwise special ones (RFC 6890), so that no mail can reach it. */
  readonly areUnreachable: boolean
}

type LookedUpHost = ResolvedHost & { readonly isAnswered: boolean }

/**
 * Looks up the addresses of mail hosts (RFC 5321 §5.1), given those that are no placeholders, the most preferred first. A host of a
 * known provider is not looked up and counts as reachable; those behind it are, because its name may lead nowhere. A failed query
 * is no evidence, and neither is a host beyond the bounds: a sender tries every host in turn (RFC 5321 §5.1).
 */
export async function lookupHostAddresses(
  resolver: CachingResolver,
  hosts: readonly MxHost[],
  questions: HostQuestions,
): Promise<HostAddresses> {
  const unknownHosts = hosts.filter(({ provider }) => provider === null)
  const lookedUpMax = unknownHosts.length < hosts.length ? HOSTS_SIDE_BY_SIDE : hosts.length
  questions.begin(Math.min(unknownHosts.length, lookedUpMax) * QUESTIONS_PER_HOST)
  const limited = questions.limit(resolver)
  const found: LookedUpHost[] = []
  for (let from = 0; from < unknownHosts.length; from += HOSTS_SIDE_BY_SIDE) {
    const next = unknownHosts.slice(from, from + HOSTS_SIDE_BY_SIDE)
    found.push(...(await Promise.all(next.map(host => lookupHost(limited, host)))))
    if (found.length >= lookedUpMax || found.some(({ addresses }) => addresses.length > 0)) break
    if (found.length >= HOSTS_RESOLVED_MIN && found.some(({ isAnswered }) => !isAnswered)) break
  }
  questions.end()
  const areUnreachable =
    hosts.length > 0 &&
    found.length === hosts.length &&
    found.every(({ isAnswered, addresses }) => isAnswered && addresses.length === 0)
  return { hosts: found.map(({ host, priority, addresses }) => ({ host, priority, addresses })), areUnreachable }
}

/** Names that are loopback without a question (RFC 6761 §6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/

/** Few hosts have an IPv6 address alone, so AAAA is asked for only where the A records give no public address. */
async function lookupHost(resolver: CachingResolver, { host, priority }: MxHost): Promise<LookedUpHost> {
  if (isIPv4(host)) return { host, priority, addresses: publicAddresses([host]), isAnswered: true }
  if (LOOPBACK_NAME.test(host)) return { host, priority, addresses: [], isAnswered: true }
  const a = await resolver({ name: host, type: "A" })
  const ofA = a.known ? publicAddresses(a.value.records.flatMap(addressText)) : []
  const isDenied = a.known && a.value.outcome === "no_name"
  if (ofA.length > 0 || isDenied) return { host, priority, addresses: ofA, isAnswered: true }
  const aaaa = await resolver({ name: host, type: "AAAA" })
  const addresses = aaaa.known ? publicAddresses(aaaa.value.records.flatMap(addressText)) : []
  return { host, priority, addresses, isAnswered: a.known && aaaa.known }
}

/** The address in a record, if it is one of an address. */
export const addressText = (record: DnsRecord): readonly string[] => ("address" in record ? [record.address] : [])

/** The public ones among addresses, in their canonical form and in order, each once, and at most `ADDRESSES_PER_HOST_MAX`. */
export const publicAddresses = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts.map(parsePublicAddress))]
    .filter(address => address !== null)
    .sort()
    .slice(0, ADDRESSES_PER_HOST_MAX)
