/** @jsxImportSource preact */
import { formatInstant } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { Usage } from "../../../../contract/usage-schema.ts"
import { checkedCount, sumFigures } from "../../../../customers/usage/usage-history.ts"
import { formatCount, formatLimit, formatNumber, formatShare } from "../../ui/format.ts"
import { DescriptionList, MoreUnitsLink } from "../../ui/layout.tsx"
import { Change, Notice, Panel, Segmented, Tiles } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { CategoryPanel, ChartPanel, type DataProps, KeysPanel, LatestPanel } from "./overview-panels.tsx"
import { StartCard } from "./start-steps.tsx"
import { recommendedCount } from "./usage-figures.ts"
import { keyNameOf, USAGE_PERIODS, usagePath } from "./usage-query.ts"

/** The first page of the dashboard: the next step of a new account, what was checked as numbers and pictures, the keys and the limits. */
export function OverviewPage({ data }: DataProps) {
  const { user, usage, nextStep, keys, baseUrl, script, hasChecks, latest } = data
  const hasLatest = latest.state !== "on" || latest.requests.length > 0
  return (
    <DashboardLayout
      route="dashboard"
      title="Overview"
      user={user}
      scripts={nextStep === null ? [] : [script]}
      action={hasChecks ? <PeriodChoice data={data} /> : undefined}
    >
      <p class="unseen" role="status" id="start-news" />
      {usage.today.remaining === 0 ? (
        <Notice tone="review" action={<MoreUnitsLink />}>
          <strong>Today's units are used up.</strong> The API answers 429 until 00:00 UTC, and list checks pause.
        </Notice>
      ) : null}
      {nextStep === null ? null : (
        <StartCard
          next={nextStep}
          baseUrl={baseUrl}
          hasPublishableKey={keys.some(({ kind, revokedAtMs }) => kind === "publishable" && revokedAtMs === null)}
        />
      )}
      <div id="figures">
        {hasChecks ? (
          <>
            <FigureTiles data={data} />
            <ChartPanel data={data} />
            <div class="two">
              <CategoryPanel data={data} />
              {hasLatest ? <LatestPanel data={data} /> : <KeysPanel data={data} />}
            </div>
          </>
        ) : null}
        {nextStep === "key" || nextStep === "call" ? null : (
          <>
            {hasLatest || !hasChecks ? <KeysPanel data={data} /> : null}
            <LimitsPanel usage={usage} />
          </>
        )}
      </div>
    </DashboardLayout>
  )
}

/** The period, and the key where there are several. */
function PeriodChoice({ data: { query, keys, usedKeyIds } }: DataProps) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  const ids = [...new Set([...keysById.keys(), ...usedKeyIds])]
  const nameOf = (id: string): string => {
    const key = keysById.get(id)
    return key === undefined ? keyNameOf(id, key) : `${key.name} …${key.last4}`
  }
  return (
    <div class="period">
      {ids.length < 2 ? null : (
        <form method="get" action={ROUTES.dashboard.path}>
          <input type="hidden" name="days" value={query.days} />
          <label class="unseen" for="key">
            Key
          </label>
          <select id="key" name="key" data-sends>
            <option value="">All keys</option>
            {ids.map(id => (
              <option key={id} value={id} selected={id === query.key}>
                {nameOf(id)}
              </option>
            ))}
          </select>
          <button type="submit" class="small without-script">
            Show
          </button>
        </form>
      )}
      <Segmented
        label="Period"
        choices={USAGE_PERIODS.map(days => ({
          label: `${days} days`,
          href: usagePath({ ...query, days }),
          isCurrent: days === query.days,
        }))}
      />
    </div>
  )
}

function FigureTiles({ data }: DataProps) {
  const { history, query, usage } = data
  const sum = sumFigures(history)
  const { block } = sum.byRecommendation
  const counted = recommendedCount(sum)
  const { used, remaining, lost, resets_at: resetsAt } = usage.today
  return (
    <Tiles
      tiles={[
        { label: "Checks", value: formatNumber(checkedCount(sum)), note: <CheckChange data={data} /> },
        {
          label: "Blocked",
          value: counted === 0 ? "–" : formatShare(block, counted),
          note: counted === 0 ? "nothing to count yet" : `${formatNumber(block)} of ${formatCount(counted, "check")}`,
        },
        { label: "Rate limited", value: formatNumber(sum.rateLimited), note: `requests in ${query.days} days` },
        remaining === null
          ? { label: "Left today", value: "No limit", note: `${formatCount(used, "unit")} used today` }
          : {
              label: "Left today",
              value: formatNumber(remaining),
              note: (
                <>
                  of {formatNumber(usage.limits.daily_units ?? used + remaining + lost)} · resets{" "}
                  <time dateTime={resetsAt} data-exact title={formatInstant(Date.parse(resetsAt))}>
                    at 00:00 UTC
                  </time>
                </>
              ),
            },
      ]}
    />
  )
}

/** How many more or fewer checks there were than in the period before. */
function CheckChange({ data: { history, historyBefore, query } }: DataProps) {
  if (historyBefore === null) return <>in {query.days} days</>
  const [now, before] = [history, historyBefore].map(usage => checkedCount(sumFigures(usage))) as [number, number] // two in, two out
  return <Change now={now} before={before} period={`the previous ${query.days} days`} />
}

function LimitsPanel({ usage: { tier, limits, today } }: { readonly usage: Usage }) {
  const { daily_units: units, requests_per_second: rate, in_flight: inFlight, batch_items: items, keys } = limits
  const facts = [
    ["Units per day", formatLimit(units)],
    ["Requests per second", formatLimit(rate)],
    ["Requests at once", formatLimit(inFlight)],
    ["Items per batch", formatLimit(items)],
    ["Active keys", formatLimit(keys)],
  ] as const
  return (
    <Panel title="Limits" link={<MoreUnitsLink tier={tier} />}>
      <DescriptionList items={facts} isSpread />
      <p class="hint">
        A check costs 1 unit, a deep check {LIMITS.deepCheckUnits}.
        {today.lost === 0
          ? ""
          : ` ${formatCount(today.lost, "unit")} of today ${today.lost === 1 ? "is" : "are"} neither used nor left.`}{" "}
        <a href={ROUTES.docsLimits.path}>How limits work</a>
      </p>
    </Panel>
  )
}
