import type { DnsRecord } from "../dns/question.ts"
import type { MailHost } from "../verdict/evidence.ts"
import { isShowable } from "./host-name.ts"
import { type Provider, providerOf, type Shown } from "./providers.ts"
import type { SuiteEntry } from "./suite-entries.ts"

/** How many mail hosts of a domain are looked at, most preferred first. */
export const MAIL_HOSTS_MAX = 20

/** What a domain's MX records tell. */
export type MailHosts = {
  /** Most preferred first, hosts of one preference by name; placeholders among them. */
  readonly mx: readonly MailHost[]
  /** All that stands there is a null MX (RFC 7505 §3): the domain takes no mail. */
  readonly isNull: boolean
  /** A host other than a placeholder stands there. */
  readonly takesMail: boolean
  /** The provider of the most preferred host that takes mail. */
  readonly provider: Provider | null
  /** What the hosts show of who runs the mail: `disposable` where any of them does, else what the provider shows. */
  readonly runBy: Shown | null
  /** The hosts of suites, placeholders among them. */
  readonly entries: readonly SuiteEntry[]
}

type Host = { readonly priority: number; readonly host: string; readonly provider: Provider | null }

/**
 * Reads the MX records of a domain. A host that stands there twice counts once, at its better preference; a null MX
 * beside hosts is ignored, and so is a name that cannot be shown. A host that is written as an IP address, a common
 * fault, is listed as it is.
 */
export function mailHosts(records: readonly DnsRecord[]): MailHosts {
  const all = records.flatMap(record =>
    record.type === "MX" ? [{ priority: record.preference, host: record.exchange }] : [],
  )
  const named = all.filter(({ host }) => isShowable(host)).sort(byPreference)
  const once = [...Map.groupBy(named, ({ host }) => host).values()].flatMap(([first]) => first ?? [])
  const hosts = once.slice(0, MAIL_HOSTS_MAX).map(each => ({ ...each, provider: providerOf(each.host) }))
  const taking = hosts.filter(({ provider }) => provider?.kind !== "placeholder")
  const provider = mostPreferred(taking)
  const isDisposable = taking.some(each => each.provider?.shows === "disposable")
  return {
    mx: hosts.map(each => ({ ...each, provider: each.provider?.key ?? null })),
    isNull: all.length > 0 && all.every(({ host }) => host === ""),
    takesMail: taking.length > 0,
    provider,
    runBy: isDisposable ? "disposable" : (provider?.shows ?? null),
    entries: hosts.flatMap(each => entriesOf(each)),
  }
}

const byPreference = (one: Omit<Host, "provider">, other: Omit<Host, "provider">): number =>
  one.priority - other.priority || (one.host < other.host ? -1 : Number(one.host > other.host))

/** The provider of the first host; among hosts of the same preference, one with a provider goes first. */
function mostPreferred(hosts: readonly Host[]): Provider | null {
  const first = hosts.filter(({ priority }) => priority === hosts[0]?.priority)
  return first.find(({ provider }) => provider !== null)?.provider ?? null
}

function entriesOf({ host, provider }: Host): readonly SuiteEntry[] {
  const shows = provider?.shows ?? null
  return shows === "suite_a" || shows === "suite_b" ? [{ shows, entry: `mx:${host}` }] : []
}
