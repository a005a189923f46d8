/** @jsxImportSource preact */
import { DAY_MS, formatDate, formatDay, isoDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { checkedCount, sumFigures, unitCount } from "../../../../customers/usage/usage-history.ts"
import { pathWithId, withQuery } from "../../links.ts"
import { type Bar, Sparkline, StackedChart } from "../../ui/charts.tsx"
import { formatCount, formatNumber, formatShare } from "../../ui/format.ts"
import { Timestamp } from "../../ui/forms.tsx"
import { Legend, Panel, SplitBar, Swatch } from "../../ui/panels.tsx"
import { Table, type TableColumn } from "../../ui/table.tsx"
import { CATEGORY_LABELS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
import { KeyLast4 } from "../keys/key-summary.tsx"
import type { OverviewData } from "./overview-data.ts"
import { type DayFigures, daysOf, plainCount, recommendedCount, strikingDay } from "./usage-figures.ts"
import { KEYLESS_NAMES, keyNameOf, usagePath } from "./usage-query.ts"

type DataProps = { readonly data: OverviewData }

const RECOMMENDATION_SERIES = RECOMMENDATIONS.map(name => ({ label: RECOMMENDATION_LABELS[name], tone: `of-${name}` }))
/** What a version before counted. */
const PLAIN_SERIES = { label: "Not counted by recommendation", tone: "of-plain" }

/** The checks of each day by recommendation: the chart, its legend, the day that stands out, and all days as a table. */
export function ChartPanel({ data }: DataProps) {
  const { history, query, today } = data
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

function StrikingDayLine({
  data: { query, latest, today },
  days,
}: DataProps & { readonly days: readonly DayFigures[] }) {
  const found = strikingDay(days)
  if (found === null) return null
  const { day } = found
  const isLogged = latest.state === "on" && today - day < LIMITS.requestLogDays
  const path = withQuery(ROUTES.requests.path, { key: query.key, from: startOf(day), to: startOf(day + 1) })
  return (
    <p>
      {formatDay(day * DAY_MS)}:{" "}
      {found.kind === "blocked"
        ? `${formatShare(found.blocked, found.checks)} blocked.`
        : `${formatCount(found.checks, "check")}, the most on a day.`}
      {isLogged ? (
        <>
          {" "}
          <a href={path}>See those requests</a>
        </>
      ) : null}
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
        <>
          <SplitBar
            label="Checks by category. The table below has the numbers."
            shares={found.map(category => ({
              label: CATEGORY_LABELS[category],
              count: sum.byCategory[category],
              tone: `of-${category}`,
            }))}
          />
          <table class="shares">
            <caption class="unseen">Checks by category</caption>
            <tbody>
              {found.map(category => (
                <tr key={category}>
                  <th scope="row">
                    <Swatch tone={`of-${category}`} />
                    {CATEGORY_LABELS[category]}
                  </th>
                  <td class="number">{formatNumber(sum.byCategory[category])}</td>
                  <td class="number because">{formatShare(sum.byCategory[category], checkedCount(sum))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Panel>
  )
}

/** So many keys are displayed. The page of the keys has all. */
const KEYS_SHOWN_MAX = 8

const KEY_KINDS = { secret: "Secret", publishable: "Publishable" } as const

/** What each key did in the period, the busiest first. */
export function KeysPanel({ data: { history, query, today, keys, nowMs, usage } }: DataProps) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  const ofKey = Map.groupBy(history, ({ keyId }) => keyId)
  const idle = keys.filter(
    key => !ofKey.has(key.id) && (query.key === "" ? isUsableKey(key, nowMs) : key.id === query.key),
  )
  const rows = [
    ...[...ofKey].map(([id, own]) => ({ id, checks: checkedCount(sumFigures(own)), own })),
    ...idle.map(({ id }) => ({ id, checks: 0, own: [] })),
  ].sort((one, other) => other.checks - one.checks)
  const columns: readonly TableColumn[] = [
    { name: "Name", kind: "text" },
    { name: "Kind", kind: "text" },
    { name: "Last used", kind: "time" },
    { name: `Checks, ${query.days} days`, kind: "number", onPhone: "first" },
  ]
  if (rows.length === 0) return null
  const { used } = usage.today.publishable
  return (
    <Panel title="Keys" link={<a href={ROUTES.keys.path}>{rows.length > KEYS_SHOWN_MAX ? "All keys" : "Manage"}</a>}>
      <Table caption="Keys" columns={columns}>
        {rows.slice(0, KEYS_SHOWN_MAX).map(({ id, checks, own }) => (
          <tr key={id}>
            <th scope="row">
              <KeyName id={id} apiKey={keysById.get(id)} />
            </th>
            <td>{kindOf(keysById.get(id))}</td>
            <td>
              <LastUsed apiKey={keysById.get(id)} />
            </td>
            <td>
              <Sparkline values={daysOf(own, query.days, today).map(checkedCount)} />
              {formatNumber(checks)}
            </td>
          </tr>
        ))}
      </Table>
      {keys.some(({ kind }) => kind === "publishable") ? (
        <p class="hint">
          Form keys: {formatNumber(used)} of {formatNumber(LIMITS.publishableUnitsPerDay)} today
        </p>
      ) : null}
    </Panel>
  )
}

type KeyProps = { readonly apiKey: ApiKey | undefined }

function KeyName({ id, apiKey }: KeyProps & { readonly id: string }) {
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
  key === undefined ? "" : `${KEY_KINDS[key.kind]}${key.revokedAtMs === null ? "" : ", revoked"}`

function LastUsed({ apiKey }: KeyProps) {
  if (apiKey === undefined) return null
  return apiKey.lastUsedAtMs === null ? <>never</> : <Timestamp atMs={apiKey.lastUsedAtMs} />
}
