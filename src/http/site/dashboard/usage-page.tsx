/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import type { KeyUsage } from "../../../customers/usage/key-usage.ts"
import { Instant } from "../fields.tsx"
import { counted, grouped } from "../figures.ts"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"
import { CategoryTotals, DayTable, KeyTotals } from "./usage-tables.tsx"

/** The paths of what draws the chart: the page's own script, and what that loads. */
export type ChartFiles = { readonly page: string; readonly chart: string; readonly styles: string }

type Props = {
  readonly visitor: Visitor
  readonly usage: Usage
  readonly keyUsages: readonly KeyUsage[]
  /** The keys that may have been used. */
  readonly keys: readonly Key[]
  readonly files: ChartFiles
}

/** What the account used today and in the last days, and what it may use. */
export function UsagePage({ visitor, usage, keyUsages, keys, files }: Props) {
  const didNothing = keyUsages.length === 0
  return (
    <DashboardLayout route="usage" title="Usage" visitor={visitor} scripts={didNothing ? [] : [files.page]}>
      <Today today={usage.today} />
      {didNothing ? <Nothing /> : <LastDays usage={usage} keyUsages={keyUsages} keys={keys} files={files} />}
      <TierLimits usage={usage} />
    </DashboardLayout>
  )
}

function Today({ today: { used, remaining, resets_at: resetsAt } }: Pick<Usage, "today">) {
  return (
    <section aria-labelledby="today">
      <h2 id="today">Today</h2>
      {remaining === null ? (
        <p>{counted(used, "unit")} used. Nothing limits your units.</p>
      ) : (
        <>
          <p id="quota">
            {grouped(used)} of {counted(used + remaining, "unit")} used, {grouped(remaining)} left.
          </p>
          <meter aria-labelledby="quota" min={0} max={used + remaining} value={used}>
            {grouped(used)} of {grouped(used + remaining)}
          </meter>
        </>
      )}
      <p class="hint">
        Days begin at 00:00 UTC; the next one is <Instant atMs={Date.parse(resetsAt)} />. A check is one unit, a deep
        check {LIMITS.deepCheckUnits}.
      </p>
    </section>
  )
}

function Nothing() {
  return (
    <section aria-labelledby="days">
      <h2 id="days">The last {LIMITS.usageDays} days</h2>
      <p>
        Nothing was checked yet. <a href={ROUTES.tryIt.path}>Try it</a>, or use one of{" "}
        <a href={ROUTES.dashboard.path}>your keys</a>.
      </p>
    </section>
  )
}

function LastDays({ usage: { daily }, keyUsages, keys, files }: Omit<Props, "visitor">) {
  return (
    <section aria-labelledby="days">
      <h2 id="days">The last {LIMITS.usageDays} days</h2>
      <div
        id="usage-chart"
        class="chart"
        role="img"
        aria-label="Checks of each day by category, as bars. The table after it has the numbers."
        hidden
        data-script={files.chart}
        data-styles={files.styles}
      />
      <details id="usage-days" open>
        <summary>Day by day</summary>
        <DayTable daily={daily} />
      </details>
      <h3 id="categories">By category</h3>
      <CategoryTotals daily={daily} />
      <h3 id="keys">By key</h3>
      <KeyTotals keyUsages={keyUsages} keys={keys} />
    </section>
  )
}

function TierLimits({ usage: { tier, limits } }: Pick<Props, "usage">) {
  const words = (limit: number | null, noun: string): string => (limit === null ? "no limit" : counted(limit, noun))
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">What you may do</h2>
      <p>
        Your account is of tier {tier}, “{TIERS[tier]?.name ?? "unknown"}”.
      </p>
      <dl class="facts">
        <dt>A day</dt>
        <dd>{words(limits.daily_units, "unit")}</dd>
        <dt>A second</dt>
        <dd>{words(limits.requests_per_second, "request")}</dd>
        <dt>At the same time</dt>
        <dd>{words(limits.in_flight, "request")}</dd>
        <dt>A batch</dt>
        <dd>{words(limits.batch_items, "item")}</dd>
        <dt>Keys</dt>
        <dd>{words(limits.keys, "active key")}</dd>
        <dt>Publishable keys</dt>
        <dd>
          {counted(LIMITS.publishableUnitsPerDay, "unit")} a day and {counted(LIMITS.publishablePerSecond, "request")} a
          second for each of them, beside those of the account
        </dd>
      </dl>
    </section>
  )
}
