/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { CATEGORY_NAMES, type Category } from "../../../contract/categories.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import { FORMER_USE_KEY_ID } from "../../../customers/accounts/former-use.ts"
import { type ApiKey, listKeys } from "../../../customers/keys/keys.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import { type KeyUsage, readKeyUsages } from "../../../customers/usage/usage-report.ts"
import type { Assets } from "../assets.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { formatCount, formatNumber } from "../ui/format.ts"
import { Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"
import { KeyLast4 } from "./keys/key-summary.tsx"

/** The paths of the page's script, and of the chart library and its styles, which that script loads. */
type ChartAssets = { readonly page: string; readonly chart: string; readonly styles: string }

type UsagePageProps = {
  readonly user: SignedInUser
  readonly usage: Usage
  readonly keyUsages: readonly KeyUsage[]
  /** The keys whose names the page displays. */
  readonly keys: readonly ApiKey[]
  readonly assets: ChartAssets
}

/** The usage of today and of the last days, and the account's limits. */
function UsagePage({ user, usage, keyUsages, keys, assets }: UsagePageProps) {
  const didNothing = keyUsages.length === 0
  return (
    <DashboardLayout route="usage" title="Usage" user={user} scripts={didNothing ? [] : [assets.page]}>
      <TodaySection today={usage.today} />
      {didNothing ? (
        <NoUsageSection />
      ) : (
        <LastDaysSection usage={usage} keyUsages={keyUsages} keys={keys} assets={assets} />
      )}
      <TierLimitsSection usage={usage} />
    </DashboardLayout>
  )
}

function TodaySection({ today: { used, remaining, publishable, resets_at: resetsAt } }: Pick<Usage, "today">) {
  return (
    <section aria-labelledby="today">
      <h2 id="today">Today</h2>
      {remaining === null ? (
        <p>{formatCount(used, "unit")} used. Nothing limits your units.</p>
      ) : (
        <>
          <p id="quota">
            {formatNumber(used)} of {formatCount(used + remaining, "unit")} used, {formatNumber(remaining)} left.
          </p>
          <meter aria-labelledby="quota" min={0} max={used + remaining} value={used}>
            {formatNumber(used)} of {formatNumber(used + remaining)}
          </meter>
        </>
      )}
      <p>
        Publishable keys: {formatNumber(publishable.used)} of{" "}
        {formatCount(publishable.used + publishable.remaining, "unit")} used, {formatNumber(publishable.remaining)}{" "}
        left. All of them share these units, which are apart from yours.
      </p>
      <p class="hint">
        Days begin at 00:00 UTC; the next one is <Timestamp atMs={Date.parse(resetsAt)} />. A check is one unit, a deep
        check {LIMITS.deepCheckUnits}.
      </p>
    </section>
  )
}

function NoUsageSection() {
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

function LastDaysSection({ usage: { daily }, keyUsages, keys, assets }: Omit<UsagePageProps, "user">) {
  return (
    <section aria-labelledby="days">
      <h2 id="days">The last {LIMITS.usageDays} days</h2>
      <div
        id="usage-chart"
        class="chart"
        role="img"
        aria-label="Checks of each day by category, as bars. The table after it has the numbers."
        hidden
        data-script={assets.chart}
        data-styles={assets.styles}
      />
      <details id="usage-days" open>
        <summary>Day by day</summary>
        <DailyUsageTable daily={daily} />
      </details>
      <h3 id="categories">By category</h3>
      <CategoryTotalsTable daily={daily} />
      <h3 id="keys">By key</h3>
      <KeyUsageTable keyUsages={keyUsages} keys={keys} />
    </section>
  )
}

function TierLimitsSection({ usage: { tier, limits } }: Pick<UsagePageProps, "usage">) {
  const words = (limit: number | null, noun: string): string => (limit === null ? "no limit" : formatCount(limit, noun))
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
          {formatCount(LIMITS.publishableUnitsPerDay, "unit")} a day for all of them, beside those of the account, and{" "}
          {formatCount(LIMITS.publishablePerSecond, "request")} a second for each
        </dd>
      </dl>
    </section>
  )
}

type DailyUsageProps = { readonly daily: Usage["daily"] }

/** The usage of each day by category. The page's script draws the chart from the `data-` attributes of the cells. */
function DailyUsageTable({ daily }: DailyUsageProps) {
  return (
    <Table caption="Checks of each day by category" columns={["Day", "Units", ...CATEGORY_NAMES, "too fast"]}>
      {daily.map(({ date, used, by_category: counts, rate_limited: tooFast }) => (
        <tr key={date} data-day={date}>
          <th scope="row" class="short">
            <time dateTime={date}>{date}</time>
          </th>
          <NumberCell value={used} />
          {CATEGORY_NAMES.map(category => (
            <td key={category} class="number" data-category={category} data-count={counts[category]}>
              {formatNumber(counts[category])}
            </td>
          ))}
          <NumberCell value={tooFast} />
        </tr>
      ))}
    </Table>
  )
}

/** The number of checks by category, the largest first. */
function CategoryTotalsTable({ daily }: DailyUsageProps) {
  const totals = CATEGORY_NAMES.map(category => ({ category, count: categoryTotal(daily, category) }))
  const all = totals.reduce((sum, { count }) => sum + count, 0)
  const nonZero = totals.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)
  return (
    <Table caption="Checks by category" columns={["Category", "Checks", "Part"]}>
      {nonZero.map(({ category, count }) => (
        <tr key={category}>
          <th scope="row">
            <code>{category}</code>
          </th>
          <NumberCell value={count} />
          <td class="number">{formatShare(count, all)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">All</th>
        <NumberCell value={all} />
        <td class="number">{all === 0 ? "–" : "100 %"}</td>
      </tr>
    </Table>
  )
}

const categoryTotal = (daily: Usage["daily"], category: Category): number =>
  daily.reduce((sum, { by_category: counts }) => sum + counts[category], 0)

function formatShare(count: number, all: number): string {
  const percent = Math.round((count / all) * 100)
  return percent === 0 ? "under 1 %" : `${percent} %`
}

type KeyUsageTableProps = { readonly keyUsages: readonly KeyUsage[]; readonly keys: readonly ApiKey[] }

/** The usage of each key. Publishable keys have units of their own. */
function KeyUsageTable({ keyUsages, keys }: KeyUsageTableProps) {
  const keysById = new Map(keys.map(key => [key.id, key]))
  return (
    <Table caption="Use by key" columns={["Key", "Units", "Checks", "Deep checks", "Batch items", "Too fast"]}>
      {keyUsages.map(({ keyId, used, checks, deepChecks, batchItems, rateLimited }) => (
        <tr key={keyId}>
          <th scope="row" class="name">
            <UsedKey keyId={keyId} apiKey={keysById.get(keyId)} />
          </th>
          <NumberCell value={used} />
          <NumberCell value={checks} />
          <NumberCell value={deepChecks} />
          <NumberCell value={batchItems} />
          <NumberCell value={rateLimited} />
        </tr>
      ))}
    </Table>
  )
}

function UsedKey({ keyId, apiKey }: { readonly keyId: string; readonly apiKey: ApiKey | undefined }) {
  if (keyId === FORMER_USE_KEY_ID) return <>Before the account was deleted and created anew</>
  if (keyId === SITE_KEY.id) return <>Tried on this site, without a key</>
  if (apiKey === undefined) return <a href={pathWithId("dashboardKey", keyId)}>An older key</a>
  return (
    <>
      <a href={pathWithId("dashboardKey", keyId)}>
        <bdi>{apiKey.name}</bdi>
      </a>{" "}
      <KeyLast4 apiKey={apiKey} />
      {apiKey.revokedAtMs === null ? "" : " revoked"}
      {apiKey.kind === "publishable" ? " publishable" : ""}
    </>
  )
}

function NumberCell({ value }: { readonly value: number }) {
  return <td class="number">{formatNumber(value)}</td>
}

/** How many keys are displayed by name. */
const KEYS_NAMED_MAX = 1000

/** The usage page: the numbers of GET /v1/usage, and those of each key. */
export function usagePageRoutes({ guards, assets, changes: { store, clock }, usage, usageOf }: SiteContext) {
  return new Elysia({ normalize: false }).get(ROUTES.usage.path, ({ request }) =>
    guards.requireAccount.page(request, async user => {
      const { id } = user.account
      const accountUsage = await usageOf(user.account)
      const byKey = await readKeyUsages(usage, clock, id)
      const keys = await listKeys(store, id, KEYS_NAMED_MAX)
      const chart = await chartAssets(assets)
      return <UsagePage user={user} usage={accountUsage} keyUsages={byKey} keys={keys} assets={chart} />
    }),
  )
}

async function chartAssets({ path }: Assets): Promise<ChartAssets> {
  const [page, chart, styles] = await Promise.all([path("usage-chart.js"), path("uplot.js"), path("uplot.css")])
  return { page, chart, styles }
}
