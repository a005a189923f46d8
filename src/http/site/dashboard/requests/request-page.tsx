/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { LinkButton } from "../../ui/forms.tsx"
import { DescriptionList, Prose } from "../../ui/layout.tsx"
import { Verdict } from "../../ui/verdict/verdict.tsx"
import { ReasonLink } from "../../ui/verdict/verdict-evidence.tsx"
import { CATEGORY_LABELS, CATEGORY_MEANINGS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { formatTookMs, RequestTime, StatusPill } from "./requests-page.tsx"

type RequestPageProps = {
  readonly user: SignedInUser
  readonly request: StoredRequest
  readonly keyName: string
}

/** Everything that is logged of one request: its verdict, or what its codes mean. */
export function RequestPage({ user, request, keyName }: RequestPageProps) {
  const { skippedCount } = request
  return (
    <DashboardLayout route="loggedRequest" title="Request" user={user}>
      <p class="crumb">
        <a href={ROUTES.requests.path}>All requests</a>
      </p>
      <LoggedVerdict request={request} call={callItems(request, keyName)} />
      {skippedCount === 0 ? null : (
        <p class="notice review">
          {formatCount(skippedCount, "later request")} of your account could not be logged. More arrived at once than
          the log takes.
        </p>
      )}
      <p class="hint">The address that was checked is not logged.</p>
    </DashboardLayout>
  )
}

type LoggedVerdictProps = { readonly request: StoredRequest; readonly call: readonly Item[] }

/** The verdict of a single check. Of a batch, of a refused request and of what a newer version wrote: a list. */
function LoggedVerdict({ request, call }: LoggedVerdictProps) {
  const { domain, categoryCounts } = request
  const category = CATEGORY_NAMES.find(name => name === request.category)
  const recommendation = RECOMMENDATIONS.find(name => name === request.recommendation)
  if (category === undefined || recommendation === undefined)
    return (
      <DescriptionList
        items={[...call, ...categoryCounts.map(([name, count]) => [`Items: ${name}`, formatNumber(count)] as const)]}
      />
    )
  const reason = REASON_NAMES.find(name => name === request.reason)
  return (
    <Verdict
      tone={category}
      recommendation={recommendation}
      subject={domain ?? "Your input"}
      headline={CATEGORY_LABELS[category]}
      meaning={CATEGORY_MEANINGS[category]}
      reasons={reason === undefined ? [] : [{ mark: "info", text: <Prose text={REASONS[reason].description} /> }]}
      facts={reason === undefined ? call : [...call, ["Reason", <ReasonLink reason={reason} />]]}
    >
      {domain === null ? null : (
        <p class="actions">
          <LinkButton path={withQuery(ROUTES.docsLists.path, { domain })} label="Which lists?" look="small" />
          <LinkButton path={withQuery(ROUTES.feedback.path, { domain })} label="Wrong? Tell us" look="small" />
        </p>
      )}
    </Verdict>
  )
}

type Item = readonly [name: string, value: ComponentChildren]

function callItems(request: StoredRequest, keyName: string): readonly Item[] {
  const { atMs, keyId, route, tookMs, units, code } = request
  return [
    ["Time", [<RequestTime key="time" atMs={atMs} />, " UTC"]],
    ["Status", <StatusPill request={request} />],
    ...problemItems(code),
    ["Route", <code>{route}</code>],
    [
      "Key",
      keyId === SITE_KEY.id ? (
        keyName
      ) : (
        <a href={pathWithId("dashboardKey", keyId)}>
          <bdi>{keyName}</bdi>
        </a>
      ),
    ],
    ["Took", formatTookMs(tookMs)],
    ["Cost", formatCount(units, "unit")],
  ]
}

function problemItems(code: string | null): readonly Item[] {
  if (code === null) return []
  const problem = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  const name: Item = ["Problem", <code>{code}</code>]
  if (problem === undefined) return [name]
  return [
    name,
    ["Why", <Prose text={problem.cause} />],
    ["What to do", <Prose text={problem.action} />],
    ["More", <a href={`${ROUTES.docsErrors.path}#${code}`}>What this problem means</a>],
  ]
}
