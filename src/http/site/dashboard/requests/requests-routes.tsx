/** @jsxImportSource preact */

import { csvLine } from "../../../../base/csv.ts"
import { logError } from "../../../../base/log.ts"
import { isoInstant } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { listKeys } from "../../../../customers/keys/keys.ts"
import {
  isRequestLogOn,
  switchRequestLogOff,
  switchRequestLogOn,
} from "../../../../customers/request-log/request-log-switch.ts"
import {
  findRequest,
  type RequestPageQuery,
  type RequestPlace,
  readRequests,
  type StoredRequest,
} from "../../../../customers/request-log/request-rows.ts"
import type { Store } from "../../../../customers/store/core/store.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import { type Exchange, logOf } from "../../../exchange.ts"
import { invalidInput, Problem } from "../../../response/problem.ts"
import { handlers } from "../../../router.ts"
import { ownerChanges } from "../../attributed-changes.ts"
import type { SignedInUser } from "../../guards.ts"
import { flashMessage, withFlash } from "../../links.ts"
import { streamText } from "../../page-responses.ts"
import type { SiteContext } from "../../site-context.ts"
import { paginate } from "../../ui/pagination.tsx"
import { RequestPage } from "./request-page.tsx"
import { parseRequestPlace, parseRequestQuery, requestIdOf } from "./request-query.ts"
import { readMeantNames } from "./request-words.tsx"
import { REQUESTS_FLASH, type RequestKey, type RequestLogState, RequestsPage } from "./requests-page.tsx"

/** How many requests a page displays. */
const REQUESTS_PER_PAGE = 50

/** How many keys are displayed by name. */
const KEYS_NAMED_MAX = 200

/** The account's request log: the page, one request, the CSV file and the switch. */
export function requestsPageRoutes(site: SiteContext) {
  const { pages, guards, changes, requestLog, log } = site
  const { store, clock } = changes
  return handlers({
    requests: exchange => guards.requireAccount.page(exchange, user => requestsPage(site, user, exchange)),
    requestLogFile: exchange =>
      guards.requireAccount.page(exchange, async ({ account: { id } }) => {
        const state = await logState(site, id)
        const { filter, errors } = parseRequestQuery(exchange.request.url)
        const [[parameter, detail] = ["", ""]] = Object.entries(errors)
        if (detail !== "") throw invalidInput([{ parameter, detail }])
        if (state !== "on") throw new Problem("not_found", "The request log is off.")
        await requestLog?.flushAccount(id)
        const names = new Map((await namedKeys(store, id)).map(key => [key.id, key.label]))
        const lines = csvLines(page => readRequests(store, id, clock(), { ...page, filter }), names)
        return pages.download(
          streamText(lines, logError(logOf(log, exchange), "the request log was not exported")),
          exchange,
          CSV_FILE,
        )
      }),
    loggedRequest: exchange =>
      guards.requireAccount.page(exchange, async user => {
        const place = parseRequestPlace(exchange.params.id)
        const { id } = user.account
        const found = place === null || requestLog === null ? null : await findRequest(store, id, clock(), place)
        if (found === null) throw new Problem("not_found", "There is no such request in your log.")
        const keyName = (await namedKeys(store, id)).find(key => key.id === found.keyId)?.label ?? found.keyId
        const names = await readMeantNames(site, [found])
        return <RequestPage user={user} request={found} keyName={keyName} names={names} />
      }),
    postRequestLog: exchange =>
      guards.requireAccount.form(exchange, async ({ account }, form) => {
        const choice = form.text("log")
        if (choice !== "on" && choice !== "off")
          throw invalidInput([{ pointer: "/log", detail: "`log` must be on or off." }])
        if (choice === "on") await switchRequestLogOn(ownerChanges(site, { account }), account.id)
        else await switchRequestLogOff(ownerChanges(site, { account }), account.id)
        return pages.redirect(withFlash(ROUTES.requests.path, choice), exchange)
      }),
  })
}

