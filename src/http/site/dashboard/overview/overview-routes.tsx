/** @jsxImportSource preact */
import { utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { listKeys } from "../../../../customers/keys/keys.ts"
import { readRequests } from "../../../../customers/request-log/request-rows.ts"
import { checkedCount, type KeyDayUsage, readUsageHistory } from "../../../../customers/usage/usage-history.ts"
import type { Exchange } from "../../../exchange.ts"
import { handlers } from "../../../router.ts"
import type { SignedInUser } from "../../guards.ts"
import type { SiteContext } from "../../site-context.ts"
import { logState } from "../requests/requests-routes.tsx"
import type { LatestRequests } from "./latest-panel.tsx"
import type { OverviewData } from "./overview-data.ts"
import { OverviewPage } from "./overview-page.tsx"
import { nextStartStep } from "./start-steps.tsx"
import { usageCsv } from "./usage-csv.ts"
import { parseUsageQuery, type UsageQuery } from "./usage-query.ts"

/** How many keys are displayed by name. */
const KEYS_NAMED_MAX = 1000

/** The overview, the usage as a file, and the path that the usage had before. */
export function overviewRoutes(site: SiteContext) {
  const { guards, pages, changes, clock, usage } = site
  return handlers({
    dashboard: exchange =>
      guards.requireAccount.page(exchange, async user => (
        <OverviewPage data={await readOverview(site, user, exchange)} />
      )),
    usage: exchange =>
      guards.requireAccount.page(exchange, async () => pages.redirect(ROUTES.dashboard.path, exchange)),
    usageFile: exchange =>
      guards.requireAccount.page(exchange, async ({ account: { id } }) => {
        const query = await parseUsageQuery(exchange.request.url, changes.store, id)
        const history = await readUsageHistory(usage, clock, id, query.days)
        const keys = await listKeys(changes.store, id, KEYS_NAMED_MAX)
        const text = usageCsv(selected(history, query, utcDay(clock())), new Map(keys.map(key => [key.id, key])))
        return pages.download(text, exchange, CSV_FILE)
      }),
  })
}

const CSV_FILE = { fileName: "mailkind-usage.csv", mediaType: "text/csv; charset=utf-8" } as const

async function readOverview(site: SiteContext, user: SignedInUser, exchange: Exchange): Promise<OverviewData> {
  const { changes, clock, usage, usageOf, baseUrl, assets } = site
  const { id } = user.account
  const query = await parseUsageQuery(exchange.request.url, changes.store, id)
  // The usage comes first: reading it writes when keys were last used.
  const accountUsage = await usageOf(user.account)
  const history = await readUsageHistory(usage, clock, id, LIMITS.usageDaysKept)
  const keys = await listKeys(changes.store, id, KEYS_NAMED_MAX)
  const nowMs = clock()
  const today = utcDay(nowMs)
  const daysBefore = query.days * 2 <= LIMITS.usageDaysKept
  return {
    user,
    usage: accountUsage,
    query,
    history: selected(history, query, today),
    historyBefore: daysBefore ? selected(history, query, today - query.days) : null,
    hasChecks: history.some(figures => checkedCount(figures) > 0),
    usedKeyIds: [...new Set(history.map(({ keyId }) => keyId))],
    latest: await readLatest(site, id),
    today,
    keys,
    nowMs,
    nextStep: nextStartStep(keys, history),
    baseUrl: baseUrl(),
    script: await assets.path("overview.js"),
  }
}

/** The part of the usage that the query names. */
const selected = (history: readonly KeyDayUsage[], { days, key }: UsageQuery, today: number): readonly KeyDayUsage[] =>
  history.filter(usage => usage.day > today - days && usage.day <= today && (key === "" || usage.keyId === key))

/** So many requests are displayed, and so many are looked at for them, since some are no checks. */
const [LATEST_COUNT, LATEST_READ] = [5, 50] as const

const NO_FILTER = {
  ...{ keyId: null, route: null, statusClass: null, category: null },
  ...{ recommendation: null, domainPart: null, fromMs: null, toMs: null },
}

async function readLatest(site: SiteContext, accountId: string): Promise<LatestRequests> {
  const { changes, clock, requestLog } = site
  const state = await logState(site, accountId)
  if (state !== "on") return { state, requests: [] }
  await requestLog?.flushAccount(accountId)
  const page = { filter: NO_FILTER, before: null, countMax: LATEST_READ }
  const requests = await readRequests(changes.store, accountId, clock(), page)
  const checks = requests.filter(
    ({ category, categoryCounts, code }) => category !== null || categoryCounts.length > 0 || code !== null,
  )
  return { state, requests: checks.slice(0, LATEST_COUNT) }
}
