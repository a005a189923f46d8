import { type Finding, known } from "../../base/finding.ts"
import type { CachingResolver, DnsAnswer } from "../dns/dns-types.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"
import type { MailEvidence } from "../verdict/evidence.ts"
import { isDisposableAddress } from "./disposable-addresses.ts"
import { addressText, type HostAddresses, publicAddresses } from "./host-addresses.ts"
import type { MailHosts } from "./mail-hosts.ts"
import type { MailOperator, MailProviderKind } from "./mail-providers.ts"
import { lookupSpfSuites } from "./spf.ts"
import {
  type Indicators,
  lookupHiddenSuites,
  lookupSuiteKeys,
  NO_INDICATORS,
  type SuiteIndicator,
} from "./suite-indicators.ts"

/** The records at the domain's own name. Null: they were not needed. */
type OwnRecords = { readonly mx: Finding<DnsAnswer> } & {
  readonly [Type in "txt" | "a" | "aaaa"]: Finding<DnsAnswer> | null
}

/** Who operates the mail: an address that serves disposable domains shows it, else the names of the hosts, else linked records. */
export function operatorOf(
  { acceptsMail, operatedBy }: MailHosts,
  { a, aaaa }: OwnRecords,
  { hosts }: HostAddresses,
  linkedSuites: readonly SuiteIndicator[],
): MailOperator | null {
  // Without a mail host the domain itself is one (RFC 5321 §5.1).
  const addresses = acceptsMail
    ? hosts.flatMap(host => host.addresses)
    : publicAddresses([a, aaaa].flatMap(addressTexts))
  if (addresses.some(isDisposableAddress)) return "disposable"
  return operatedBy ?? linkedSuites.find(({ operator }) => operator === "other_suite")?.operator ?? null
}

/** Whether it is one of the two suites whose customers are known by further records. */
export const isOfSuite = (operatedBy: MailEvidence["operatedBy"]): operatedBy is "suite_a" | "suite_b" =>
  operatedBy === "suite_a" || operatedBy === "suite_b"

const addressTexts = (finding: Finding<DnsAnswer> | null): readonly string[] =>
  finding?.known ? finding.value.records.flatMap(addressText) : []

/** Domains with consumer mailboxes name the SPF domain of a vendor whose suite they do not use. */
const PERSONAL_PROVIDER_KINDS: readonly MailProviderKind[] = ["consumer", "group"]

/** The suites that show in the records to which mail hosts and SPF record lead. */
export function lookupLinkedSuites(
  resolver: CachingResolver,
  domain: string,
  isProofNeeded: boolean,
  { provider, operatedBy }: MailHosts,
  spf: MailEvidence["spf"],
): Indicators {
  const isPersonal = provider !== null && PERSONAL_PROVIDER_KINDS.includes(provider.kind)
  const record = spf.known && !isPersonal ? spf.value : null
  // Asked about first: these questions are few and about the domain itself, and a long SPF record must not use up their share.
  const hiddenSuites =
    provider === null || operatedBy === "disposable" ? NO_INDICATORS : lookupHiddenSuites(resolver, domain, provider)
  const suiteKeys =
    isProofNeeded && isOfSuite(operatedBy) ? lookupSuiteKeys(resolver, domain, operatedBy) : NO_INDICATORS
  const spfSuites = record === null ? NO_INDICATORS : lookupSpfSuites(resolver, domain, record)
  if (hiddenSuites === NO_INDICATORS && suiteKeys === NO_INDICATORS) return spfSuites
  return Promise.all([spfSuites, hiddenSuites, suiteKeys]).then(found => found.flat())
}

/** The other suite that runs the mail at hosts that are also used without it. Nothing else that is linked shows who does. */
export const lookupOtherSuite = (
  resolver: CachingResolver,
  domain: string,
  { provider, operatedBy }: MailHosts,
): Indicators =>
  provider === null || operatedBy !== null
    ? NO_INDICATORS
    : lookupHiddenSuites(resolver, domain, provider, "other_suite")

/** Whether an IPv6 address may be the only one by which mail and visitors reach a domain without a mail host. */
export const needsIpv6Address = (mx: Finding<DnsAnswer>, a: Finding<DnsAnswer>): boolean =>
  !hasPublicAddress(a) && !(isNxdomain(mx) && isNxdomain(a))

/** Whether one of the addresses is public: mail and visitors reach no special one (RFC 6890). */
const hasPublicAddress = (finding: Finding<DnsAnswer> | null): boolean =>
  finding?.known === true &&
  finding.value.records.some(record => "address" in record && parsePublicAddress(record.address) !== null)

/** Whether any answer knows the name. A broken server may deny it for one record type only. */
export const nameExists = ({ mx, txt, a, aaaa }: OwnRecords): boolean =>
  [mx, txt, a, aaaa].some(answer => answer?.known === true && answer.value.outcome !== "no_name")

/** Whether the answer denies the name. */
export const isNxdomain = (finding: Finding<DnsAnswer>): boolean => finding.known && finding.value.outcome === "no_name"

/** What the records tell of the mail. Unknown: an address decides, and its query failed. */
export function mailEvidence(
  records: OwnRecords,
  hosts: MailHosts,
  others: Pick<MailEvidence, "isUnreachable" | "spf" | "dmarcPolicy">,
): Finding<MailEvidence> {
  const { acceptsMail, isNullMx, hasNoHost, provider, operatedBy } = hosts
  const { a, aaaa } = records
  const hasAddress = hasPublicAddress(a) || hasPublicAddress(aaaa)
  const failedAddress = a?.known === false ? a : aaaa
  // Without an MX record the address decides, and an address whose query failed may exist.
  if (!acceptsMail && !isNullMx && !hasNoHost && !hasAddress && failedAddress?.known === false) return failedAddress
  return known({
    exists: nameExists(records),
    delivery: deliveryOf(hosts, hasAddress),
    hasAddress,
    mx: hosts.mx,
    provider: provider?.key ?? null,
    operatedBy,
    ...others,
  })
}

function deliveryOf({ acceptsMail, isNullMx, hasNoHost }: MailHosts, hasAddress: boolean): MailEvidence["delivery"] {
  if (acceptsMail) return "mx"
  if (isNullMx) return "null_mx"
  // The address record stands in for missing MX records, and not for wrong ones (RFC 5321 §5.1).
  if (hasNoHost) return "none"
  return hasAddress ? "implicit" : "none"
}
