import type { Log } from "../../base/log.ts"
import { detectSubjectKind, parseSubject } from "../../check/address/parse-subject.ts"
import { type BatchRequest, checkBatch } from "../../check/batch.ts"
import type { Check } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import { type WrittenJson, writeBatchResult } from "../../check/result/result-writer.ts"
import type { Category } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Recommendation } from "../../contract/policies.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import { metered } from "../admission/metered.ts"
import { callerOf, type Exchange, type RequestResult } from "../exchange.ts"
import type { Meter } from "../metrics/meter.ts"
import { readJsonBody } from "../request/body.ts"
import { parseBatchRequest } from "../request/check-input.ts"
import { compress, isCompressible, VARY_ENCODING } from "../response/compression.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { handlers } from "../router.ts"
import { unitsOf } from "./metered-check.ts"

/** What a batch needs. */
export type BatchDeps = {
  readonly responses: JsonResponses
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly log: Log
  readonly meter: Meter
  readonly testDomain: string
}

/** POST /v1/check/batch: many addresses, domains and URLs, each with the result that a check of it would have. */
export const batchRoute = (deps: BatchDeps & { readonly loadShedder: LoadShedder }) =>
  handlers({
    postBatch: async exchange => {
      const body = await readJsonBody(exchange.request, LIMITS.batchBodyBytesMax, deps.loadShedder)
      const respond = (outcomes: readonly CheckOutcome[]): Response =>
        batchResponse(deps.responses, exchange, writeBatchResult(outcomes, exchange.id))
      return await runBatch(deps, exchange, body, respond)
    },
  })

/**
 * Parses the body of a batch, charges the caller one unit an item, all or none, checks the items, records verdicts and usage, and gives what
 * `respond` makes of the outcomes. Test addresses cost nothing; an `error-…` address is `unknown` here, because a problem would be that of all items (DECISIONS 12). Rejects with a `Problem`.
 */
export async function runBatch<T>(
  deps: BatchDeps,
  exchange: Exchange,
  body: unknown,
  respond: (outcomes: readonly CheckOutcome[]) => T,
): Promise<T> {
  const { items, policy, showsMail } = parseBatchRequest(body)
  const { id: accountId, rules } = callerOf(exchange).account
  const batch: BatchRequest = {
    subjects: items.map(item => parseSubject(detectSubjectKind(item), item, deps.testDomain)),
    policy,
    showsMail,
    callerId: accountId,
    ownListMatch: subject => deps.ownLists.lookup(accountId, subject),
    rules,
  }
  const units = batch.subjects.filter(({ isTest }) => !isTest).length
  const work = async () => {
    const outcomes = await checkBatch(deps.check, batch)
    exchange.result = resultOfBatch(outcomes)
    return { outcomes, response: respond(outcomes) }
  }
  const { response } = await metered(deps, exchange, units, work, ({ outcomes }) => {
    const paid = outcomes.filter(({ subject }) => !subject.isTest)
    for (const { judged } of paid) deps.meter.recordVerdict(judged.verdict, judged.evidence.isCached)
    return { kind: "batch", verdicts: paid.map(({ judged }) => judged.verdict) }
  })
  return response
}

/** The results, compressed for a client that asks for it: it costs 0.5 µs an item and leaves a tenth to send. */
function batchResponse(responses: JsonResponses, { request, id, lease }: Exchange, json: WrittenJson): Response {
  const isCompressed = isCompressible(json.length, request)
  const response = responses.serialized(isCompressed ? compress(json) : json, id, 200, lease?.headers())
  response.headers.append("Vary", VARY_ENCODING)
  if (isCompressed) response.headers.set("Content-Encoding", "gzip")
  return response
}

/** What a batch comes to in the request log: counts by category and by recommendation, and none of its domains. */
function resultOfBatch(outcomes: readonly CheckOutcome[]): RequestResult {
  const categoryCounts = new Map<Category, number>()
  const recommendationCounts = new Map<Recommendation, number>()
  let units = 0
  for (const outcome of outcomes) {
    const { category, recommendation } = outcome.judged.verdict
    categoryCounts.set(category, (categoryCounts.get(category) ?? 0) + 1)
    recommendationCounts.set(recommendation, (recommendationCounts.get(recommendation) ?? 0) + 1)
    units += unitsOf(outcome, false)
  }
  return { units, check: null, categoryCounts, recommendationCounts }
}
