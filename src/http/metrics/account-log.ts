import type { CheckOutcome } from "../../check/result/result.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import type { RequestLog } from "../../customers/request-log/request-log.ts"
import { SITE_KEY } from "../../customers/usage/measures.ts"
import type { Exchange, RequestResult } from "../exchange.ts"
import { routeIndex } from "./request-observer.ts"

/** The result of a request that was refused, or costs nothing. */
const NO_RESULT: RequestResult = { units: 0, check: null, categoryCounts: null }

/**
 * Writes the requests of accounts to their request logs. Of what was checked it passes on the registrable domain alone: a local part, or
 * a subdomain that stands for one person, stays out of the database (DECISIONS 67).
 */
export class AccountLog {
  readonly #log: Pick<RequestLog, "admits" | "record">

  constructor(log: Pick<RequestLog, "admits" | "record">) {
    this.#log = log
  }

  /** Logs an answered request for the account of its caller. A request without a caller is not logged, nor is a page that neither checked anything nor cost units. */
  record({ caller, route, result, refusal }: Exchange, { status }: Response, tookMs: number): void {
    if (caller === null || !this.#log.admits(caller.account.id)) return
    const { units, check, ...counts } = result ?? NO_RESULT
    if (caller.key.id === SITE_KEY.id && status < 400 && check === null && units === 0) return
    const verdict = check?.judged.verdict ?? null
    this.#log.record({
      accountId: caller.account.id,
      keyId: caller.key.id,
      route: METRIC_LABELS.route[routeIndex(route)] ?? "",
      status,
      code: status < 400 ? null : refusal,
      category: verdict?.category ?? null,
      recommendation: verdict?.recommendation ?? null,
      reason: verdict?.reasons[0] ?? null,
      domain: check === null ? null : loggedDomain(check),
      tookMs,
      units,
      ...counts,
    })
  }
}

/** The registrable domain of a check; null for an invalid input, which may be a mistyped address. */
function loggedDomain({ subject: { fault, registrable }, judged: { verdict } }: CheckOutcome): string | null {
  const isName = fault === null || fault === "public_suffix"
  return isName && verdict.category !== "invalid" ? registrable : null
}
