/** @jsxImportSource preact */
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { ActionButton, FlashMessage, FormError, SelectField, TextField } from "../../ui/forms.tsx"
import { RecommendationBadge, Table } from "../../ui/layout.tsx"
import { Pagination } from "../../ui/pagination.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import {
  isUnfiltered,
  LOGGED_ROUTES,
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
      {state === "on" ? <RequestLogSection {...props} /> : <NoLogSection state={state} />}
      {state === "off by operator" ? null : <SwitchSection isOn={state === "on"} />}
    </DashboardLayout>
  )
}

function RequestLogSection({ query, requests, nextAfter, keys }: RequestsPageProps) {
  const { values, errors, before } = query
  return (
    <>
      <p class="lead">
        Your last {formatNumber(LIMITS.requestLogRowsMax)} requests, up to {LIMITS.requestLogDays} days back. Addresses
        are never logged: you see the domain only.
      </p>
      <FormError message={Object.keys(errors).length === 0 ? null : "Please correct the marked fields."} />
      <details open={!isUnfiltered(values)}>
        <summary>Filter</summary>
        <FilterForm query={query} keys={keys} />
      </details>
      <p class="actions" id="live" data-first-page={before === null ? "yes" : "no"}>
        <a class="button small" href={requestsPath(values)}>
          Reload
        </a>
        <a class="button small" href={requestsPath(values, {}, ROUTES.requestLogFile.path)} download>
          Download CSV
        </a>
      </p>
      <p class="hint" id="live-status" role="status" />
      <div id="requests" class="requests">
        {requests.length === 0 ? (
          <NoRequests query={query} />
        ) : (
          <RequestTable requests={requests} keys={new Map(keys.map(({ id, name }) => [id, name]))} />
        )}
        <Pagination path={ROUTES.requests.path} query={values} after={nextAfter} isFirstPage={before === null} />
      </div>
    </>
  )
}

const ANY = { value: "", label: "All" } as const

function FilterForm({ query: { values, errors }, keys }: Pick<RequestsPageProps, "query" | "keys">) {
  const unnamed = values.key === "" || keys.some(({ id }) => id === values.key) ? [] : [values.key]
  const keyOptions = [
    ...keys.map(({ id, name }) => ({ value: id, label: name })),
    ...unnamed.map(id => ({ value: id, label: id })),
  ]
  const classOptions = Object.entries(STATUS_CLASSES).map(([value, { label }]) => ({ value, label }))
  const named = (names: readonly string[]) => [ANY, ...names.map(value => ({ value, label: value }))]
  return (
    <form class="filters" method="get" action={ROUTES.requests.path} aria-label="Filter requests">
      <SelectField name="key" label="Key" options={[ANY, ...keyOptions]} selected={values.key} />
      <SelectField name="status" label="Status" options={[ANY, ...classOptions]} selected={values.status} />
      <SelectField name="category" label="Category" options={named(CATEGORY_NAMES)} selected={values.category} />
      <SelectField name="route" label="Route" options={named(LOGGED_ROUTES)} selected={values.route} />
      <TextField
        name="domain"
        label="Domain contains"
        value={values.domain}
        maxLength={LIMITS.domainBytesMax}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <TextField name="from" label="From (UTC)" type="datetime-local" value={values.from} error={errors.from ?? null} />
      <TextField name="to" label="Until (UTC)" type="datetime-local" value={values.to} error={errors.to ?? null} />
      <div class="actions">
        <button type="submit">Filter</button>
        {isUnfiltered(values) ? null : <a href={ROUTES.requests.path}>Clear</a>}
      </div>
    </form>
  )
}

function NoRequests({ query: { values, before } }: Pick<RequestsPageProps, "query">) {
  if (before !== null) return <p>There are no older requests.</p>
  if (!isUnfiltered(values)) return <p>No request matches this filter.</p>
  return (
    <p>
      No requests yet. <a href={ROUTES.tryIt.path}>Try a check</a>, or <a href={ROUTES.docsStart.path}>call the API</a>.
    </p>
  )
}

const REQUEST_COLUMNS = ["Time (UTC)", "Status", "Route", "Verdict", "Domain", "Took", "Units", "Key"]

