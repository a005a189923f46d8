/** @jsxImportSource preact */
import type { ComponentProps } from "preact"
import { CATEGORY_NAMES, type Category } from "../../../../contract/categories.ts"
import { POLICY_DEFAULT, RECOMMENDATIONS, type Recommendation } from "../../../../contract/policies.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { ActionButton, LinkButton } from "../../ui/forms.tsx"
import { Prose, RecommendationCounts } from "../../ui/layout.tsx"
import { ShareTable } from "../../ui/panels.tsx"
import { type Fact, VERDICT_ID, Verdict } from "../../ui/verdict/verdict.tsx"
import { ReasonLink } from "../../ui/verdict/verdict-evidence.tsx"
import { AS_TYPED, CATEGORY_LABELS, CATEGORY_MEANINGS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { batchShares, itemCount, type MeantNames, meaningOf, OutcomePill, subjectOf } from "./request-words.tsx"
import { formatTookMs, RequestTime } from "./requests-page.tsx"

type RequestPageProps = {
  readonly user: SignedInUser
  readonly request: StoredRequest
  readonly keyName: string
  readonly names: MeantNames
}

/** Everything that is logged of one request: what was asked, what came out, and how it went. */
export function RequestPage({ user, request, keyName, names }: RequestPageProps) {
  const { skippedCount, code, status } = request
  const subject = subjectOf(request)
  const isUnnamed = code !== null && subject === request.route
  const title = isUnnamed ? `${status < 500 ? "Refused" : "Failed"} request` : subject
  return (
    <DashboardLayout route="loggedRequest" title={title} user={user}>
      {skippedCount === 0 ? null : (
        <p class="notice review">
          {formatCount(skippedCount, "later request")} of your account could not be logged. More arrived at once than
          the log takes.
        </p>
      )}
      <Verdict {...outcomeOf(request, names)} subject={request.route} facts={factsOf(request, keyName)}>
        <BatchResult request={request} />
        <Actions request={request} />
      </Verdict>
      {request.domain === null ? null : <p class="hint">Addresses are never logged: you see the domain only.</p>}
    </DashboardLayout>
  )
}

/** The verdicts of a batch, then its categories. Nothing for what is no batch. */
function BatchResult({ request }: Pick<RequestPageProps, "request">) {
  const { recommendationCounts } = request
  const categories = batchShares(request)
  if (categories.length === 0) return null
  return (
    <>
      {recommendationCounts === undefined ? null : (
        <RecommendationCounts counts={Object.fromEntries(recommendationCounts)} />
      )}
      <ShareTable caption="Items by category" shares={categories} />
    </>
  )
}

/** What to do next, and where to read on. */
function Actions({ request: { domain, code, keyId } }: Pick<RequestPageProps, "request">) {
  const links =
    domain === null
      ? []
      : ([
          ["Requests for this domain", withQuery(ROUTES.requests.path, { domain })],
          ["Which lists name it", withQuery(ROUTES.docsLists.path, { domain })],
          ["Report a wrong verdict", withQuery(ROUTES.feedback.path, { domain })],
        ] as const)
  return (
    <>
      <div class="actions">
        {code === null ? null : (
          <LinkButton path={`${ROUTES.docsErrors.path}#${code}`} label="What this means" look="quiet" />
        )}
        {domain === null ? null : (
          <ActionButton
            path={`${ROUTES.postTryIt.path}#${VERDICT_ID}`}
            fields={{ asked: domain, policy: POLICY_DEFAULT }}
            label="Check it again"
            look="primary"
          />
        )}
      </div>
      <p class="actions hint">
        {[...links, ["Requests with this key", withQuery(ROUTES.requests.path, { key: keyId })] as const].map(
          ([label, path]) => (
            <a key={label} href={path}>
              {label}
            </a>
          ),
        )}
      </p>
    </>
  )
}

type Outcome = Pick<
  ComponentProps<typeof Verdict>,
  "tone" | "recommendation" | "fault" | "headline" | "meaning" | "reasons"
>

/** The verdict of a single check, why a request was refused, or what a batch has. */
function outcomeOf(request: StoredRequest, names: MeantNames): Outcome {
  const { code } = request
  const category = CATEGORY_NAMES.find(name => name === request.category) ?? "unknown"
  const recommendation = RECOMMENDATIONS.find(name => name === request.recommendation) ?? null
  const headline = meaningOf(request, names)
  if (recommendation !== null) {
    const reason = REASON_NAMES.find(name => name === request.reason)
    const text = reason === undefined ? "" : <Prose text={REASONS[reason].description} />
    const reasons = reason === undefined || reason in DOUBTS ? [] : [{ mark: "info" as const, text }]
    return { tone: category, recommendation, headline, meaning: meaningText(request, category, names), reasons }
  }
  const plain = { tone: category, recommendation, reasons: [] }
  if (code === null) return { ...plain, headline: splitOf(request), meaning: "" }
  const problem = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  return {
    ...plain,
    headline,
    fault: { tone: request.status < 500 ? "review" : "block", badge: <OutcomePill request={request} /> },
    meaning: problem === undefined ? "" : <Prose text={withoutMembers(problem.cause)} />,
    reasons: problem === undefined ? [] : [{ mark: "info", text: <Prose text={withoutMembers(problem.action)} /> }],
  }
}

/** What a batch came to; versions before did not count it. */
function splitOf(request: StoredRequest): string {
  const counts = new Map(request.recommendationCounts)
  const of = (name: Recommendation) => formatNumber(counts.get(name) ?? 0)
  if (counts.size > 0) return `${of("allow")} allowed, ${of("review")} to review, ${of("block")} blocked`
  return itemCount(request) === 0 ? "Answered" : "Checked"
}

/** A text about a problem for who does not see the answer that the request got. */
const withoutMembers = (text: string): string =>
  text
    .replace(/(^|\. )`errors`/g, "$1The answer that your server got")
    .replace("that `errors` names", "named in the answer")

/** The reasons that are about another name, each with the words before that name. */
const DOUBTS = { likely_typo: "This is probably a misspelling of", lookalike_domain: "This domain imitates" } as const

function meaningText({ domain, reason }: StoredRequest, category: Category, names: MeantNames): string {
  const { lookalikeOf = null } = names.get(domain ?? "") ?? {}
  if (reason === "likely_typo") return `As typed, ${AS_TYPED[category]}.`
  if (reason === "lookalike_domain" || lookalikeOf !== null)
    return `${DOUBTS.lookalike_domain} ${lookalikeOf ?? "a well-known name"}.`
  return CATEGORY_MEANINGS[category]
}

/** How the request went. */
function factsOf(request: StoredRequest, keyName: string): readonly Fact[] {
  const { atMs, keyId, tookMs, units, status, code } = request
  const category = CATEGORY_NAMES.find(name => name === request.category)
  const reason = REASON_NAMES.find(name => name === request.reason)
  const name = <bdi>{keyName}</bdi>
  return [
    ["Time", [<RequestTime key="time" atMs={atMs} />, " UTC"]],
    ["Status", status],
    ...(code === null ? [] : [["Problem", <code>{code}</code>] as const]),
    ...(category === undefined ? [] : [["Category", CATEGORY_LABELS[category]] as const]),
    ...(reason === undefined ? [] : [["Reason", <ReasonLink reason={reason} />] as const]),
    ["Key", keyId === SITE_KEY.id ? name : <a href={pathWithId("dashboardKey", keyId)}>{name}</a>],
    ["Took", formatTookMs(tookMs)],
    ["Cost", formatCount(units, "unit")],
  ]
}
