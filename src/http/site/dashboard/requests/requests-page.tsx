/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { formatDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { type FilterChip, FilterChips, readableTime } from "../../ui/filter-chips.tsx"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { ActionButton, FlashMessage, FormError, LinkButton, SelectField, TextField, VERBATIM } from "../../ui/forms.tsx"
import { DescriptionList, Prose, RecommendationBadge } from "../../ui/layout.tsx"
import { Pagination } from "../../ui/pagination.tsx"
import { Empty, Panel, Segmented } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { Verdict } from "../../ui/verdict/verdict.tsx"
import { ReasonLink } from "../../ui/verdict/verdict-evidence.tsx"
import { CATEGORY_LABELS, CATEGORY_MEANINGS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import {
  isUnfiltered,
  LOGGED_ROUTES,
  type RequestFilterValues,
  type RequestQuery,
  requestIdOf,
  requestsPath,
  STATUS_CLASSES,
} from "./request-query.ts"

/** The flash messages of the page, by the name in its URL. */
export const REQUESTS_FLASH = {
  off: "The request log is off. Every logged request is deleted.",
  on: "The request log is on. Requests are logged from now on.",
} as const satisfies Record<string, string>

/** Why there is no log: the account switched it off, or the operator keeps none. */
export type RequestLogState = "on" | "off" | "off by operator"

/** A key that requests can be filtered by, and its name. */
export type RequestKey = { readonly id: string; readonly name: string }

type RequestsPageProps = {
  readonly user: SignedInUser
  readonly state: RequestLogState
  readonly query: RequestQuery
  readonly requests: readonly StoredRequest[]
  /** The cursor of the next page; null: this is the last one. */
  readonly nextAfter: string | null
  readonly keys: readonly RequestKey[]
  readonly flash: string | null
  /** The path of the script that keeps the page live. */
  readonly script: string
}

/** The account's last requests with their filter, and the switch of the log. */
export function RequestsPage(props: RequestsPageProps) {
  const { user, state, flash, script } = props
  return (
    <DashboardLayout route="requests" title="Requests" user={user} scripts={state === "on" ? [script] : []}>
      <FlashMessage message={flash} />
      {state === "on" ? <RequestLogSection {...props} /> : <Empty>{NO_LOG[state]}</Empty>}
      {state === "off by operator" ? null : <SwitchSection isOn={state === "on"} />}
    </DashboardLayout>
  )
}

function RequestLogSection({ query, requests, nextAfter, keys }: RequestsPageProps) {
  const { values, errors, before } = query
  return (
    <>
      <FormError message={Object.keys(errors).length === 0 ? null : "Please correct the marked fields."} />
      <div class="filter-row">
        <Segmented label="Recommendation" choices={outcomeChoices(values)} />
        <p class="actions" id="live" data-first-page={before === null ? "yes" : "no"}>
          <LinkButton path={requestsPath(values)} label="Reload" look="small" />
          <a class="button small" href={requestsPath(values, {}, ROUTES.requestLogFile.path)} download>
            Download CSV
          </a>
        </p>
      </div>
      <p class="hint" id="live-status" role="status" />
      <FilterForm query={query} keys={keys} />
      <div id="requests" class="panel">
        {requests.length === 0 ? (
          <NoRequests query={query} />
        ) : (
          <RowTable
            caption="Requests, newest first"
            columns={requestColumns(keys)}
            rows={requests}
            attributesOf={request => ({ "data-request": requestIdOf(request) })}
          />
        )}
        <Pagination path={ROUTES.requests.path} query={values} after={nextAfter} isFirstPage={before === null} />
      </div>
      <p class="hint">
        Your last {formatNumber(LIMITS.requestLogRowsMax)} requests, up to {LIMITS.requestLogDays} days back. Addresses
        are never logged: you see the domain only.
      </p>
    </>
  )
}

/** What most people filter by: what was recommended, or that nothing was. */
const OUTCOMES = [
  { label: "All", recommendation: "", status: "" },
  ...RECOMMENDATIONS.map(name => ({ label: RECOMMENDATION_LABELS[name], recommendation: name, status: "" })),
  { label: "Refused", recommendation: "", status: "4xx" },
] as const

const outcomeChoices = (values: RequestFilterValues) =>
  OUTCOMES.map(({ label, recommendation, status }) => ({
    label,
    href: requestsPath({ ...values, recommendation, status }),
    isCurrent: values.recommendation === recommendation && values.status === status,
  }))

const ANY = { value: "", label: "All" } as const

function FilterForm({ query: { values, errors }, keys }: Pick<RequestsPageProps, "query" | "keys">) {
  const unnamed =
    values.key === "" || keys.some(({ id }) => id === values.key) ? [] : [{ id: values.key, name: values.key }]
  const keyOptions = [...keys, ...unnamed].map(({ id, name }) => ({ value: id, label: name }))
  const classOptions = Object.entries(STATUS_CLASSES).map(([value, { label }]) => ({ value, label }))
  const named = (names: readonly string[]) => [ANY, ...names.map(value => ({ value, label: value }))]
  return (
    <form method="get" action={ROUTES.requests.path} aria-label="Filter requests">
      <input type="hidden" name="recommendation" value={values.recommendation} />
      <details open={Object.keys(errors).length > 0}>
        <summary>Filters</summary>
        <div class="filters">
          <TextField
            name="domain"
            label="Domain contains"
            value={values.domain}
            maxLength={LIMITS.domainBytesMax}
            {...VERBATIM}
          />
          <SelectField name="key" label="Key" options={[ANY, ...keyOptions]} selected={values.key} />
          <SelectField name="status" label="Status" options={[ANY, ...classOptions]} selected={values.status} />
          <SelectField name="category" label="Category" options={named(CATEGORY_NAMES)} selected={values.category} />
          <SelectField name="route" label="Route" options={named(LOGGED_ROUTES)} selected={values.route} />
          <TextField
            name="from"
            label="From (UTC)"
            type="datetime-local"
            value={values.from}
            error={errors.from ?? null}
          />
          <TextField name="to" label="Until (UTC)" type="datetime-local" value={values.to} error={errors.to ?? null} />
          <button type="submit">Filter</button>
        </div>
      </details>
      <FilterChips chips={chipsOf(values, keys)} clearPath={ROUTES.requests.path} />
    </form>
  )
}

/** What is filtered by besides the recommendation, each with the path that leaves it out. */
function chipsOf(values: RequestFilterValues, keys: readonly RequestKey[]): readonly FilterChip[] {
  const { key, status, category, route, domain, from, to } = values
  const isOutcome = OUTCOMES.some(outcome => outcome.status === status)
  const shown = {
    domain,
    key: keys.find(({ id }) => id === key)?.name ?? key,
    status: isOutcome ? "" : status,
    category,
    route,
    from: readableTime(from),
    to: readableTime(to),
  }
  return Object.entries(shown)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => ({ name: CHIP_NAMES[name] ?? name, text, path: requestsPath({ ...values, [name]: "" }) }))
}

const CHIP_NAMES: Readonly<Record<string, string>> = { from: "since", to: "before" }

function NoRequests({ query: { values, before } }: Pick<RequestsPageProps, "query">) {
  if (before !== null) return <Empty>There are no older requests.</Empty>
  if (!isUnfiltered(values))
    return (
      <Empty action={<LinkButton path={ROUTES.requests.path} label="Show all" look="quiet" />}>
        No request matches this filter.
      </Empty>
    )
  return (
    <Empty action={<LinkButton path={ROUTES.tryIt.path} label="Try a check" />}>
      No requests yet. They appear here as soon as you <a href={ROUTES.docsStart.path}>call the API</a>.
    </Empty>
  )
}

const requestColumns = (keys: readonly RequestKey[]): readonly CellColumn<StoredRequest>[] => [
  {
    ...{ name: "Domain", kind: "text" },
    cell: request => <a href={pathWithId("loggedRequest", requestIdOf(request))}>{subjectOf(request)}</a>,
  },
  { name: "Result", kind: "text", cell: resultOf },
  { name: "Recommended", kind: "pill", onPhone: "first", cell: request => <OutcomePill request={request} /> },
  {
    ...{ name: "Key", kind: "text", onPhone: "hidden" },
    cell: ({ keyId }) => <bdi>{keys.find(({ id }) => id === keyId)?.name ?? keyId}</bdi>,
  },
  { name: "Took", kind: "number", cell: ({ tookMs }) => formatTookMs(tookMs) },
  { name: "When", kind: "time", cell: RequestTime },
]

/** What a request is about: its domain, or how many items it had. */
function subjectOf({ domain, categoryCounts, skippedCount }: StoredRequest): string {
  const itemCount = categoryCounts.reduce((sum, [, count]) => sum + count, 0)
  const subject = domain ?? (itemCount === 0 ? "not checked" : formatCount(itemCount, "item"))
  return skippedCount === 0 ? subject : `${subject} · ${formatCount(skippedCount, "later request")} not logged`
}

/** The category, those of a batch, or the code of a problem. */
const resultOf = ({ code, category, categoryCounts }: StoredRequest): string | null =>
  code ?? category ?? (categoryCounts.map(([name, count]) => `${formatNumber(count)} ${name}`).join(", ") || null)

type RequestProps = { readonly request: StoredRequest }

/** The recommendation of a check, or the status of what was refused. The colour adds nothing to the words. */
export function OutcomePill({ request }: RequestProps) {
  const advice = RECOMMENDATIONS.find(name => name === request.recommendation)
  return advice === undefined ? <StatusPill request={request} /> : <RecommendationBadge recommendation={advice} />
}

/** When a request came, with seconds, since they follow each other fast. */
function RequestTime({ atMs }: Pick<StoredRequest, "atMs">) {
  const iso = new Date(atMs).toISOString()
  return <time dateTime={iso}>{`${formatDate(atMs)}, ${iso.slice(11, 19)}`}</time>
}

/** The status of a response. */
function StatusPill({ request: { status } }: RequestProps) {
  const mark = status < 400 ? "" : status < 500 ? "review" : "block"
  return <span class={`pill ${mark}`}>{status}</span>
}

/** A duration in milliseconds: `0.05 ms`, `12.3 ms`, `1,234 ms`. */
const formatTookMs = (tookMs: number): string =>
  `${new Intl.NumberFormat("en", { maximumFractionDigits: tookMs < 1 ? 2 : tookMs < 100 ? 1 : 0 }).format(tookMs)} ms`

/** Why no request is listed. */
const NO_LOG = {
  off: "The request log is off. Your requests are counted, but not listed here.",
  "off by operator": "The operator of this server keeps no request logs.",
} as const

function SwitchSection({ isOn }: { readonly isOn: boolean }) {
  return (
    <Panel title="Request log">
      <p>
        {isOn
          ? "The log is on. If you switch it off, all logged requests are deleted at once."
          : `If you switch it on, it keeps your last requests for up to ${LIMITS.requestLogDays} days, without addresses.`}
      </p>
      <ActionButton
        path={ROUTES.postRequestLog.path}
        fields={{ log: isOn ? "off" : "on" }}
        label={isOn ? "Switch off and delete" : "Switch on"}
        isDangerous={isOn}
      />
    </Panel>
  )
}

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

type LoggedVerdictProps = RequestProps & { readonly call: readonly Item[] }

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
