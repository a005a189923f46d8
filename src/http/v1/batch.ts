import { Elysia } from "elysia"
import type { Log } from "../../base/log.ts"
import { detectSubjectKind, parseSubject } from "../../check/address/parse-subject.ts"
import { type BatchRequest, checkBatch } from "../../check/batch.ts"
import type { Check } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import { type WrittenJson, writeBatchResult } from "../../check/result/result-writer.ts"
import type { Category } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { WithSecretKey } from "../admission/admission.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { RequestLease } from "../admission/request-lease.ts"
import type { AccountLog, RequestResult } from "../metrics/account-log.ts"
import type { Meter } from "../metrics/meter.ts"
import { readJsonBody } from "../request/body.ts"
import { parseBatchRequest } from "../request/check-input.ts"
import { compress, isCompressible, VARY_ENCODING } from "../response/compression.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { unitsOf } from "./metered-check.ts"

type BatchRouteDeps = BatchDeps & { readonly withSecretKey: WithSecretKey; readonly loadShedder: LoadShedder }

/** What a batch needs. */
export type BatchDeps = {
  readonly responses: JsonResponses
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly log: Log
  readonly meter: Meter
  readonly testDomain: string
  readonly accountLog: AccountLog | null
}

/** POST /v1/check/batch: many addresses, domains and URLs, each with the result that a check of it would have. */
export function batchRoute(deps: BatchRouteDeps) {
  const { responses, withSecretKey, loadShedder } = deps
  const respond = async (
    request: Request,
    caller: CallerCredentials,
    lease: RequestLease | null,
  ): Promise<Response> => {
    const body = await readJsonBody(request, LIMITS.batchBodyBytesMax, loadShedder)
    return await runBatch(deps, request, caller, lease, body, (json, requestId) =>
      batchResponse(responses, request, json, requestId, lease),
    )
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postBatch.path,
    ({ request }) => withSecretKey(request, (caller, lease) => respond(request, caller, lease), true),
    { parse: "none" },
  )
}

/**
 * Parses the body of a batch, charges the caller, checks the items and gives what `write` makes of the result. The written bytes are
 * valid until the next result is written, so `write` copies them at once. Rejects with a `Problem`.
 */
export async function runBatch<T>(
  deps: BatchDeps,
  request: Request,
  caller: CallerCredentials,
  lease: RequestLease | null,
  body: unknown,
  write: (json: WrittenJson, requestId: string) => T,
): Promise<T> {
  const { items, policy } = parseBatchRequest(body)
  const { id: accountId } = caller.account
  const requestId = deps.responses.requestId(request)
  const batch: BatchRequest = {
    subjects: items.map(item => parseSubject(detectSubjectKind(item), item, deps.testDomain)),
    policy,
    callerId: accountId,
    ownListMatch: subject => deps.ownLists.lookup(accountId, subject),
  }
  return await runMeteredBatch(deps, batch, caller, lease, outcomes => {
    deps.accountLog?.setResult(request, batchResult(outcomes))
    return write(writeBatchResult(outcomes, requestId), requestId)
  })
}

/** The results, compressed for a client that asks for it: it costs 0.5 µs an item and leaves a tenth to send. */
function batchResponse(
  responses: JsonResponses,
  request: Request,
  json: WrittenJson,
  requestId: string,
  lease: RequestLease | null,
): Response {
  const isCompressed = isCompressible(json.length, request)
  const response = responses.serialized(isCompressed ? compress(json) : json, requestId, 200, lease?.headers())
  response.headers.append("Vary", VARY_ENCODING)
  if (isCompressed) response.headers.set("Content-Encoding", "gzip")
  return response
}

/**
 * Charges one unit an item, all or none, checks the batch, and records verdicts and usage. When the batch fails, the units are
 * refunded. Test addresses cost nothing; an `error-…` address is `unknown` here, because a problem would be that of all items
 * (DECISIONS 12).
 */
async function runMeteredBatch<T>(
  { check, usage, meter }: BatchDeps,
  batch: BatchRequest,
  { key, account }: CallerCredentials,
  lease: RequestLease | null,
  toResponse: (outcomes: readonly CheckOutcome[]) => T,
): Promise<T> {
  const units = batch.subjects.filter(({ isTest }) => !isTest).length
  if (units > 0) await lease?.charge(units)
  try {
    const outcomes = await checkBatch(check, batch)
    const response = toResponse(outcomes)
    const charged = outcomes.filter(({ subject }) => !subject.isTest)
    for (const { judged } of charged) meter.recordVerdict(judged.verdict, judged.evidence.isCached)
    const categories = charged.map(({ judged }) => judged.verdict.category)
    usage.record(account.id, key, { kind: "batch", categories }, lease?.chargedDay)
    return response
  } catch (error) {
    lease?.refund(units)
    throw error
  }
}

/** What a batch comes to in the request log: counts by category, and none of its domains. */
function batchResult(outcomes: readonly CheckOutcome[]): RequestResult {
  const categoryCounts = new Map<Category, number>()
  let units = 0
  for (const outcome of outcomes) {
    const { category } = outcome.judged.verdict
    categoryCounts.set(category, (categoryCounts.get(category) ?? 0) + 1)
    units += unitsOf(outcome, false)
  }
  return { units, check: null, categoryCounts }
}
