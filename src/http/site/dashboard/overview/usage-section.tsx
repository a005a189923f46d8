/** @jsxImportSource preact */
import { isoDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { FORMER_USE_KEY_ID } from "../../../../customers/accounts/former-use.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import {
  checkedCount,
  type KeyDayUsage,
  sumFigures,
  type UsageFigures,
  unitCount,
} from "../../../../customers/usage/usage-history.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { SelectField, Timestamp } from "../../ui/forms.tsx"
import { ariaCurrentPage, Table } from "../../ui/layout.tsx"
import { CATEGORY_LABELS } from "../../ui/verdict/verdict-words.ts"
import { KeyLast4 } from "../keys/key-summary.tsx"
import { UsageChart } from "./usage-chart.tsx"
import { KEYLESS_NAMES, keyNameOf, USAGE_PERIODS, type UsageQuery, usagePath } from "./usage-query.ts"

/** The data of the section. */
export type UsageData = {
  readonly query: UsageQuery
  /** The usage of the period that the query names, of the key that it names. */
  readonly history: readonly KeyDayUsage[]
  /** The last day of the period. */
  readonly today: number
  /** The account's keys: active ones first, then the newest. */
  readonly keys: readonly ApiKey[]
  readonly nowMs: number
}

type DataProps = { readonly data: UsageData }

/** The usage of the chosen period. The chart, the keys and the categories are sums of the same figures. */
export function UsageSection({ data }: DataProps) {
  const { history, query, today } = data
  const sum = sumFigures(history)
  const days = daysOf(history, query.days, today)
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <UsageFilter data={data} />
      {checkedCount(sum) === 0 ? (
        <p>No checks in the last {query.days} days.</p>
      ) : (
        <>
          <p class="total">
            <strong>{formatNumber(checkedCount(sum))}</strong> {checkedCount(sum) === 1 ? "check" : "checks"} in the
            last {query.days} days, for {formatCount(unitCount(sum), "unit")}.
          </p>
          <UsageChart days={days} />
          <div class="compact">
            <CategoryTable sum={sum} />
          </div>
        </>
      )}
      <KeyTable data={data} sum={sum} />
      <div class="compact">
        {unitCount(sum) === 0 ? null : <UnitTable history={history} sum={sum} />}
        {history.length === 0 ? null : <DayTable days={days} />}
      </div>
      <p class="actions">
        <a class="button small" href={usagePath(query, "usageFile")} download>
          Download as CSV
        </a>
        <a class="button small" href={ROUTES.keys.path}>
          Manage keys
        </a>
      </p>
    </section>
  )
}

/** The figures of every day of the period, the oldest first. */
function daysOf(history: readonly KeyDayUsage[], dayCount: number, today: number) {
  const ofDay = Map.groupBy(history, ({ day }) => day)
  return Array.from({ length: dayCount }, (_, index) => {
    const day = today - dayCount + 1 + index
    return { day, ...sumFigures(ofDay.get(day) ?? []) }
  })
}

function UsageFilter({ data: { query, keys, history } }: DataProps) {
  const ids = new Set([...keys.map(({ id }) => id), ...history.map(({ keyId }) => keyId), query.key])
  const keysById = new Map(keys.map(key => [key.id, key]))
  ids.delete("")
  const nameOf = (id: string): string => {
    const key = keysById.get(id)
    return key === undefined ? keyNameOf(id, key) : `${key.name} (…${key.last4})`
  }
  return (
    <div class="usage-filter">
      <nav class="actions" aria-label="Period">
        {USAGE_PERIODS.map(days => (
          <a
            key={days}
            class="button small"
            href={`${usagePath({ ...query, days })}#usage`}
            {...ariaCurrentPage(days === query.days)}
          >
            {days} days
          </a>
        ))}
      </nav>
      <form method="get" action={`${ROUTES.dashboard.path}#usage`}>
        <input type="hidden" name="days" value={query.days} />
        <SelectField
          name="key"
          label="Key"
          options={[{ value: "", label: "All keys" }, ...[...ids].map(id => ({ value: id, label: nameOf(id) }))]}
          selected={query.key}
        />
        <button type="submit" class="small">
          Show
        </button>
      </form>
    </div>
  )
}

/** The checks of each category, the most frequent first. It is the chart's legend too. */
function CategoryTable({ sum }: { readonly sum: UsageFigures }) {
  const all = checkedCount(sum)
  const found = CATEGORY_NAMES.filter(category => sum.byCategory[category] > 0)
  return (
    <Table caption="Checks by category" columns={["Category", "Checks", "Share"]}>
      {found
        .sort((one, other) => sum.byCategory[other] - sum.byCategory[one])
        .map(category => (
          <tr key={category}>
            <th scope="row" class="name">
              <svg class={`swatch of-${category}`} width="12" height="12" aria-hidden="true">
                <rect width="12" height="12" rx="3" />
              </svg>{" "}
              {CATEGORY_LABELS[category]}
            </th>
            {numberCell(sum.byCategory[category])}
            <td class="number">{formatShare(sum.byCategory[category], all)}</td>
          </tr>
        ))}
      <tr class="sum">
        <th scope="row">All</th>
        {numberCell(all)}
        <td class="number">100 %</td>
      </tr>
    </Table>
  )
}

