/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORIES, type Category } from "../../../contract/categories.ts"
import { POLICIES, RECOMMENDATIONS, type Recommendation } from "../../../contract/policies.ts"
import { REASONS, type Reason } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { Prose, prettyJson, RecommendationBadge, Table } from "./layout.tsx"

type VerdictProps = { readonly result: CheckResult }

type VerdictViewProps = VerdictProps & {
  /** What the category means for this page's readers. Null: its general description. */
  readonly meaning?: string | null
  /** Displayed beside the suggested domain, such as a button. */
  readonly besideSuggestion?: ComponentChildren
}

/**
 * The result of a check in words, with its JSON in a collapsed section. It has the id `verdict`, so a page can hold one only.
 * Everything from outside is rendered as text.
 */
export function VerdictView({ result, meaning = null, besideSuggestion = null }: VerdictViewProps) {
  return (
    <section class="verdict" aria-labelledby="verdict">
      <VerdictHeadline result={result} meaning={meaning} />
      <VerdictNotes result={result} besideSuggestion={besideSuggestion} />
      <ReasonsTable result={result} />
      <EvidenceSection result={result} />
      <details>
        <summary>The same as JSON, as the API answers it</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
        <pre tabIndex={0}>
          <code>{prettyJson(result)}</code>
        </pre>
      </details>
    </section>
  )
}

/** The input as it was sent. The result of an unreadable domain does not contain it. */
const subjectLabel = ({ email, url, domain }: CheckResult): string => email ?? url ?? domain ?? "What you sent"

function VerdictHeadline({ result, meaning }: VerdictProps & { readonly meaning: string | null }) {
  const { category, recommendation, confidence, policy } = result
  return (
    <>
      <h2 id="verdict">
        <span class="asked">{subjectLabel(result)}</span> {CATEGORY_LABELS[category]}
      </h2>
      <p>
        {meaning ?? CATEGORIES[category].description} We are {formatCertainty(confidence)}.
      </p>
      <p>
        <RecommendationBadge recommendation={recommendation} /> {RECOMMENDATION_LABELS[recommendation]}{" "}
        <span class="hint">
          This is what the policy <code>{policy}</code> recommends.
        </span>
      </p>
    </>
  )
}

/** Notes that come before the reasons. */
function VerdictNotes({ result, besideSuggestion }: VerdictViewProps) {
  const { did_you_mean: suggestion, degraded, workspace } = result
  return (
    <>
      {suggestion === null ? null : (
        <div class="told">
          Did you mean <strong>{suggestion}</strong>? {besideSuggestion}
        </div>
      )}
      {degraded ? (
        <p class="told">DNS did not answer in time, so this is what our lists alone know. Try again soon.</p>
      ) : null}
      {workspace.pending ? (
        <p class="told">
          Whether the domain has a tenant in <code>suite_b</code> is still being looked up. The next check knows.
        </p>
      ) : null}
    </>
  )
}

/** A reason that leads to its description in the guide. */
export const ReasonLink = ({ reason }: { readonly reason: Reason }) => (
  <a href={`${ROUTES.docsReasons.path}#${reason}`}>
    <code>{reason}</code>
  </a>
)

