import type { CheckOutcome } from "../../check/result/result.ts"
import type { Category } from "../../contract/categories.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import type { RequestLog } from "../../customers/request-log/request-log.ts"
import type { RefusalHeaders } from "../response/caller-headers.ts"
import { unitsOf } from "../v1/metered-check.ts"

/** What a request did, besides its status and its time. */
export type RequestResult = {
  readonly units: number
  /** The check; null: none, or several. */
  readonly check: CheckOutcome | null
  /** The items of a batch by their category; null: the request is no batch. */
  readonly categoryCounts: ReadonlyMap<Category, number> | null
}

/** The result of a request that was refused, or costs nothing. */
const NO_RESULT: RequestResult = { units: 0, check: null, categoryCounts: null }

/**
 * Writes the requests of accounts to their request logs. Of what was checked it passes on the registrable domain alone: a local part, or
 * a subdomain that stands for one person, stays out of the database (DECISIONS 67).
 */
export class AccountLog {
  readonly #log: Pick<RequestLog, "admits" | "record">
  readonly #refusals: RefusalHeaders
  readonly #results = new WeakMap<Request, RequestResult>()

  constructor(log: Pick<RequestLog, "admits" | "record">, refusals: RefusalHeaders) {
    this.#log = log
    this.#refusals = refusals
  }

  /** Remembers what a request did until its response is recorded. */
  setResult(request: Request, result: RequestResult): void {
    this.#results.set(request, result)
  }

  /** Logs an answered request of a caller, with the result that was set. */
  record(request: Request, route: number, { status }: Response, tookMs: number, caller: CallerCredentials): void {
    if (!this.#log.admits(caller.account.id)) return
    const result = this.#results.get(request) ?? NO_RESULT
    this.#write(request, route, status, tookMs, caller, result)
  }

  /** The same for a single check. Each of them calls it, so nothing is looked up. `outcome` null: it was refused. */
  recordCheck(
    request: Request,
    route: number,
    { status }: Response,
    tookMs: number,
    caller: CallerCredentials,
    outcome: CheckOutcome | null,
    isDeep: boolean,
  ): void {
    if (!this.#log.admits(caller.account.id)) return
    const result =
      outcome === null ? NO_RESULT : { units: unitsOf(outcome, isDeep), check: outcome, categoryCounts: null }
    this.#write(request, route, status, tookMs, caller, result)
  }

  #write(
    request: Request,
    route: number,
    status: number,
    tookMs: number,
    { key, account }: CallerCredentials,
    { units, check, categoryCounts }: RequestResult,
  ): void {
    const verdict = check?.judged.verdict ?? null
    this.#log.record({
      accountId: account.id,
      keyId: key.id,
      route: METRIC_LABELS.route[route] ?? "",
      status,
      code: status < 400 ? null : this.#refusals.codeOf(request),
      category: verdict?.category ?? null,
      recommendation: verdict?.recommendation ?? null,
      reason: verdict?.reasons[0] ?? null,
      domain: check === null ? null : loggedDomain(check),
      tookMs,
      units,
      categoryCounts,
    })
  }
}

/** The registrable domain of a check; null for an invalid input, which may be an address with a slip in it. */
function loggedDomain({ subject: { fault, registrable }, judged: { verdict } }: CheckOutcome): string | null {
  const isName = fault === null || fault === "public_suffix"
  return isName && verdict.category !== "invalid" ? registrable : null
}
