import type { Deadline } from "../../base/concurrency.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { createCacheStatusTracker, type MailProbeResult } from "../cache-status.ts"
import { type CachingResolver, type DnsAnswer, txtValues } from "../dns/dns-types.ts"
import type { MailEvidence } from "../verdict/evidence.ts"
import { lookupDmarcPolicy } from "./dmarc.ts"
import { type MailHosts, parseMailHosts } from "./mail-hosts.ts"
import type { MailProviderKind } from "./mail-providers.ts"
import { lookupSpfSuites, selectSpfRecord } from "./spf.ts"
import { detectSuites, lookupHiddenSuites, type SuiteIndicator } from "./suite-indicators.ts"

/** What a mail probe asks, and by which clock. */
type MailProbeDeps = { readonly resolver: CachingResolver; readonly clock: Clock }

/**
 * Asks DNS what a domain publishes about its mail; `organisational` is the domain whose DMARC policy holds for those
 * below it, which may be the domain itself. Both are lower case A-labels, without a trailing dot. What is found when the
 * budget runs out stands. It never rejects.
 */
export type MailProbe = (domain: string, organisational: string, budget: Deadline) => Promise<MailProbeResult>

/** Builds a mail probe. */
export function createMailProbe({ resolver, clock }: MailProbeDeps): MailProbe {
  return async (domain, organisational, budget) => {
    const fresh = createCacheStatusTracker(clock)
    const within = withinDeadline(resolver, budget)
    const first = fresh.track(within, FAILURE_TTL_MS)
    const found = await queryDomain(domain, organisational, first, fresh.track(within, LINKED_FAILURE_TTL_MS))
    return { ...found, ...fresh.status() }
  }
}

/** How soon a question about the domain itself that had no answer may be put again. */
const FAILURE_TTL_MS = 1000

/** The same for what its records lead to: a dead include says little, and must not make a good answer short-lived. */
const LINKED_FAILURE_TTL_MS = 5000

/** What was said of the records at the domain's own name; `aaaa` is null where nobody needed to know. */
type OwnRecords = { readonly [Type in "mx" | "txt" | "a"]: Finding<DnsAnswer> } & {
  readonly aaaa: Finding<DnsAnswer> | null
}

/** The first questions go out side by side; those that their answers lead to follow as soon as these are there. */
async function queryDomain(
  domain: string,
  organisational: string,
  ask: CachingResolver,
  follow: CachingResolver,
): Promise<Pick<MailProbeResult, "mail" | "suites">> {
  const mxAsked = ask({ name: domain, type: "MX" })
  const txtAsked = ask({ name: domain, type: "TXT" })
  const spfAsked = txtAsked.then(txt => (txt.known ? known(selectSpfRecord(txtValues(txt.value))) : txt))
  const hostsAsked = mxAsked.then(mx => (mx.known ? known(parseMailHosts(mx.value.records)) : mx))
  const aAsked = ask({ name: domain, type: "A" })
  // Hardly any domain has neither a mail host nor an IPv4 address: to ask for the other kind only then saves a fifth of all
  // questions, and costs such a domain one more round.
  const aaaaAsked = Promise.all([mxAsked, hostsAsked, aAsked]).then(([mx, hosts, a]) =>
    needsIpv6Address(mx, hosts, a) ? ask({ name: domain, type: "AAAA" }) : null,
  )
  const [mx, txt, a, aaaa, spf, dmarcPolicy, hosts, led] = await Promise.all([
    mxAsked,
    txtAsked,
    aAsked,
    aaaaAsked,
    spfAsked,
    lookupDmarcPolicy(ask, domain, organisational),
    hostsAsked,
    Promise.all([hostsAsked, spfAsked]).then(([hosts, spf]) => lookupLinkedSuites(follow, domain, hosts, spf)),
  ])
  if (!hosts.known) return { mail: hosts, suites: hosts }
  const { indicators, provider } = hosts.value
  const operatedBy = hosts.value.operatedBy ?? led.find(({ operator }) => operator === "other_suite")?.operator ?? null
  return {
    mail: mailEvidence({ mx, txt, a, aaaa }, { ...hosts.value, operatedBy }, { spf, dmarcPolicy }),
    suites: known(detectSuites([...indicators, ...led], operatedBy === "other_suite" ? (provider?.key ?? null) : null)),
  }
}

/** Persons' domains name the SPF domain of the vendor whose suite they do not use. */
const PERSONAL_PROVIDER_KINDS: readonly MailProviderKind[] = ["consumer", "group"]

/** What the records show that the mail hosts and the SPF record lead to. */
async function lookupLinkedSuites(
  follow: CachingResolver,
  domain: string,
  hosts: Finding<MailHosts>,
  spf: MailEvidence["spf"],
): Promise<readonly SuiteIndicator[]> {
  if (!hosts.known) return []
  const { provider, operatedBy } = hosts.value
  const isOfPersons = provider !== null && PERSONAL_PROVIDER_KINDS.includes(provider.kind)
  const record = spf.known && !isOfPersons ? spf.value : null
  const shown = await Promise.all([
    record === null ? [] : lookupSpfSuites(follow, domain, record),
    provider === null || operatedBy === "disposable" ? [] : lookupHiddenSuites(follow, domain, provider),
  ])
  return shown.flat()
}

/** Whether mail and visitors can reach the domain by its IPv6 address alone, if at all. */
function needsIpv6Address(mx: Finding<DnsAnswer>, hosts: Finding<MailHosts>, a: Finding<DnsAnswer>): boolean {
  if (!hosts.known || hosts.value.acceptsMail || hosts.value.isNullMx) return false
  if (a.known && a.value.records.length > 0) return false
  return !(isNxdomain(mx) && isNxdomain(a))
}

const isNxdomain = (asked: Finding<DnsAnswer>): boolean => asked.known && asked.value.outcome === "no_name"

function mailEvidence(
  { mx, txt, a, aaaa }: OwnRecords,
  hosts: MailHosts,
  published: Pick<MailEvidence, "spf" | "dmarcPolicy">,
): Finding<MailEvidence> {
  const { acceptsMail, isNullMx, mx: listed, provider, operatedBy } = hosts
  const addresses = aaaa === null ? [a] : [a, aaaa]
  const hasAddress = addresses.some(asked => asked.known && asked.value.records.length > 0)
  const missing = addresses.find(asked => !asked.known)
  // Without a host or a null MX the address decides, and one that was asked for in vain may be there.
  if (!acceptsMail && !isNullMx && !hasAddress && missing !== undefined && !missing.known) return missing
  return known({
    // A server that denies the name to one question and not to another is broken; the name is there.
    exists: [mx, txt, ...addresses].some(asked => asked.known && asked.value.outcome !== "no_name"),
    delivery: deliveryOf(hosts, hasAddress),
    hasAddress,
    mx: listed,
    provider: provider?.key ?? null,
    operatedBy: operatedBy,
    ...published,
  })
}

function deliveryOf({ acceptsMail, isNullMx }: MailHosts, hasAddress: boolean): MailEvidence["delivery"] {
  if (acceptsMail) return "mx"
  if (isNullMx) return "null_mx"
  return hasAddress ? "implicit" : "none"
}

/** Asks as long as there is time; then every question, also one under way, is `timed_out` at once. */
export function withinDeadline(ask: CachingResolver, budget: Deadline): CachingResolver {
  return question => (budget.isExpired ? Promise.resolve(TIMED_OUT) : budget.wait(ask(question), TIMED_OUT))
}

const TIMED_OUT: Finding<never> = unknown("timed_out")
