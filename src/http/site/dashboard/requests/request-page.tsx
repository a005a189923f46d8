/** @jsxImportSource preact */
import type { ComponentProps } from "preact"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { LinkButton } from "../../ui/forms.tsx"
import { Prose } from "../../ui/layout.tsx"
import { ShareTable } from "../../ui/panels.tsx"
import { type Fact, Verdict } from "../../ui/verdict/verdict.tsx"
import { ReasonLink } from "../../ui/verdict/verdict-evidence.tsx"
import { CATEGORY_MEANINGS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { batchShares, DOUBTS, itemCount, meaningOf, subjectOf } from "./request-words.tsx"
import { formatTookMs, RequestTime } from "./requests-page.tsx"

type RequestPageProps = {
  readonly user: SignedInUser
  readonly request: StoredRequest
  readonly keyName: string
}

/** Everything that is logged of one request: what was asked, what came out, and how it went. */
export function RequestPage({ user, request, keyName }: RequestPageProps) {
  const { domain, skippedCount, keyId, code, status } = request
  const subject = subjectOf(request)
  const isUnnamed = code !== null && subject === request.route
  const title = isUnnamed ? `${status < 500 ? "Refused" : "Failed"} request` : subject
  const items = batchShares(request)
  return (
    <DashboardLayout route="loggedRequest" title={title} user={user}>
      <p class="crumb">
        <a href={ROUTES.requests.path}>All requests</a>
      </p>
      {skippedCount === 0 ? null : (
        <p class="notice review">
          {formatCount(skippedCount, "later request")} of your account could not be logged. More arrived at once than
          the log takes.
        </p>
      )}
      <Verdict {...outcomeOf(request)} subject={request.route} facts={factsOf(request, keyName)}>
        {items.length === 0 ? null : <ShareTable caption="Items by category" shares={items} />}
        <p class="actions">
          {domain === null ? null : (
            <>
              <LinkButton
                path={withQuery(ROUTES.requests.path, { domain })}
                label="Requests for this domain"
                look="small"
              />
              <LinkButton path={withQuery(ROUTES.docsLists.path, { domain })} label="Which lists?" look="small" />
              <LinkButton path={withQuery(ROUTES.feedback.path, { domain })} label="Wrong? Tell us" look="small" />
            </>
          )}
          <LinkButton
            path={withQuery(ROUTES.requests.path, { key: keyId })}
            label="Requests with this key"
            look="small"
          />
        </p>
      </Verdict>
      <p class="hint">Addresses are never logged: you see the domain only.</p>
    </DashboardLayout>
  )
}

type Outcome = Pick<ComponentProps<typeof Verdict>, "tone" | "recommendation" | "headline" | "meaning" | "reasons">

/** The verdict of a single check, why a request was refused, or what a batch has. */
function outcomeOf(request: StoredRequest): Outcome {
  const { code } = request
  const category = CATEGORY_NAMES.find(name => name === request.category) ?? "unknown"
  const recommendation = RECOMMENDATIONS.find(name => name === request.recommendation) ?? null
  if (recommendation !== null) {
    const verdict = { tone: category, recommendation, headline: meaningOf(request) }
    const doubt = DOUBTS.get(request.reason ?? "")
    if (doubt !== undefined) return { ...verdict, meaning: doubt.meaning, reasons: [] }
    const reason = REASON_NAMES.find(name => name === request.reason)
    const text = reason === undefined ? "" : <Prose text={REASONS[reason].description} />
    const reasons = reason === undefined ? [] : [{ mark: "info" as const, text }]
    return { ...verdict, meaning: CATEGORY_MEANINGS[category], reasons }
  }
  const plain = { tone: category, recommendation, reasons: [] }
  if (code === null) {
    const count = itemCount(request)
    return { ...plain, headline: count === 0 ? "Answered" : `${formatCount(count, "item")} checked`, meaning: "" }
  }
  const problem = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  const more = <a href={`${ROUTES.docsErrors.path}#${code}`}>What this problem means</a>
  return {
    ...plain,
    headline: meaningOf(request),
    meaning: problem === undefined ? "" : <Prose text={problem.cause} />,
    reasons:
      problem === undefined
        ? []
        : [<Prose key="action" text={problem.action} />, more].map(text => ({ mark: "info", text })),
  }
}

/** How the request went. */
function factsOf(request: StoredRequest, keyName: string): readonly Fact[] {
  const { atMs, keyId, tookMs, units, status, code } = request
  const reason = REASON_NAMES.find(name => name === request.reason)
  const name = <bdi>{keyName}</bdi>
  return [
    ["Time", [<RequestTime key="time" atMs={atMs} />, " UTC"]],
    ["Status", status],
    ...(code === null ? [] : [["Problem", <code>{code}</code>] as const]),
    ...(reason === undefined ? [] : [["Reason", <ReasonLink reason={reason} />] as const]),
    ["Key", keyId === SITE_KEY.id ? name : <a href={pathWithId("dashboardKey", keyId)}>{name}</a>],
    ["Took", formatTookMs(tookMs)],
    ["Cost", formatCount(units, "unit")],
  ]
}
