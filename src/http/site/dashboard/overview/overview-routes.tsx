/** @jsxImportSource preact */
import { csvLine } from "../../../../base/csv.ts"
import { DAY_MS, isoDate, utcDay } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { type ApiKey, listKeys } from "../../../../customers/keys/keys.ts"
import { readRequests } from "../../../../customers/request-log/request-rows.ts"
import {
  checkedCount,
  type KeyDayUsage,
  readUsageHistory,
  unitCount,
} from "../../../../customers/usage/usage-history.ts"
import type { Exchange } from "../../../exchange.ts"
import { handlers } from "../../../router.ts"
import type { SignedInUser } from "../../guards.ts"
import type { SiteContext } from "../../site-context.ts"
import { readMeantNames } from "../requests/request-words.tsx"
import { logState } from "../requests/requests-routes.tsx"
import { OverviewPage } from "./overview-page.tsx"
import type { OverviewData } from "./overview-panels.tsx"
import { nextStartStep } from "./start-steps.tsx"
import { daysOf, type StrikingDay, strikingDay } from "./usage-figures.ts"
import { keyNameOf, parseUsageQuery, type UsageQuery } from "./usage-query.ts"

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

type UsageRow = { readonly usage: KeyDayUsage; readonly apiKey: ApiKey | undefined }

/** The columns of the file before those of categories and recommendations. */
const CSV_COLUMNS = {
  date: ({ usage }) => isoDate(usage.day),
  key_id: ({ usage }) => usage.keyId,
  key_name: ({ usage, apiKey }) => keyNameOf(usage.keyId, apiKey),
  key_kind: ({ apiKey }) => apiKey?.kind ?? "",
  units: ({ usage }) => unitCount(usage),
  checks: ({ usage }) => usage.checks,
  deep_checks: ({ usage }) => usage.deepChecks,
  batch_items: ({ usage }) => usage.batchItems,
  rate_limited: ({ usage }) => usage.rateLimited,
} as const satisfies Record<string, (row: UsageRow) => string | number>

/** The usage as a CSV file, a row for each day and key, the oldest day first. */
function usageCsv(history: readonly KeyDayUsage[], keys: ReadonlyMap<string, ApiKey>): string {
  const rows = history.map(usage => [
    ...Object.values(CSV_COLUMNS).map(cell => cell({ usage, apiKey: keys.get(usage.keyId) })),
    ...CATEGORY_NAMES.map(category => usage.byCategory[category]),
    ...RECOMMENDATIONS.map(name => usage.byRecommendation[name]),
  ])
  return [[...Object.keys(CSV_COLUMNS), ...CATEGORY_NAMES, ...RECOMMENDATIONS], ...rows].map(csvLine).join("")
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
  const shown = selected(history, query, today)
  const daysBefore = query.days * 2 <= LIMITS.usageDaysKept
  return {
    user,
    usage: accountUsage,
    query,
    history: shown,
    historyBefore: daysBefore ? selected(history, query, today - query.days) : null,
    hasChecks: history.some(figures => checkedCount(figures) > 0),
    usedKeyIds: [...new Set(history.map(({ keyId }) => keyId))],
    latest: await readLatest(site, id),
    striking: await readStriking(site, id, query, strikingDay(daysOf(shown, query.days, today))),
    today,
    keys,
    nowMs,
    nextStep: nextStartStep(keys, history),
    baseUrl: baseUrl(),
    script: await assets.path("overview.js"),
  }
}

/** A day that stands out, with whether the request log has some of it. */
async function readStriking(
  { changes: { store }, clock, requestLog }: SiteContext,
  accountId: string,
  { key }: UsageQuery,
  striking: StrikingDay | null,
): Promise<OverviewData["striking"]> {
  if (striking === null) return null
  const fromMs = striking.figures.day * DAY_MS
  const filter = { keyId: key || null, fromMs, toMs: fromMs + DAY_MS }
  const found = requestLog && (await readRequests(store, accountId, clock(), { filter, before: null, countMax: 1 }))
  return { ...striking, isLogged: (found ?? []).length > 0 }
}

/** The part of the usage that the query names. */
const selected = (history: readonly KeyDayUsage[], { days, key }: UsageQuery, today: number): readonly KeyDayUsage[] =>
  history.filter(usage => usage.day > today - days && usage.day <= today && (key === "" || usage.keyId === key))

/** So many requests are displayed. */
const LATEST_COUNT = 8

async function readLatest(site: SiteContext, accountId: string): Promise<OverviewData["latest"]> {
  const { changes, clock, requestLog } = site
  const state = await logState(site, accountId)
  if (state !== "on") return { state, requests: [], names: new Map() }
  await requestLog?.flushAccount(accountId)
  const page = { filter: { hasOutcome: true }, before: null, countMax: LATEST_COUNT }
  const requests = await readRequests(changes.store, accountId, clock(), page)
  return { state, requests, names: await readMeantNames(site, requests) }
}
