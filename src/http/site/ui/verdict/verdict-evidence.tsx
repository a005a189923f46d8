/** @jsxImportSource preact */
import { domainToUnicode } from "node:url"
import { mailProviderName } from "../../../../check/mail/mail-providers.ts"
import type { Reason } from "../../../../contract/reasons.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { withQuery } from "../../links.ts"
import { formatCount, formatNumber } from "../format.ts"
import { Table } from "../table.tsx"
import { type DisplayedVerdict, displayedDomain } from "./reason-words.ts"
import type { Fact } from "./verdict.tsx"
import { isUnreachable, isUnreadable } from "./verdict-words.ts"

/** How many lists name a domain, of how many. */
export type ListCount = { readonly named: number; readonly all: number }

/** What was found about the input, each in a word or two. Nothing about an input that names no domain. */
export function verdictFacts({ result }: DisplayedVerdict, lists: ListCount | undefined): readonly Fact[] {
  const { email, domain, domain_age_days: days, reasons } = result
  if (isUnreadable(result) || domain === null) return []
  const isReachable = !isUnreachable(result)
  return [
    ...domainFact(result),
    ["Mail", mailLabel(result)],
    ...suiteFacts(result),
    ...recordFact("SPF", spfLabel(result), reasons.includes("spf_missing")),
    ...recordFact("DMARC", dmarcLabel(result), reasons.includes("dmarc_missing")),
    ...(days === null ? [] : [["Domain age", ageFact(days)] as const]),
    ...(email === null || !isReachable ? [] : mailboxFacts(result)),
    ...(isReachable ? [["Free mailbox", result.is_free_provider ? "yes" : "no"] as const] : []),
    ...(lists === undefined
      ? []
      : [["Named by", <a href={withQuery(ROUTES.docsLists.path, { domain })}>{listsLabel(lists)}</a>] as const]),
  ]
}

/** The domain of a website, and of an address that names it in another way. */
function domainFact(result: CheckResult): readonly Fact[] {
  const domain = displayedDomain(result) ?? ""
  const typed = (result.email ?? result.url ?? domain).toLowerCase().split("@").at(-1)
  return typed === domain || typed === result.domain ? [] : [["Domain", <bdi>{domain}</bdi>]]
}

/** How many of the lists name a domain. */
export const listsLabel = ({ named, all }: ListCount): string =>
  `${named === 0 ? "none" : formatNumber(named)} of ${formatCount(all, "list")}`

/** A reason that leads to its description in the guide. */
export const ReasonLink = ({ reason }: { readonly reason: Reason }) => (
  <a href={`${ROUTES.docsReasons.path}#${reason}`}>
    <code>{reason}</code>
  </a>
)

function mailLabel({ mail: { has_mx: hasMx, provider }, reasons }: CheckResult): string {
  if (hasMx === null) return "not looked up"
  if (!hasMx || reasons.includes("no_mail_host")) return "none"
  return provider === null ? "no known provider" : mailProviderName(provider)
}

/** The office suites apart from the one that runs the mail. */
function suiteFacts({ mail: { provider }, workspace }: CheckResult): readonly Fact[] {
  const found = [
    ...(workspace.suite_a.detected ? ["suite_a"] : []),
    ...(workspace.suite_b.detected ? ["suite_b"] : []),
    ...(workspace.other_suite === null ? [] : [workspace.other_suite]),
  ].filter(key => key !== provider)
  return found.length === 0 ? [] : [["Suite", found.map(mailProviderName).join(", ")]]
}

/** Nothing about a record that was not looked up. */
const recordFact = (name: string, label: string | null, isMissing: boolean): readonly Fact[] =>
  label === null && !isMissing ? [] : [[name, label ?? "missing"]]

const SPF_LABELS = { "-": "strict", "~": "soft", "?": "neutral", "+": "open" } as const

/** What the SPF record says about servers that it does not name. */
function spfLabel({ mail: { spf } }: CheckResult): string | null {
  if (spf === null) return null
  const sign = spf.match(/(?:^|[ \t])([-~?+]?)all[ \t]*$/i)?.[1]
  return sign === undefined ? "published" : SPF_LABELS[(sign || "+") as keyof typeof SPF_LABELS] // the pattern has these signs only
}

const DMARC_LABELS = { none: "monitoring only", quarantine: "quarantine", reject: "reject" } as const

const dmarcLabel = ({ mail: { dmarc_policy: policy } }: CheckResult): string | null =>
  policy === null ? null : DMARC_LABELS[policy]

const DAYS_PER_YEAR = 365.25

const ageFact = (days: number): string =>
  days < 2 * DAYS_PER_YEAR ? formatCount(days, "day") : formatCount(Math.floor(days / DAYS_PER_YEAR), "year")

/** What the part before the @ shows. */
function mailboxFacts(result: CheckResult): readonly Fact[] {
  const { shared_inbox: shared, group } = result
  const canonical = readableAddress(result.canonical_email)
  return [
    ["Shared inbox", shared.match === null ? "no" : "likely"],
    ...(group.match === null
      ? []
      : [["Group", `${group.confidence === 1 ? "yes" : "likely"} (${group.match})`] as const]),
    ...(canonical === "" || canonical === readableAddress(result.email)
      ? []
      : [["Same mailbox", <bdi>{canonical}</bdi>] as const]),
  ]
}

/** An address in lower case, and its domain as people read it. Empty: there is none. */
const readableAddress = (address: string | null): string =>
  (address ?? "").toLowerCase().replace(/[^@]+$/, domain => domainToUnicode(domain) || domain)

/** The mail servers of the domain. Nothing when there are none. */
export function MailHosts({ result: { mail } }: { readonly result: CheckResult }) {
  if (mail.mx.length === 0) return null
  return (
    <Table caption="Mail servers" columns={["Mail server", "Priority", "Run by"]}>
      {mail.mx.map(({ priority, host, provider }) => (
        <tr key={`${priority} ${host}`}>
          <th scope="row">
            <code>{host}</code>
          </th>
          <td class="number">{priority}</td>
          <td>{provider === null ? "–" : mailProviderName(provider)}</td>
        </tr>
      ))}
    </Table>
  )
}
