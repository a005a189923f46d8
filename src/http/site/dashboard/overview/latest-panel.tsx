/** @jsxImportSource preact */
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { pathWithId } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { RecommendationBadge } from "../../ui/layout.tsx"
import { Panel } from "../../ui/panels.tsx"
import { CATEGORY_LABELS } from "../../ui/verdict/verdict-words.ts"
import { requestIdOf } from "../requests/request-query.ts"
import type { RequestLogState } from "../requests/requests-page.tsx"

/** The latest requests of the log. */
export type LatestRequests = { readonly state: RequestLogState; readonly requests: readonly StoredRequest[] }

/** Why no requests are displayed. */
const NO_REQUESTS = {
  on: "No requests yet.",
  off: "The request log is off.",
  "off by operator": "This server keeps no request log.",
} as const satisfies { readonly [S in RequestLogState]: string }

/** The latest requests: what was checked, what it is, and what was recommended. */
export function LatestPanel({ latest: { state, requests } }: { readonly latest: LatestRequests }) {
  const link = state === "off by operator" ? undefined : <a href={ROUTES.requests.path}>{LINKS[state]}</a>
  return (
    <Panel title="Latest" link={link}>
      {requests.length === 0 ? (
        <p class="hint">{NO_REQUESTS[state]}</p>
      ) : (
        <ul class="latest">
          {requests.map(request => (
            <li key={requestIdOf(request)}>
              <a href={pathWithId("loggedRequest", requestIdOf(request))}>{subjectOf(request)}</a>
              <span>{meaningOf(request)}</span>
              <Result request={request} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const LINKS = { on: "All requests", off: "Switch it on" } as const

/** What was checked, as far as it is logged. */
function subjectOf({ domain, route, categoryCounts }: StoredRequest): string {
  const items = categoryCounts.reduce((sum, [, count]) => sum + count, 0)
  return domain ?? (items > 0 ? formatCount(items, "item") : route)
}

function meaningOf({ code, category, reason, categoryCounts }: StoredRequest): string {
  if (code !== null) return code
  if (categoryCounts.length > 0) return "Batch"
  const label = Object.entries({ ...CATEGORY_LABELS }).find(([name]) => name === category)?.[1] ?? category ?? ""
  return Object.entries(REASON_LABELS).find(([name]) => name === reason)?.[1] ?? label
}

/** Reasons that say more than the category does. */
const REASON_LABELS = { likely_typo: "Typo", lookalike_domain: "Look-alike" } as const

function Result({ request: { recommendation, status } }: { readonly request: StoredRequest }) {
  const found = RECOMMENDATIONS.find(name => name === recommendation)
  if (found !== undefined) return <RecommendationBadge recommendation={found} />
  return status < 400 ? <span /> : <span class={`pill ${status < 500 ? "review" : "block"}`}>{status}</span>
}