function formatShare(count: number, all: number): string {
  const percent = Math.round((count / all) * 100)
  return percent === 0 ? "under 1 %" : `${percent} %`
}

/** What each key did: keys with usage, and keys that can be used. The last row is their sum. */
function KeyTable({ data: { keys, history, query, nowMs }, sum }: DataProps & { readonly sum: UsageFigures }) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  const ofKey = Map.groupBy(history, ({ keyId }) => keyId)
  const unused = keys.filter(key => !ofKey.has(key.id) && (query.key === key.id || isUsableKey(key, nowMs)))
  const rows = [
    ...[...ofKey].map(([id, own]) => ({ id, figures: sumFigures(own) })),
    ...unused.filter(({ id }) => query.key === "" || query.key === id).map(({ id }) => ({ id, figures: NOTHING })),
  ].sort((one, other) => unitCount(other.figures) - unitCount(one.figures))
  if (rows.length === 0) return null
  return (
    <Table caption="Usage by key" columns={["Key", "Last used", "Checks", "Units", "Rate limited"]}>
      {rows.map(({ id, figures }) => (
        <tr key={id}>
          <th scope="row" class="name">
            <UsedKey keyId={id} apiKey={keysById.get(id)} />
          </th>
          <td>
            <LastUsed apiKey={keysById.get(id)} />
          </td>
          {numberCell(checkedCount(figures))}
          {numberCell(unitCount(figures))}
          {numberCell(figures.rateLimited)}
        </tr>
      ))}
      <tr class="sum">
        <th scope="row">All</th>
        <td />
        {numberCell(checkedCount(sum))}
        {numberCell(unitCount(sum))}
        {numberCell(sum.rateLimited)}
      </tr>
    </Table>
  )
}

const NOTHING = sumFigures([])

function LastUsed({ apiKey }: { readonly apiKey: ApiKey | undefined }) {
  if (apiKey === undefined) return <>–</>
  return apiKey.lastUsedAtMs === null ? <>never</> : <Timestamp atMs={apiKey.lastUsedAtMs} />
}

function UsedKey({ keyId, apiKey }: { readonly keyId: string; readonly apiKey: ApiKey | undefined }) {
  if (Object.hasOwn(KEYLESS_NAMES, keyId)) return <>{keyNameOf(keyId, undefined)}</>
  return (
    <>
      <a href={pathWithId("dashboardKey", keyId)}>
        <bdi>{keyNameOf(keyId, apiKey)}</bdi>
      </a>{" "}
      {apiKey === undefined ? null : <KeyLast4 apiKey={apiKey} />}
      {apiKey?.kind === "publishable" ? " publishable" : ""}
      {apiKey === undefined || apiKey.revokedAtMs === null ? "" : " revoked"}
    </>
  )
}

/** How the units add up, by what they were used for, and whose units they are. */
function UnitTable({ history, sum }: { readonly history: readonly KeyDayUsage[]; readonly sum: UsageFigures }) {
  const formerUnits = unitCount(sumFigures(history.filter(({ keyId }) => keyId === FORMER_USE_KEY_ID)))
  const checkUnits = sum.checks + sum.batchItems + sum.deepChecks * LIMITS.deepCheckUnits
  const reportCount = Math.max(0, unitCount(sum) - formerUnits - checkUnits)
  const rows: readonly (readonly [label: string, count: number, unitsEach: number])[] = [
    ["Checks", sum.checks, 1],
    ["Deep checks", sum.deepChecks, LIMITS.deepCheckUnits],
    ["Batch items", sum.batchItems, 1],
    ["Reports of mistakes", reportCount, 1],
    ["Your deleted account", formerUnits, 1],
  ]
  return (
    <>
      <h3>How the units add up</h3>
      <Table caption="How the units add up" columns={["Used for", "Number", "Units each", "Units"]}>
        {rows
          .filter(([, count]) => count > 0)
          .map(([label, count, unitsEach]) => (
            <tr key={label}>
              <th scope="row" class="name">
                {label}
              </th>
              {numberCell(count)}
              {numberCell(unitsEach)}
              {numberCell(count * unitsEach)}
            </tr>
          ))}
        <tr class="sum">
          <th scope="row">All</th>
          <td />
          <td />
          {numberCell(unitCount(sum))}
        </tr>
      </Table>
      <p>
        {formatNumber(sum.accountUnits)} of them are units of your account. {formatNumber(sum.publishableUnits)} are
        units of publishable keys.
      </p>
    </>
  )
}

/** The days of the period, the newest first. The file has their categories. */
function DayTable({ days }: { readonly days: ReturnType<typeof daysOf> }) {
  return (
    <details>
      <summary>Day by day</summary>
      <Table caption="Usage by day" columns={["Day", "Checks", "Units", "Rate limited"]}>
        {days.toReversed().map(figures => (
          <tr key={figures.day}>
            <th scope="row" class="short">
              {isoDate(figures.day)}
            </th>
            {numberCell(checkedCount(figures))}
            {numberCell(unitCount(figures))}
            {numberCell(figures.rateLimited)}
          </tr>
        ))}
      </Table>
    </details>
  )
}

function numberCell(value: number) {
  return <td class="number">{formatNumber(value)}</td>
}
