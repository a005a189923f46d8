/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { mailProviderName } from "../../../../check/mail/mail-providers.ts"
import { REASONS, type Reason } from "../../../../contract/reasons.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { Prose, Table } from "../layout.tsx"
import { ageLabel, displayedDomain } from "./reason-words.ts"
import { changingReason, isUnreadable } from "./verdict-words.ts"

type EvidenceProps = { readonly result: CheckResult }

/** What was found about the input, and every reason with its description. An unreadable input has the deciding reason only. */
export function VerdictEvidence({ result }: EvidenceProps) {
  return (
    <>
      {isUnreadable(result) ? null : <Findings result={result} />}
      <ReasonsTable result={result} />
    </>
  )
}

/** A reason that leads to its description in the guide. */
export const ReasonLink = ({ reason }: { readonly reason: Reason }) => (
  <a href={`${ROUTES.docsReasons.path}#${reason}`}>
    <code>{reason}</code>
  </a>
)

function ReasonsTable({ result }: EvidenceProps) {
  const changing = changingReason(result)
  const reasons = isUnreadable(result) ? result.reasons.slice(0, 1) : result.reasons
  return (
    <Table caption="Reasons of the verdict" columns={["Reason", "Meaning"]}>
      {reasons.map((reason, index) => (
        <tr key={reason}>
          <th scope="row">
            <ReasonLink reason={reason} />
          </th>
          <td>
            {index === 0 ? <strong>Deciding reason. </strong> : null}
            {reason === changing ? <strong>Changed the recommendation to {result.recommendation}. </strong> : null}
            <Prose text={REASONS[reason].description} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Findings({ result }: EvidenceProps) {
  return (
    <>
      <dl class="facts">
        <Fact term="Domain">{displayedDomain(result) ?? "not readable"}</Fact>
        {result.normalized_email === null || result.normalized_email === result.email ? null : (
          <Fact term="Normalized">{result.normalized_email}</Fact>
        )}
        {result.canonical_email === null || result.canonical_email === result.normalized_email ? null : (
          <Fact term="Mailbox">{result.canonical_email}</Fact>
        )}
        <Fact term="Mail">{mailLabel(result)}</Fact>
        <Fact term="Mail service">{suitesLabel(result)}</Fact>
        <PublishedRecord term="SPF" record={result.mail.spf} isMissing={result.reasons.includes("spf_missing")} />
        <PublishedRecord
          term="DMARC"
          record={result.mail.dmarc_policy}
          isMissing={result.reasons.includes("dmarc_missing")}
        />
        {result.domain_age_days === null ? null : <Fact term="Registered">{ageLabel(result.domain_age_days)}</Fact>}
        {result.email === null ? null : <LocalPart result={result} />}
      </dl>
      <MailHostsTable result={result} />
    </>
  )
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type PublishedRecordProps = { readonly term: string; readonly record: string | null; readonly isMissing: boolean }

/** A DNS record about the domain's mail. Nothing when it was not looked up. */
function PublishedRecord({ term, record, isMissing }: PublishedRecordProps) {
  if (record !== null) {
    return (
      <Fact term={term}>
        <code>{record}</code>
      </Fact>
    )
  }
  return isMissing ? <Fact term={term}>none</Fact> : null
}

function mailLabel({ mail: { has_mx: hasMx, provider }, domain }: CheckResult): string {
  if (domain === null) return "nothing to look up"
  if (hasMx === null) return "not looked up"
  if (!hasMx) return "no mail server"
  return provider === null ? "its own or an unknown mail server" : mailProviderName(provider)
}

function suitesLabel({ mail, workspace }: CheckResult): string {
  const { suite_a: suiteA, suite_b: suiteB, other_suite: other } = workspace
  const found = [
    ...(suiteA.detected ? [`${mailProviderName("suite_a")} (${suiteA.evidence.join(", ")})`] : []),
    ...(suiteB.detected ? [`${mailProviderName("suite_b")} (${suiteB.evidence.join(", ")})`] : []),
    ...(other === null ? [] : [mailProviderName(other)]),
  ]
  if (found.length > 0) return found.join("; ")
  return mail.has_mx === null ? "not looked up" : "none found"
}

/** What the local part shows. Nothing when it shows nothing. */
function LocalPart({ result }: EvidenceProps) {
  const { shared_inbox: shared, group, is_role_account: isRole, has_subaddress: hasTag } = result
  const findings = [
    ...(isRole ? ["a role, not a person"] : []),
    ...(shared.match === null ? [] : [`perhaps a shared mailbox (“${shared.match}”)`]),
    ...(group.match === null ? [] : [`${group.confidence === 1 ? "a group" : "perhaps a group"} (“${group.match}”)`]),
    ...(hasTag ? ["has a +tag"] : []),
  ]
  return findings.length === 0 ? null : <Fact term="Before the @">{findings.join("; ")}</Fact>
}

function MailHostsTable({ result: { mail } }: EvidenceProps) {
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
