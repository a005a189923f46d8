/** @jsxImportSource preact */
import { DAY_MS, formatDate, formatDay, isoDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { Usage } from "../../../../contract/usage-schema.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { checkedCount, type KeyDayUsage, sumFigures, unitCount } from "../../../../customers/usage/usage-history.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { type Bar, Sparkline, StackedChart } from "../../ui/charts.tsx"
import { formatCount, formatNumber, formatShare } from "../../ui/format.ts"
import { Legend, Panel, ShareTable } from "../../ui/panels.tsx"
import { type CellColumn, RowTable, Table } from "../../ui/table.tsx"
import { CATEGORY_LABELS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
import { KEY_KIND_LABELS, KeyLast4, LastUsed } from "../keys/key-summary.tsx"
import { requestIdOf } from "../requests/request-query.ts"
import { type MeantNames, OutcomePill, resultOf, subjectOf } from "../requests/request-words.tsx"
import { NO_LOG, type RequestLogState } from "../requests/requests-page.tsx"
import type { StartStep } from "./start-steps.tsx"
import { type DayFigures, daysOf, plainCount, recommendedCount, type StrikingDay } from "./usage-figures.ts"
import { KEYLESS_NAMES, keyNameOf, type UsageQuery, usagePath } from "./usage-query.ts"

/** The data of the overview. */
export type OverviewData = {
  readonly user: SignedInUser
  readonly usage: Usage
  readonly query: UsageQuery
  /** The usage of the period that the query names, of the key that it names. */
  readonly history: readonly KeyDayUsage[]
  /** That of the period before. Null: it is not stored any more. */
  readonly historyBefore: readonly KeyDayUsage[] | null
  /** Whether the account has checked anything, as far as usage is stored. */
  readonly hasChecks: boolean
  /** The ids of what did something, as far as usage is stored. */
  readonly usedKeyIds: readonly string[]
  /** The last day of the period. */
  readonly today: number
  /** The account's keys: active ones first, then the newest. */
  readonly keys: readonly ApiKey[]
  /** The latest requests of the log. */
  readonly latest: {
    readonly state: RequestLogState
    readonly requests: readonly StoredRequest[]
    readonly names: MeantNames
  }
  /** The day that stands out, and whether the log has requests of it. Null: none does. */
  readonly striking: (StrikingDay & { readonly isLogged: boolean }) | null
  readonly nowMs: number
  /** Null: the account has done all of them. */
  readonly nextStep: StartStep | null
  readonly baseUrl: string
  /** The path of `overview.js`. */
  readonly script: string
}

/** What the parts of the page are made from. */
export type DataProps = { readonly data: OverviewData }

const RECOMMENDATION_SERIES = RECOMMENDATIONS.map(name => ({ label: RECOMMENDATION_LABELS[name], tone: `of-${name}` }))
/** What a version before counted. */
const PLAIN_SERIES = { label: "Not counted by recommendation", tone: "of-plain" }

/** The checks of each day by recommendation: the chart, its legend, the day that stands out, and all days as a table. */
export function ChartPanel({ data }: DataProps) {
  const { history, query, today, striking } = data
  const days = daysOf(history, query.days, today)
  const sum = sumFigures(days)
  const download = (
    <a href={usagePath(query, "usageFile")} download>
      Download CSV
    </a>
  )
  if (checkedCount(sum) === 0)
    return (
      <Panel title="Checks per day" link={download}>
        <p class="hint">No checks in the last {query.days} days.</p>
      </Panel>
    )
  const hasPlain = plainCount(sum) > 0
  const bars = days.map(
    (figures): Bar => ({
      label: formatDate(figures.day * DAY_MS),
      short: formatDay(figures.day * DAY_MS),
      isMarked: figures.day === striking?.figures.day,
      values: [
        ...RECOMMENDATIONS.map(name => figures.byRecommendation[name]),
        ...(hasPlain ? [plainCount(figures)] : []),
      ],
    }),
  )
  const shares = RECOMMENDATIONS.map(name => formatShare(sum.byRecommendation[name], recommendedCount(sum)))
  return (
    <Panel title="Checks per day" link={download}>
      <StackedChart
        label={`${formatCount(checkedCount(sum), "check")} in ${query.days} days: ${RECOMMENDATIONS.map((name, at) => `${name} ${shares[at]}`).join(", ")}. The table below has all days.`}
        series={[...RECOMMENDATION_SERIES, ...(hasPlain ? [PLAIN_SERIES] : [])]}
        bars={bars}
      />
      <div class="below-chart">
        <Legend
          items={[
            ...(recommendedCount(sum) === 0
              ? []
              : RECOMMENDATION_SERIES.map(({ label, tone }, at) => ({ label: `${label} ${shares[at]}`, tone }))),
            ...(hasPlain ? [{ label: plainWords(days), tone: PLAIN_SERIES.tone }] : []),
          ]}
        />
        <StrikingDayLine data={data} days={days} />
      </div>
      <DayTable days={days} />
    </Panel>
  )
}

/** Since when checks are counted by recommendation. The last day of a version before may have both. */
function plainWords(days: readonly DayFigures[]): string {
  const last = days.findLast(figures => plainCount(figures) > 0)
  return last === undefined ? "" : `Until ${formatDay(last.day * DAY_MS)}: not counted by recommendation`
}

function StrikingDayLine({ data: { query, striking }, days }: DataProps & { readonly days: readonly DayFigures[] }) {
  if (striking === null) return null
  const { kind, figures, isLogged } = striking
  const { day, byRecommendation } = figures
  const on = formatDay(day * DAY_MS)
  const others = sumFigures(days.filter(each => each.day !== day))
  const usual = formatShare(others.byRecommendation.block, recommendedCount(others))
  const path = withQuery(ROUTES.requests.path, { key: query.key, from: startOf(day), to: startOf(day + 1) })
  return (
    <p>
      Unusual:{" "}
      {kind === "blocked"
        ? `${formatShare(byRecommendation.block, recommendedCount(figures))} blocked on ${on}, usually ${usual}.`
        : `${formatCount(checkedCount(figures), "check")} on ${on}, the busiest day.`}
      {isLogged ? " " : null}
      {isLogged ? <a href={path}>See those requests</a> : null}
    </p>
  )
}

/** The first minute of a day, as the filter of the request log takes it. */
const startOf = (day: number): string => `${isoDate(day)}T00:00`

/** The days of the period, the newest first. The file has their categories. */
function DayTable({ days }: { readonly days: readonly DayFigures[] }) {
  return (
    <details>
      <summary>Day by day</summary>
      <Table
        caption="Checks by day"
        columns={["Day", "Checks", ...RECOMMENDATION_SERIES.map(({ label }) => label), "Units", "Rate limited"]}
      >
        {days.toReversed().map(figures => (
          <tr key={figures.day}>
            <th scope="row" class="short">
              {formatDate(figures.day * DAY_MS)}
            </th>
            {[
              checkedCount(figures),
              ...RECOMMENDATIONS.map(name => figures.byRecommendation[name]),
              ...[unitCount(figures), figures.rateLimited],
            ].map((count, at) => (
              <td key={at} class="number">
                {formatNumber(count)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  )
}

/** The checks of the period by category, the most frequent first. */
export function CategoryPanel({ data: { history, query } }: DataProps) {
  const sum = sumFigures(history)
  const found = CATEGORY_NAMES.filter(category => sum.byCategory[category] > 0).sort(
    (one, other) => sum.byCategory[other] - sum.byCategory[one],
  )
  return (
    <Panel title="Who signs up">
      {found.length === 0 ? (
        <p class="hint">No checks in the last {query.days} days.</p>
      ) : (
        <ShareTable
          caption="Checks by category"
          shares={found.map(category => ({
            label: CATEGORY_LABELS[category],
            count: sum.byCategory[category],
            tone: `of-${category}`,
          }))}
        />
      )}
    </Panel>
  )
}

/** So many keys are displayed. The page of the keys has all. */
const KEYS_SHOWN_MAX = 8

/** What each key did in the period, the busiest first. */
export function KeysPanel({ data: { history, query, today, keys, nowMs, usage } }: DataProps) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  const ofKey = Map.groupBy(history, ({ keyId }) => keyId)
  const idle = keys.filter(
    key => !ofKey.has(key.id) && (query.key === "" ? isUsableKey(key, nowMs) : key.id === query.key),
  )
  const rows = [...ofKey, ...idle.map(({ id }) => [id, []] as const)]
    .map(([id, own]) => ({ id, key: keysById.get(id), checks: checkedCount(sumFigures(own)), own }))
    .sort((one, other) => other.checks - one.checks)
  const columns: readonly CellColumn<(typeof rows)[number]>[] = [
    { name: "Name", kind: "text", cell: ({ id, key }) => <KeyName id={id} apiKey={key} /> },
    { name: "Kind", kind: "text", cell: ({ key }) => kindOf(key) },
    { name: "Last used", kind: "time", cell: ({ key }) => key && <LastUsed apiKey={key} /> },
    {
      ...{ name: "Trend", kind: "pill", onPhone: "hidden" },
      cell: ({ own }) => <Sparkline values={daysOf(own, query.days, today).map(checkedCount)} />,
    },
    {
      ...{ name: `Checks, ${query.days} days`, kind: "number", onPhone: "labelled" },
      cell: ({ checks }) => formatNumber(checks),
    },
  ]
  if (rows.length === 0) return null
  const { used } = usage.today.publishable
  return (
    <Panel title="Keys" link={<a href={ROUTES.keys.path}>{rows.length > KEYS_SHOWN_MAX ? "All keys" : "Manage"}</a>}>
      <RowTable caption="Keys" columns={columns} rows={rows.slice(0, KEYS_SHOWN_MAX)} />
      {keys.some(({ kind }) => kind === "publishable") ? (
        <p class="hint">
          Publishable keys: {formatNumber(used)} of {formatNumber(LIMITS.publishableUnitsPerDay)} today
        </p>
      ) : null}
    </Panel>
  )
}

function KeyName({ id, apiKey }: { readonly id: string; readonly apiKey: ApiKey | undefined }) {
  if (Object.hasOwn(KEYLESS_NAMES, id)) return <>{keyNameOf(id, apiKey)}</>
  return (
    <>
      <a href={pathWithId("dashboardKey", id)}>
        <bdi>{keyNameOf(id, apiKey)}</bdi>
      </a>{" "}
      {apiKey === undefined ? null : <KeyLast4 apiKey={apiKey} />}
    </>
  )
}

const kindOf = (key: ApiKey | undefined): string =>
  key === undefined ? "" : `${KEY_KIND_LABELS[key.kind]}${key.revokedAtMs === null ? "" : ", revoked"}`

/** The latest requests: what was checked, what it is, and what was recommended; or that there is no log. */
export function LatestPanel({ data: { latest } }: DataProps) {
  const link = { on: "All requests", off: "Switch it on", "off by operator": null }[latest.state]
  return (
    <Panel title="Latest" link={link === null ? undefined : <a href={ROUTES.requests.path}>{link}</a>}>
      {latest.state !== "on" ? (
        <p class="hint">{NO_LOG[latest.state]}</p>
      ) : (
        <ul class="latest">
          {latest.requests.map(request => (
            <li key={requestIdOf(request)}>
              <a href={pathWithId("loggedRequest", requestIdOf(request))}>{subjectOf(request)}</a>
              <span>{resultOf(request, latest.names)}</span>
              <OutcomePill request={request} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