type RequestTableProps = {
  readonly requests: readonly StoredRequest[]
  /** Names by id. */
  readonly keys: ReadonlyMap<string, string>
}

function RequestTable({ requests, keys }: RequestTableProps) {
  return (
    <Table caption="Requests, newest first" columns={REQUEST_COLUMNS} isCompact>
      {requests.map(request => (
        <tr key={requestIdOf(request)} data-request={requestIdOf(request)}>
          <th scope="row" class="short">
            <a href={pathWithId("loggedRequest", requestIdOf(request))}>
              <RequestTime atMs={request.atMs} />
            </a>
            {request.skippedCount === 0 ? null : (
              <p class="hint">{formatCount(request.skippedCount, "later request")} not logged</p>
            )}
          </th>
          <td class="short">
            <StatusBadge request={request} />
          </td>
          <td class="short">
            <code>{request.route}</code>
          </td>
          <td>
            <VerdictSummary request={request} />
          </td>
          <td>{request.domain === null ? "–" : <code>{request.domain}</code>}</td>
          <td class="number">{formatTookMs(request.tookMs)}</td>
          <td class="number">{formatNumber(request.units)}</td>
          <td>{keys.get(request.keyId) ?? request.keyId}</td>
        </tr>
      ))}
    </Table>
  )
}

/** An instant with seconds, since requests follow each other fast. No script makes a relative time of it. */
export function RequestTime({ atMs }: { readonly atMs: number }) {
  const iso = new Date(atMs).toISOString()
  return (
    <time class="short" dateTime={iso} data-exact>
      {`${iso.slice(0, 10)} ${iso.slice(11, 19)}`}
    </time>
  )
}

/** The status, and the problem's code if there is one. The colour adds nothing to the number. */
export function StatusBadge({ request: { status, code } }: { readonly request: StoredRequest }) {
  const mark = status < 400 ? "allow" : status < 500 ? "review" : "block"
  return (
    <div>
      <span class={`advice ${mark}`}>{status}</span>
      {code === null ? null : (
        <>
          {" "}
          <code>{code}</code>
        </>
      )}
    </div>
  )
}

function VerdictSummary({
  request: { category, recommendation, reason, categoryCounts },
}: {
  readonly request: StoredRequest
}) {
  if (categoryCounts.length > 0)
    return <>{categoryCounts.map(([name, count]) => `${formatNumber(count)} ${name}`).join(", ")}</>
  if (category === null) return <>–</>
  const advice = RECOMMENDATIONS.find(name => name === recommendation)
  return (
    <div>
      {category} {advice === undefined ? null : <RecommendationBadge recommendation={advice} />}
      {reason === null ? null : (
        <p class="hint">
          <code>{reason}</code>
        </p>
      )}
    </div>
  )
}

/** A duration in milliseconds: `0.05 ms`, `12.3 ms`, `1,234 ms`. */
export const formatTookMs = (tookMs: number): string =>
  `${new Intl.NumberFormat("en", { maximumFractionDigits: tookMs < 1 ? 2 : tookMs < 100 ? 1 : 0 }).format(tookMs)} ms`

function NoLogSection({ state }: { readonly state: Exclude<RequestLogState, "on"> }) {
  return (
    <p class="lead">
      {state === "off"
        ? "The request log is off. Your requests are counted, but not listed here."
        : "The operator of this server keeps no request logs."}
    </p>
  )
}

function SwitchSection({ isOn }: { readonly isOn: boolean }) {
  return (
    <section aria-labelledby="switch">
      <h2 id="switch">Request log</h2>
      <p>
        {isOn
          ? "The log is on. If you switch it off, all logged requests are deleted at once."
          : `If you switch it on, it keeps your last requests for up to ${LIMITS.requestLogDays} days, without addresses.`}
      </p>
      {isOn ? (
        <ActionButton
          path={ROUTES.postRequestLog.path}
          fields={{ log: "off" }}
          label="Switch off and delete"
          isDangerous
        />
      ) : (
        <ActionButton path={ROUTES.postRequestLog.path} fields={{ log: "on" }} label="Switch on" />
      )}
    </section>
  )
}
