import { Elysia } from "elysia"
import type { Log } from "../../base/log.ts"
import { detectSubjectKind, parseSubject } from "../../check/address/parse-subject.ts"
import { type BatchRequest, checkBatch } from "../../check/batch.ts"
import type { Check } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import { writeBatchResult } from "../../check/result/result-writer.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { WithSecretKey } from "../admission/admission.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { RequestLease } from "../admission/request-lease.ts"
import type { Meter } from "../metrics/meter.ts"
import { readJsonBody } from "../request/body.ts"
import { parseBatchRequest } from "../request/check-input.ts"
import type { JsonResponses } from "../response/json-responses.ts"

type BatchRouteDeps = {
  readonly responses: JsonResponses
  readonly withSecretKey: WithSecretKey
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly log: Log
  readonly meter: Meter
  readonly loadShedder: LoadShedder
  readonly testDomain: string
}

/** POST /v1/check/batch: many addresses, domains and URLs, each answered as a check of it would be. */
export function batchRoute(needs: BatchRouteDeps) {
  const { responses, withSecretKey, ownLists, log, testDomain, loadShedder } = needs
  const answer = async (request: Request, known: CallerCredentials, pass: RequestLease | null): Promise<Response> => {
    const { items, policy } = parseBatchRequest(await readJsonBody(request, LIMITS.batchBodyBytesMax, loadShedder))
    const requestId = responses.requestId(request)
    const batch: BatchRequest = {
      subjects: items.map(item => parseSubject(detectSubjectKind(item), item, testDomain)),
      policy,
      ownListMatch: (normalized, domain) => ownLists.lookup(known.account.id, normalized, domain),
      onError: error => log("error", "a domain of a batch was not asked about", errorFields(error, requestId)),
    }
    // What is written is to be copied into the answer before anybody else writes.
    const tell = (outcomes: readonly CheckOutcome[]) =>
      responses.serialized(writeBatchResult(outcomes, requestId), requestId, 200, pass?.headers())
    return await runMeteredBatch(needs, batch, known, pass, tell)
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postBatch.path,
    ({ request }) => withSecretKey(request, (known, pass) => answer(request, known, pass), true),
    { parse: "none" },
  )
}

/**
 * Checks at the cost of a unit an item, all or none, which are given back when the batch fails, and counts what was done.
 * A test address costs nothing; one that asks for a problem is one that has no verdict of its own here, for a problem
 * would be all the items'.
 */
async function runMeteredBatch(
  { check, usage, meter }: BatchRouteDeps,
  batch: BatchRequest,
  { key, account }: CallerCredentials,
  pass: RequestLease | null,
  tell: (outcomes: readonly CheckOutcome[]) => Response,
): Promise<Response> {
  const units = batch.subjects.filter(({ isTest }) => !isTest).length
  if (units > 0) await pass?.charge(units)
  try {
    const outcomes = await checkBatch(check, batch)
    const response = tell(outcomes)
    const paid = outcomes.filter(({ subject }) => !subject.isTest)
    for (const { judged } of paid) meter.recordVerdict(judged.verdict, judged.evidence.isCached)
    usage.record(account.id, key, { kind: "batch", categories: paid.map(({ judged }) => judged.verdict.category) })
    return response
  } catch (error) {
    pass?.refund(units)
    throw error
  }
}

/** An error's own message may hold what a caller sent, so only its name is written. */
const errorFields = (error: unknown, requestId: string) => ({
  request_id: requestId,
  error: error instanceof Error ? error.name : typeof error,
})