/** The columns of the file, each with the text of a request's cell. */
const CSV_COLUMNS = {
  time: ({ atMs }) => isoInstant(atMs),
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyId }, names) => names.get(keyId) ?? "",
  route: ({ route }) => route,
  status: ({ status }) => status,
  code: ({ code }) => code ?? "",
  category: ({ category }) => category ?? "",
  recommendation: ({ recommendation }) => recommendation ?? "",
  reason: ({ reason }) => reason ?? "",
  domain: ({ domain }) => domain ?? "",
  took_ms: ({ tookMs }) => tookMs,
  units: ({ units }) => units,
  batch_items: ({ categoryCounts }) => categoryCounts.map(([category, count]) => `${category}:${count}`).join(" "),
  not_logged_after: ({ skippedCount }) => skippedCount,
} as const satisfies Record<string, (request: StoredRequest, keyNames: ReadonlyMap<string, string>) => string | number>

/** How many requests are read at once for the file. */
const CSV_PAGE_ROWS = 500

/** Yields the requests that are read as a CSV file in parts, the newest first. It ends although new requests arrive. */
async function* csvLines(
  read: (page: Pick<RequestPageQuery, "before" | "countMax">) => Promise<readonly StoredRequest[]>,
  keyNames: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  yield csvLine(Object.keys(CSV_COLUMNS))
  let before: RequestPlace | null = null
  for (let count = 0; count < LIMITS.requestLogRowsMax; count += CSV_PAGE_ROWS) {
    const rows: readonly StoredRequest[] = await read({ before, countMax: CSV_PAGE_ROWS })
    yield rows.map(row => csvLine(Object.values(CSV_COLUMNS).map(cell => cell(row, keyNames)))).join("")
    if (rows.length < CSV_PAGE_ROWS) return
    before = rows.at(-1) ?? null
  }
}

const CSV_FILE = { fileName: "mailkind-requests.csv", mediaType: "text/csv; charset=utf-8" } as const

async function requestsPage(site: SiteContext, user: SignedInUser, exchange: Exchange) {
  const { pages, assets, changes, requestLog } = site
  const { store, clock } = changes
  const { id } = user.account
  const query = parseRequestQuery(exchange.request.url)
  const state = await logState(site, id)
  const isFaulty = Object.keys(query.errors).length > 0
  if (state === "on") await requestLog?.flushAccount(id)
  const page = { ...query, countMax: REQUESTS_PER_PAGE + 1 }
  const rowsRead = state === "on" && !isFaulty ? await readRequests(store, id, clock(), page) : []
  const { rows, lastRow } = paginate(rowsRead, REQUESTS_PER_PAGE)
  const shown = (
    <RequestsPage
      user={user}
      state={state}
      query={query}
      requests={rows}
      names={await readMeantNames(site, rows)}
      nextAfter={lastRow && requestIdOf(lastRow)}
      keys={await namedKeys(store, id)}
      flash={flashMessage(exchange.request.url, REQUESTS_FLASH)}
      script={await assets.path("live-requests.js")}
    />
  )
  return isFaulty ? pages.renderInvalid(shown, exchange) : shown
}

/** Whether the account has a request log. */
export async function logState({ requestLog, changes }: SiteContext, accountId: string): Promise<RequestLogState> {
  if (requestLog === null) return "off by operator"
  return (await isRequestLogOn(changes.store, accountId)) ? "on" : "off"
}

/** The account's keys by name, and what stands for a key on these pages. */
async function namedKeys(store: Store, accountId: string): Promise<readonly RequestKey[]> {
  const keys = await listKeys(store, accountId, KEYS_NAMED_MAX)
  return [
    ...keys.map(({ id, name, last4 }) => ({ id, name, label: `${name} …${last4}` })),
    { id: SITE_KEY.id, name: "This dashboard", label: "This dashboard" },
  ]
}
