import {
  REQUEST_LOG_BOUNDS,
  RequestLog,
  type RequestLogBounds,
} from "../../../src/customers/request-log/request-log.ts"
import type { LoggedRequest, RequestFilter } from "../../../src/customers/request-log/request-rows.ts"
import { readRequests } from "../../../src/customers/request-log/request-rows.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** The noon at which the clock of a logged store stands at first. */
export const NOON = Date.UTC(2026, 2, 10, 12)

/** A filter that every request matches. */
export const ALL: RequestFilter = {
  keyId: null,
  route: null,
  statusClass: null,
  category: null,
  recommendation: null,
  domainPart: null,
  hasOutcome: false,
  fromMs: null,
  toMs: null,
}

/** A check that was answered. */
export const CHECK: Omit<LoggedRequest, "accountId"> = {
  keyId: "key_1",
  route: "POST /v1/check",
  status: 200,
  code: null,
  category: "business",
  recommendation: "allow",
  reason: "business_mail",
  domain: "acme.com",
  tookMs: 1.5,
  units: 1,
  categoryCounts: null,
}

/** Logs a request as the server does, or counts it as dropped. */
export function recordIn(requestLog: RequestLog | null, request: LoggedRequest): void {
  if (requestLog?.admits(request.accountId)) requestLog.record(request)
}

/** A store with one account, its request log, and a clock to set. */
export async function loggedStore(bounds: Partial<RequestLogBounds> = {}, path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  log.now = NOON
  const accountId = await newAccount(log, `${crypto.randomUUID()}@example.com`)
  const requestLog = new RequestLog(store, log.clock, random, { ...REQUEST_LOG_BOUNDS, ...bounds })
  return {
    path,
    store,
    log,
    accountId,
    requestLog,
    account: (email: string) => newAccount(log, email),
    record: (more: Partial<LoggedRequest> = {}) => recordIn(requestLog, { accountId, ...CHECK, ...more }),
    /** What the account sees, the newest first. */
    read: (filter: Partial<RequestFilter> = {}, of = accountId, countMax = 20_000) =>
      readRequests(store, of, log.now, { filter: { ...ALL, ...filter }, before: null, countMax }),
    rowCount: async () => (await store.one<{ count: number }>("SELECT COUNT(*) AS count FROM request_log"))?.count ?? 0,
  }
}
