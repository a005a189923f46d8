/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORIES } from "../../../../contract/categories.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { DescriptionList, Prose } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { formatTookMs, RequestTime, StatusBadge } from "./requests-page.tsx"

type RequestPageProps = {
  readonly user: SignedInUser
  readonly request: StoredRequest
  readonly keyName: string
}

/** Everything that is logged of one request, with what its codes mean. */
export function RequestPage({ user, request, keyName }: RequestPageProps) {
  return (
    <DashboardLayout route="loggedRequest" title="Request" user={user}>
      <p class="crumb">
        <a href={ROUTES.requests.path}>All requests</a>
      </p>
      <DescriptionList items={[...callItems(request, keyName), ...verdictItems(request)]} />
      {request.skippedCount === 0 ? null : (
        <p class="told">
          {formatCount(request.skippedCount, "later request")} of your account could not be logged. More arrived at once
          than the log takes.
        </p>
      )}
      {request.domain === null ? null : (
        <p class="actions">
          <a class="button small" href={withQuery(ROUTES.docsLists.path, { domain: request.domain })}>
            Which lists name it?
          </a>
          <a class="button small" href={withQuery(ROUTES.feedback.path, { domain: request.domain })}>
            Report a mistake
          </a>
        </p>
      )}
      <p class="hint">The address that was checked is not logged.</p>
    </DashboardLayout>
  )
}

type Item = readonly [name: string, value: ComponentChildren]

function callItems(request: StoredRequest, keyName: string): readonly Item[] {
  const { atMs, keyId, route, tookMs, units, code } = request
  return [
    [
      "Time",
      <>
        <RequestTime atMs={atMs} /> UTC
      </>,
    ],
    ["Status", <StatusBadge request={request} />],
    ...(code === null ? [] : problemItems(code)),
    ["Route", <code>{route}</code>],
    ["Key", keyId === SITE_KEY.id ? keyName : <a href={pathWithId("dashboardKey", keyId)}>{keyName}</a>],
    ["Took", formatTookMs(tookMs)],
    ["Cost", formatCount(units, "unit")],
  ]
}

function problemItems(code: string): readonly Item[] {
  const problem = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  if (problem === undefined) return []
  return [
    ["Why", <Prose text={problem.cause} />],
    ["What to do", <Prose text={problem.action} />],
    ["More", <a href={`${ROUTES.docsErrors.path}#${code}`}>What this problem means</a>],
  ]
}

function verdictItems({ category, recommendation, reason, domain, categoryCounts }: StoredRequest): readonly Item[] {
  const described = (
    code: string,
    table: Readonly<Record<string, { readonly description: string }>>,
  ): ComponentChildren => {
    const description = Object.entries(table).find(([name]) => name === code)?.[1].description
    return (
      <>
        <code>{code}</code>
        {description === undefined ? null : (
          <>
            : <Prose text={description} />
          </>
        )}
      </>
    )
  }
  return [
    ...(domain === null ? [] : [["Domain", <code>{domain}</code>] as const]),
    ...(category === null ? [] : [["Category", described(category, CATEGORIES)] as const]),
    ...(recommendation === null ? [] : [["Recommendation", recommendation] as const]),
    ...(reason === null ? [] : [["Deciding reason", described(reason, REASONS)] as const]),
    ...categoryCounts.map(([name, count]) => [`Items: ${name}`, formatNumber(count)] as const),
  ]
}