function ReasonsTable({ result }: VerdictProps) {
  const raisedBy = recommendationReason(result)
  return (
    <>
      <h3 id="verdict-reasons">Why</h3>
      <Table caption="Reasons of the verdict" columns={["Reason", "What it means"]}>
        {result.reasons.map((reason, index) => (
          <tr key={reason}>
            <th scope="row">
              <ReasonLink reason={reason} />
            </th>
            <td>
              {index === 0 ? <strong>This decided. </strong> : null}
              {reason === raisedBy ? <strong>This made it “{result.recommendation}”. </strong> : null}
              <Prose text={REASONS[reason].description} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

/**
 * The reason that changed the recommendation from that of the category: the second in the list (DECISIONS 2). Null when
 * nothing changed it, or when the first reason lowered it itself, as a learned mail host does.
 */
function recommendationReason({ recommendation, policy, category, reasons }: CheckResult): Reason | null {
  const usual = POLICIES[policy][category]
  const second = reasons[1] ?? null
  if (recommendation === usual) return null
  const isRaised = RECOMMENDATIONS.indexOf(recommendation) > RECOMMENDATIONS.indexOf(usual)
  return isRaised || second === "allowlisted" ? second : null
}

type EvidenceProps = { readonly result: CheckResult }

/** The evidence: the domain, its mail hosts and their operators, and the local part. It says what is unknown. */
function EvidenceSection({ result }: EvidenceProps) {
  return (
    <>
      <h3 id="verdict-evidence">What we found</h3>
      <dl class="facts">
        <Fact term="Domain">{result.domain ?? "could not be read"}</Fact>
        {result.normalized_email === null || result.normalized_email === result.email ? null : (
          <Fact term="Written plainly">{result.normalized_email}</Fact>
        )}
        <Fact term="Mail">{mailLabel(result)}</Fact>
        <Fact term="Mail suites">{mailSuitesLabel(result)}</Fact>
        <PublishedRecord term="SPF" record={result.mail.spf} isMissing={result.reasons.includes("spf_missing")} />
        <PublishedRecord
          term="DMARC"
          record={result.mail.dmarc_policy}
          isMissing={result.reasons.includes("dmarc_missing")}
        />
        {result.domain_age_days === null ? null : <Fact term="Registered">{ageLabel(result.domain_age_days)}</Fact>}
        {result.email === null ? null : <Fact term="The name">{localPartLabel(result)}</Fact>}
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
  if (hasMx === null) return "not looked up, or DNS did not answer"
  if (!hasMx) return "no mail host of its own"
  return provider === null ? "taken by hosts that we do not know by name" : `run by ${provider}`
}

function mailSuitesLabel({ mail, workspace }: CheckResult): string {
  const { suite_a: suiteA, suite_b: suiteB, other_suite: other } = workspace
  const found = [
    ...(suiteA.detected ? [`suite_a (${suiteA.evidence.join(", ")})`] : []),
    ...(suiteB.detected ? [`suite_b (${suiteB.evidence.join(", ")})`] : []),
    ...(other === null ? [] : [other]),
  ]
  if (found.length > 0) return found.join("; ")
  return mail.has_mx === null ? "not looked up" : "none found"
}

const ageLabel = (days: number): string => (days === 1 ? "a day ago" : days === 0 ? "today" : `${days} days ago`)

/** What the local part shows, which never changes a category. */
function localPartLabel(result: CheckResult): string {
  const { shared_inbox: shared, group, is_role_account: isRole, has_subaddress: hasTag } = result
  const findings = [
    ...(isRole ? ["names a role, not a person"] : []),
    ...(shared.match === null ? [] : [`may be a mailbox that several people read (“${shared.match}”)`]),
    ...(group.match === null
      ? []
      : [`${group.confidence === 1 ? "is" : "may be"} a group that forwards to many (“${group.match}”)`]),
    ...(hasTag ? ["has a +tag"] : []),
  ]
  return findings.length === 0 ? "nothing stands out" : findings.join("; ")
}

function MailHostsTable({ result: { mail } }: EvidenceProps) {
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

/** The category in a headline. */
const CATEGORY_LABELS: { readonly [C in Category]: string } = {
  business: "Business",
  personal: "Personal",
  disposable: "Disposable",
  relay: "Privacy relay",
  education: "Education",
  government: "Government",
  invalid: "Not valid",
  unknown: "Not known",
}

/** What to do about a recommendation. */
const RECOMMENDATION_LABELS: { readonly [R in Recommendation]: string } = {
  allow: "Let it through.",
  review: "Have a look at it before you trust it.",
  block: "Turn it away.",
}

/** A confidence as text: `95 % sure`. */
const formatCertainty = (confidence: number): string => `${Math.round(confidence * 100)} % sure`
