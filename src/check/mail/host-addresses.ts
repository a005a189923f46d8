import { isIPv4 } from "node:net"
import type { Finding } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { DnsAnswer, DnsQuestion, DnsRecord } from "../dns/dns-types.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"
import type { MxHost } from "./mail-hosts.ts"
import { NOT_ASKED, type QuestionBudget } from "./question-budget.ts"

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

/** A host as it is looked up. `isAnswered`: it is known which addresses it has. */
type HostLookup = { host: string; priority: number; addresses: readonly string[]; isAnswered: boolean }

/** Asks about a mail host. */
export type AskHost = (question: DnsQuestion, onAnswer: (answer: Finding<DnsAnswer>) => void) => void

/** No mail host was looked up. */
const NO_ADDRESSES: HostAddresses = { hosts: [], areUnreachable: false }

/**
 * Looks up the addresses of mail hosts (RFC 5321 §5.1), given those that are no placeholders, the most preferred first. A host of a
 * known provider is not looked up and counts as reachable; those behind it are, because its name may lead nowhere. A failed query
 * is no evidence, and neither is a host beyond the bounds: a sender tries every host in turn (RFC 5321 §5.1).
 */
export function lookupHostAddresses(
  ask: AskHost,
  hosts: readonly MxHost[],
  budget: QuestionBudget,
  onEnd: (found: HostAddresses) => void,
): void {
  const unknownHosts = hosts.filter(({ provider }) => provider === null)
  const lookedUpMax = unknownHosts.length < hosts.length ? HOSTS_SIDE_BY_SIDE : hosts.length
  budget.beginHosts(Math.min(unknownHosts.length, lookedUpMax) * QUESTIONS_PER_HOST)
  const limited: AskHost = (question, onAnswer) => {
    if (budget.takeHost()) ask(question, onAnswer)
    else onAnswer(NOT_ASKED)
  }
  const found: HostLookup[] = []
  const lookUpNext = (): void => {
    const next = isEnough(found, lookedUpMax) ? [] : unknownHosts.slice(found.length, found.length + HOSTS_SIDE_BY_SIDE)
    if (next.length === 0) {
      budget.endHosts()
      onEnd(hostAddresses(found, hosts))
      return
    }
    let pendingCount = next.length
    const lookups = next.map(({ host, priority }) => ({ host, priority, addresses: [], isAnswered: false }))
    found.push(...lookups)
    for (const lookup of lookups)
      lookUpHost(limited, lookup, () => {
        pendingCount--
        if (pendingCount === 0) lookUpNext()
      })
  }
  lookUpNext()
}

const isEnough = (found: readonly HostLookup[], lookedUpMax: number): boolean =>
  found.length >= lookedUpMax ||
  found.some(({ addresses }) => addresses.length > 0) ||
  (found.length >= HOSTS_RESOLVED_MIN && found.some(({ isAnswered }) => !isAnswered))

function hostAddresses(found: readonly HostLookup[], hosts: readonly MxHost[]): HostAddresses {
  if (found.length === 0) return NO_ADDRESSES
  const areUnreachable =
    found.length === hosts.length && found.every(({ isAnswered, addresses }) => isAnswered && addresses.length === 0)
  return { hosts: found.map(({ host, priority, addresses }) => ({ host, priority, addresses })), areUnreachable }
}

/** Few hosts have an IPv6 address alone, so AAAA is asked for only where the A records give no public address. */
function lookUpHost(ask: AskHost, lookup: HostLookup, onEnd: () => void): void {
  const { host: name } = lookup
  const end = (addresses: readonly string[], isAnswered: boolean): void => {
    lookup.addresses = addresses
    lookup.isAnswered = isAnswered
    onEnd()
  }
  if (isIPv4(name)) end(publicAddresses([name]), true)
  else if (LOOPBACK_NAME.test(name)) end([], true)
  else
    ask({ name, type: "A" }, a => {
      const addresses = addressesIn(a)
      const isDenied = a.known && a.value.outcome === "no_name"
      if (addresses.length > 0 || isDenied) end(addresses, true)
      else ask({ name, type: "AAAA" }, aaaa => end(addressesIn(aaaa), a.known && aaaa.known))
    })
}

/** Names that are loopback without a question (RFC 6761 §6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/

const addressesIn = (answer: Finding<DnsAnswer>): readonly string[] =>
  answer.known ? publicAddresses(answer.value.records.flatMap(addressText)) : []

/** The address in a record, if it is one of an address. */
export const addressText = (record: DnsRecord): readonly string[] => ("address" in record ? [record.address] : [])

/** The public ones among addresses, in their canonical form and in order, each once, and at most `ADDRESSES_PER_HOST_MAX`. */
export const publicAddresses = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts.map(parsePublicAddress))]
    .filter(address => address !== null)
    .sort()
    .slice(0, ADDRESSES_PER_HOST_MAX)
