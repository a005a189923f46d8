import type { DnsRecord } from "../dns/dns-types.ts"
import { isDisplayableName } from "../dns/domain-name.ts"
import type { MailHost } from "../verdict/evidence.ts"
import { type MailOperator, type MailProvider, providerOfMailHost } from "./mail-providers.ts"
import type { SuiteIndicator } from "./suite-indicators.ts"

/** How many mail hosts of a domain are looked at, most preferred first. */
export const MAIL_HOSTS_MAX = 20

/** What a domain's MX records tell. */
export type MailHosts = {
  /** Most preferred first, hosts of one preference by name; placeholders among them. */
  readonly mx: readonly MailHost[]
  /** All that stands there is a null MX (RFC 7505 §3): the domain takes no mail. */
  readonly isNullMx: boolean
  /** A host other than a placeholder stands there. */
  readonly acceptsMail: boolean
  /** The provider of the most preferred host that takes mail. */
  readonly provider: MailProvider | null
  /** What the hosts show of who runs the mail: `disposable` where any of them does, else what the provider shows. */
  readonly operatedBy: MailOperator | null
  /** The hosts of suites, placeholders among them. */
  readonly indicators: readonly SuiteIndicator[]
}

type MxHost = { readonly priority: number; readonly host: string; readonly provider: MailProvider | null }

/**
 * Reads the MX records of a domain. A host that stands there twice counts once, at its better preference; a null MX
 * beside hosts is ignored, and so is a name that cannot be shown. A host that is written as an IP address, a common
 * fault, is listed as it is.
 */
export function parseMailHosts(records: readonly DnsRecord[]): MailHosts {
  const all = records.flatMap(record =>
    record.type === "MX" ? [{ priority: record.preference, host: record.exchange }] : [],
  )
  const named = all.filter(({ host }) => isDisplayableName(host)).sort(byPreference)
  const once = [...Map.groupBy(named, ({ host }) => host).values()].flatMap(([first]) => first ?? [])
  const hosts = once.slice(0, MAIL_HOSTS_MAX).map(each => ({ ...each, provider: providerOfMailHost(each.host) }))
  const taking = hosts.filter(({ provider }) => provider?.kind !== "placeholder")
  const provider = preferredProvider(taking)
  const isDisposable = taking.some(each => each.provider?.operator === "disposable")
  return {
    mx: hosts.map(each => ({ ...each, provider: each.provider?.key ?? null })),
    isNullMx: all.length > 0 && all.every(({ host }) => host === ""),
    acceptsMail: taking.length > 0,
    provider,
    operatedBy: isDisposable ? "disposable" : (provider?.operator ?? null),
    indicators: hosts.flatMap(each => suiteIndicators(each)),
  }
}

const byPreference = (one: Omit<MxHost, "provider">, other: Omit<MxHost, "provider">): number =>
  one.priority - other.priority || (one.host < other.host ? -1 : Number(one.host > other.host))

/** The provider of the first host; among hosts of the same preference, one with a provider goes first. */
function preferredProvider(hosts: readonly MxHost[]): MailProvider | null {
  const first = hosts.filter(({ priority }) => priority === hosts[0]?.priority)
  return first.find(({ provider }) => provider !== null)?.provider ?? null
}

function suiteIndicators({ host, provider }: MxHost): readonly SuiteIndicator[] {
  const operator = provider?.operator ?? null
  return operator === "suite_a" || operator === "suite_b" ? [{ operator, entry: `mx:${host}` }] : []
}
