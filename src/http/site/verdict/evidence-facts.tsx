/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import type { CheckResult } from "../../../contract/schemas.ts"
import { Table } from "../layout.tsx"

type Props = { readonly result: CheckResult }

/** What a check found out besides its reasons: what the name tells, who runs the mail, its hosts. What is not known is said so. */
export function EvidenceFacts({ result }: Props) {
  return (
    <>
      <h3 id="verdict-evidence">What we found</h3>
      <dl class="facts">
        <Fact term="Domain">{result.domain ?? "could not be read"}</Fact>
        {result.normalized_email === null || result.normalized_email === result.email ? null : (
          <Fact term="Written plainly">{result.normalized_email}</Fact>
        )}
        <Fact term="Mail">{mailWords(result)}</Fact>
        <Fact term="Mail suites">{suiteWords(result)}</Fact>
        <Published term="SPF" record={result.mail.spf} isMissing={result.reasons.includes("spf_missing")} />
        <Published
          term="DMARC"
          record={result.mail.dmarc_policy}
          isMissing={result.reasons.includes("dmarc_missing")}
        />
        {result.domain_age_days === null ? null : <Fact term="Registered">{ageWords(result.domain_age_days)}</Fact>}
        {result.email === null ? null : <Fact term="The name">{nameWords(result)}</Fact>}
      </dl>
      <MailHosts result={result} />
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

type PublishedProps = { readonly term: string; readonly record: string | null; readonly isMissing: boolean }

/** What the domain publishes of how its mail is to be trusted; nothing where nobody looked. */
function Published({ term, record, isMissing }: PublishedProps) {
  if (record !== null) {
    return (
      <Fact term={term}>
        <code>{record}</code>
      </Fact>
    )
  }
  return isMissing ? <Fact term={term}>none</Fact> : null
}

function mailWords({ mail: { has_mx: hasMx, provider }, domain }: CheckResult): string {
  if (domain === null) return "nothing to look up"
  if (hasMx === null) return "not looked up, or DNS did not answer"
  if (!hasMx) return "no mail host of its own"
  return provider === null ? "taken by hosts that we do not know by name" : `run by ${provider}`
}

function suiteWords({ mail, workspace }: CheckResult): string {
  const { suite_a: suiteA, suite_b: suiteB, other_suite: other } = workspace
  const found = [
    ...(suiteA.detected ? [`suite_a (${suiteA.evidence.join(", ")})`] : []),
    ...(suiteB.detected ? [`suite_b (${suiteB.evidence.join(", ")})`] : []),
    ...(other === null ? [] : [other]),
  ]
  if (found.length > 0) return found.join("; ")
  return mail.has_mx === null ? "not looked up" : "none found"
}

const ageWords = (days: number): string => (days === 1 ? "a day ago" : days === 0 ? "today" : `${days} days ago`)

/** What the part before the `@` tells; it alone never changes a category. */
function nameWords(result: CheckResult): string {
  const { shared_inbox: shared, group, is_role_account: isRole, has_subaddress: hasTag } = result
  const told = [
    ...(isRole ? ["names a role, not a person"] : []),
    ...(shared.match === null ? [] : [`may be a mailbox that several people read (“${shared.match}”)`]),
    ...(group.match === null
      ? []
      : [`${group.confidence === 1 ? "is" : "may be"} a group that forwards to many (“${group.match}”)`]),
    ...(hasTag ? ["has a +tag"] : []),
  ]
  return told.length === 0 ? "nothing stands out" : told.join("; ")
}

function MailHosts({ result: { mail } }: Props) {
  if (mail.mx.length === 0) return null
  return (
    <Table caption="Mail hosts" columns={["Mail host", "Priority", "Run by"]}>
      {mail.mx.map(({ priority, host, provider }) => (
        <tr key={`${priority} ${host}`}>
          <th scope="row">
            <code>{host}</code>
          </th>
          <td class="number">{priority}</td>
          <td>{provider ?? "–"}</td>
        </tr>
      ))}
    </Table>
  )
}
