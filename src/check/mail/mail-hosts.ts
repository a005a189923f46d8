import { isIPv4 } from "node:net"
import type { DnsRecord } from "../dns/dns-types.ts"
import { DOMAIN_NAME_CHARS_MAX } from "../dns/domain-name.ts"
import type { MailHost } from "../verdict/evidence.ts"
import { type MailOperator, type MailProvider, providerOfMailHost } from "./mail-providers.ts"
import type { SuiteIndicator } from "./suite-indicators.ts"

/** How many mail hosts of a domain are read, the most preferred first. */
export const MAIL_HOSTS_MAX = 20

/** What a domain's MX records tell. */
export type MailHosts = {
  /** The most preferred host first, hosts of one preference by name. Placeholders are included. */
  readonly mx: readonly MailHost[]
  /** There is nothing but a null MX (RFC 7505 §3): the domain accepts no mail. */
  readonly isNullMx: boolean
  /** There are MX records, not all null, and none names a host: no mail can be delivered. */
  readonly hasNoHost: boolean
  /** There is a host that is no placeholder. */
  readonly acceptsMail: boolean
  /** These hosts, in the same order. */
  readonly accepting: readonly MxHost[]
  /** The provider of the most preferred host that accepts mail; null: it is not known. */
  readonly provider: MailProvider | null
  /** `disposable` if any host is, else the operator of `provider`. */
  readonly operatedBy: MailOperator | null
  /** The hosts of suites. Placeholders are included. */
  readonly indicators: readonly SuiteIndicator[]
}

/** One mail host and its provider; null: it is not known. */
export type MxHost = { readonly priority: number; readonly host: string; readonly provider: MailProvider | null }

/**
 * Whether senders deliver to a target (RFC 1123 §2.1): letters, digits and hyphens in labels of 1 to 63, no hyphen at an end, and the
 * last label no number. Underscores are tolerated, and so is an IPv4 address, to which senders deliver though RFC 5321 §5.1 forbids it.
 */
const isMailHost = (target: string): boolean =>
  target.length <= DOMAIN_NAME_CHARS_MAX && ((HOST_NAME.test(target) && !NUMBER_AT_END.test(target)) || isIPv4(target))

const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const NUMBER_AT_END = /(?:^|\.)\d+$/

/**
 * Reads the MX records of a domain. A host that occurs twice counts once, with its better preference. A null MX among hosts is
 * ignored, and so is a target that is no mail host (`DECISIONS 111`).
 */
export function parseMailHosts(records: readonly DnsRecord[]): MailHosts {
  const named: Omit<MxHost, "provider">[] = []
  let [nullCount, otherCount] = [0, 0]
  for (const record of records) {
    if (record.type !== "MX") continue
    const { preference: priority, exchange: host } = record
    if (host === "") nullCount++
    else if (host !== null && isMailHost(host)) named.push({ priority, host })
    else otherCount++
  }
  named.sort(byPreference)
  const distinct =
    named.length < 2 ? named : [...Map.groupBy(named, ({ host }) => host).values()].flatMap(([first]) => first ?? [])
  const all = distinct.map(({ priority, host }) => ({ priority, host, provider: providerOfMailHost(host) }))
  const hosts = all.slice(0, MAIL_HOSTS_MAX)
  const accepting = hosts.filter(({ provider }) => provider?.kind !== "placeholder")
  const provider = preferredProvider(accepting)
  // Senders pass over hosts that do not answer, so one host tells, wherever it stands.
  const isDisposable = all.some(host => host.provider?.operator === "disposable")
  return {
    mx: hosts.map(({ priority, host, provider: of }) => ({ priority, host, provider: of?.key ?? null })),
    isNullMx: nullCount > 0 && named.length + otherCount === 0,
    hasNoHost: otherCount > 0 && named.length === 0,
    acceptsMail: accepting.length > 0,
    accepting,
    provider,
    operatedBy: isDisposable ? "disposable" : (provider?.operator ?? null),
    indicators: hosts.flatMap(suiteIndicators),
  }
}

const byPreference = (one: Omit<MxHost, "provider">, other: Omit<MxHost, "provider">): number =>
  one.priority - other.priority || (one.host < other.host ? -1 : Number(one.host > other.host))

/** The first known provider among the hosts of the best preference; null: none is known. */
function preferredProvider(hosts: readonly MxHost[]): MailProvider | null {
  const first = hosts.filter(({ priority }) => priority === hosts[0]?.priority)
  return first.find(({ provider }) => provider !== null)?.provider ?? null
}

function suiteIndicators({ host, provider }: MxHost): readonly SuiteIndicator[] {
  const operator = provider?.operator ?? null
  return operator === "suite_a" || operator === "suite_b" ? [{ operator, entry: `mx:${host}` }] : []
}
