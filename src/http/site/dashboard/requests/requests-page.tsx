/** @jsxImportSource preact */
import { formatDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { type FilterChip, FilterChips, readableTime } from "../../ui/filter-chips.tsx"
import { formatCount, formatNumber } from "../../ui/format.ts"
import {
  ActionButton,
  ANY_OPTION,
  Confirmation,
  FlashMessage,
  FormError,
  LinkButton,
  SelectField,
  TextField,
  VERBATIM,
} from "../../ui/forms.tsx"
import { Pagination } from "../../ui/pagination.tsx"
import { Empty, Panel, Segmented } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { CATEGORY_LABELS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
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
import { labelOfCategory, type MeantNames, OutcomePill, resultOf, subjectOf } from "./request-words.tsx"

/** The flash messages of the page, by the name in its URL. */
export const REQUESTS_FLASH = {
  off: "The request log is off. Every logged request is deleted.",
  on: "The request log is on. Requests are logged from now on.",
} as const satisfies Record<string, string>

/** Why there is no log: the account switched it off, or the operator keeps none. */
export type RequestLogState = "on" | "off" | "off by operator"

/** A key that requests can be filtered by, and its name. */
export type RequestKey = {
  readonly id: string
  readonly name: string
  /** The name with the last characters of the key. */
  readonly label: string
}

type RequestsPageProps = {
  readonly user: SignedInUser
  readonly state: RequestLogState
  readonly query: RequestQuery
  readonly requests: readonly StoredRequest[]
  readonly names: MeantNames
  /** The cursor of the next page; null: this is the last one. */
  readonly nextAfter: string | null
  readonly keys: readonly RequestKey[]
  readonly flash: string | null
  /** The path of the script that keeps the page live. */
  readonly script: string
}

/** The account's last requests with their filter, and the switch of the log. */
export function RequestsPage(props: RequestsPageProps) {
  const { user, state, query, flash, script } = props
  return (
    <DashboardLayout route="requests" title="Requests" user={user} scripts={state === "on" ? [script] : []}>
      <FlashMessage message={flash} />
      {state === "on" ? <RequestLogSection {...props} /> : <Empty>{NO_LOG[state]}</Empty>}
      {state === "off" || (state === "on" && isUnfiltered(query.values)) ? (
        <SwitchSection isOn={state === "on"} />
      ) : null}
    </DashboardLayout>
  )
}

function RequestLogSection({ query, requests, names, nextAfter, keys }: RequestsPageProps) {
  const { values, errors, before } = query
  if (requests.length === 0 && before === null && isUnfiltered(values)) return <NoRequests query={query} />
  return (
    <>
      <FormError message={Object.keys(errors).length === 0 ? null : "Please correct the marked fields."} />
      <div class="filter-row">
        <Segmented label="Outcome" choices={outcomeChoices(values)} />
        <FilterForm query={query} keys={keys} />
        <p class="actions" id="live" data-first-page={before === null ? "yes" : "no"}>
          <LinkButton path={requestsPath(values)} label="Reload" look="small" />
          <a class="button small" href={requestsPath(values, {}, ROUTES.requestLogFile.path)} download>
            <span class="unseen">Download</span> CSV
          </a>
        </p>
      </div>
      <FilterChips chips={chipsOf(values, keys)} clearPath={ROUTES.requests.path} />
      <p class="hint" id="live-status" role="status" />
      <div id="requests" class="panel">
        {requests.length === 0 ? (
          <NoRequests query={query} />
        ) : (
          <RowTable
            caption="Requests, newest first"
            columns={requestColumns(keys, names, values.category)}
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

function FilterForm({ query: { values, errors }, keys }: Pick<RequestsPageProps, "query" | "keys">) {
  const unnamed =
    values.key === "" || keys.some(({ id }) => id === values.key) ? [] : [{ id: values.key, label: values.key }]
  const keyOptions = [...keys, ...unnamed].map(({ id, label }) => ({ value: id, label }))
  const classOptions = Object.entries(STATUS_CLASSES).map(([value, { label }]) => ({ value, label }))
  const categoryOptions = CATEGORY_NAMES.map(value => ({ value, label: CATEGORY_LABELS[value] }))
  const choice = (name: "key" | "status" | "category" | "route", label: string, options: typeof keyOptions) => (
    <SelectField name={name} label={label} options={[ANY_OPTION, ...options]} selected={values[name]} />
  )
  return (
    <form method="get" action={ROUTES.requests.path} aria-label="Filter requests">
      <input type="hidden" name="recommendation" value={values.recommendation} />
      <details class="menu" open={Object.keys(errors).length > 0}>
        <summary>Filters</summary>
        <div class="filters">
          <TextField
            name="domain"
            label="Domain contains"
            value={values.domain}
            maxLength={LIMITS.domainBytesMax}
            {...VERBATIM}
          />
          {choice("key", "Key", keyOptions)}
          {choice("status", "Status", classOptions)}
          {choice("category", "Category", categoryOptions)}
          {choice(
            "route",
            "Route",
            LOGGED_ROUTES.map(value => ({ value, label: value })),
          )}
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
    </form>
  )
}

/** What is filtered by besides the recommendation, each with the path that leaves it out. */
function chipsOf(values: RequestFilterValues, keys: readonly RequestKey[]): readonly FilterChip[] {
  const { key, status, category, route, domain, from, to } = values
  const isOutcome = OUTCOMES.some(outcome => outcome.status === status)
  const shown = {
    domain,
    key: keys.find(({ id }) => id === key)?.label ?? key,
    status: isOutcome ? "" : status,
    category: category === "" ? "" : labelOfCategory(category),
    route,
    from: readableTime(from),
    to: readableTime(to),
  }
  return Object.entries(shown)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => ({ name: CHIP_NAMES[name] ?? "", text, path: requestsPath({ ...values, [name]: "" }) }))
}

/** What stands before the text of a chip. */
const CHIP_NAMES: Readonly<Record<string, string>> = { domain: "Domain", key: "Key", from: "Since", to: "Before" }

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

const skippedText = ({ skippedCount }: StoredRequest): string =>
  `${formatCount(skippedCount, "later request")} not logged`

const requestColumns = (
  keys: readonly RequestKey[],
  names: MeantNames,
  category: string,
): readonly CellColumn<StoredRequest>[] => [
  {
    ...{ name: "Request", kind: "text" },
    cell: request => [
      <a
        key="subject"
        href={pathWithId("loggedRequest", requestIdOf(request))}
        class={request.domain === null ? "because" : undefined}
      >
        {subjectOf(request)}
      </a>,
      request.skippedCount === 0 ? null : (
        <span key="skipped" class="pill ended" title={skippedText(request)}>
          <span aria-hidden="true">+{formatNumber(request.skippedCount)}</span>
          <span class="unseen">{skippedText(request)}</span>
        </span>
      ),
    ],
  },
  { name: "Result", kind: "time", cell: request => resultOf(request, names, category) },
  { name: "Outcome", kind: "pill", onPhone: "first", cell: request => <OutcomePill request={request} /> },
  {
    ...{ name: "Key", kind: "text", onPhone: "hidden" },
    cell: ({ keyId }) => <bdi>{keys.find(({ id }) => id === keyId)?.name ?? keyId}</bdi>,
  },
  { name: "Took", kind: "number", cell: ({ tookMs }) => formatTookMs(tookMs) },
  { name: "When", kind: "time", cell: RequestTime },
]

/** When a request came, with seconds, since they follow each other fast. */
export function RequestTime({ atMs }: Pick<StoredRequest, "atMs">) {
  const iso = new Date(atMs).toISOString()
  return <time dateTime={iso}>{`${formatDate(atMs)}, ${iso.slice(11, 19)}`}</time>
}

/** A duration in milliseconds: `0.05 ms`, `12.3 ms`, `1,234 ms`. */
export const formatTookMs = (tookMs: number): string =>
  `${new Intl.NumberFormat("en", { maximumFractionDigits: tookMs < 1 ? 2 : tookMs < 100 ? 1 : 0 }).format(tookMs)} ms`

/** Why there is no log, in words. */
export const NO_LOG: { readonly [S in Exclude<RequestLogState, "on">]: string } = {
  off: "The request log is off. Your requests are counted, but not listed here.",
  "off by operator": "The operator of this server keeps no request logs.",
}

function SwitchSection({ isOn }: { readonly isOn: boolean }) {
  if (isOn)
    return (
      <Confirmation
        path={ROUTES.postRequestLog.path}
        fields={{ log: "off" }}
        label="Switch off and delete"
        question="Switch off the request log?"
      >
        <p>All logged requests are deleted at once, and new ones are not logged. You cannot undo this.</p>
      </Confirmation>
    )
  return (
    <Panel title="Request log">
      <p>If you switch it on, it keeps your last requests for up to {LIMITS.requestLogDays} days, without addresses.</p>
      <ActionButton path={ROUTES.postRequestLog.path} fields={{ log: "on" }} label="Switch on" />
    </Panel>
  )
}
