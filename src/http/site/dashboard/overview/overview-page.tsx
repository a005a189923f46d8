/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { TIERS } from "../../../../contract/tiers.ts"
import type { Usage } from "../../../../contract/usage-schema.ts"
import type { SignedInUser } from "../../guards.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { Timestamp } from "../../ui/forms.tsx"
import { DescriptionList } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { StartCard, type StartStep } from "./start-steps.tsx"
import { type UsageData, UsageSection } from "./usage-section.tsx"

/** The data of the overview. */
export type OverviewData = UsageData & {
  readonly user: SignedInUser
  readonly usage: Usage
  /** Null: the account has done all of them. */
  readonly nextStep: StartStep | null
  readonly baseUrl: string
  /** The path of `overview.js`. */
  readonly script: string
}

/** The first page of the dashboard: the next step of a new account, units left today, usage and limits. */
export function OverviewPage({ data }: { readonly data: OverviewData }) {
  const { user, usage, nextStep, keys, baseUrl, script } = data
  return (
    <DashboardLayout route="dashboard" title="Overview" user={user} scripts={nextStep === null ? [] : [script]}>
      <p class="unseen" role="status" id="start-news" />
      {nextStep === null ? null : (
        <StartCard
          next={nextStep}
          baseUrl={baseUrl}
          hasPublishableKey={keys.some(({ kind, revokedAtMs }) => kind === "publishable" && revokedAtMs === null)}
        />
      )}
      <TodaySection usage={usage} />
      <UsageSection data={data} />
      <LimitsSection usage={usage} />
    </DashboardLayout>
  )
}

function TodaySection({ usage: { today } }: { readonly usage: Usage }) {
  const { used, remaining, lost, publishable, resets_at: resetsAt } = today
  const quota = remaining === null ? null : used + remaining + lost
  return (
    <section aria-labelledby="today" id="today-units">
      <h2 id="today">Today</h2>
      <p class="left" id="quota">
        {remaining === null || quota === null ? (
          <>
            <strong>{formatNumber(used)}</strong> {used === 1 ? "unit" : "units"} used. You have no daily limit.
          </>
        ) : (
          <>
            <strong>{formatNumber(remaining)}</strong> of {formatCount(quota, "unit")} left. You used{" "}
            {formatNumber(used)}.{lost === 0 ? "" : ` ${formatNumber(lost)} are neither used nor left.`}
          </>
        )}
      </p>
      {quota === null ? null : (
        <meter aria-labelledby="quota" min={0} max={quota} value={used}>
          {formatNumber(used)} of {formatNumber(quota)}
        </meter>
      )}
      <p>
        Publishable keys have their own units: {formatNumber(publishable.used)} of{" "}
        {formatNumber(LIMITS.publishableUnitsPerDay)} used.
      </p>
      <p class="hint">
        A check costs 1 unit. A deep check costs {LIMITS.deepCheckUnits}. A new day starts at 00:00 UTC (
        <Timestamp atMs={Date.parse(resetsAt)} />
        ).
      </p>
    </section>
  )
}

function LimitsSection({ usage: { tier, limits } }: { readonly usage: Usage }) {
  const words = (limit: number | null, noun: string): string => (limit === null ? "no limit" : formatCount(limit, noun))
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Your limits</h2>
      <DescriptionList
        items={[
          ["Plan", TIERS[tier]?.name ?? `tier ${tier}`],
          ["Per day", words(limits.daily_units, "unit")],
          ["Per second", words(limits.requests_per_second, "request")],
          ["Concurrent", words(limits.in_flight, "request")],
          ["Per batch", words(limits.batch_items, "item")],
          ["Keys", words(limits.keys, "active key")],
          [
            "Publishable keys",
            <>
              {formatCount(LIMITS.publishableUnitsPerDay, "unit")} per day for all of them together,{" "}
              {formatCount(LIMITS.publishablePerSecond, "request")} per second for each.
            </>,
          ],
        ]}
      />
      <p class="hint">
        <a href={ROUTES.docsLimits.path}>How limits work</a>
      </p>
    </section>
  )
}
