import { detectSubjectKind } from "../check/address/parse-subject.ts"
import type { Subject } from "../check/address/subject.ts"
import type { Check, CheckRequest } from "../check/check.ts"
import type { CheckOutcome } from "../check/result/result.ts"
import type { BatchItemResult, CheckResult } from "../client/api-types.ts"
import { API_LIMITS } from "../client/api-types.ts"
import type { CheckSubject, Mailkind } from "../client/client.ts"
import { serverFailure } from "./server.ts"

/** How often a request is tried again, with the waits of the client. */
const RETRIES = 3

type Waiting = {
  readonly request: CheckRequest
  readonly resolve: (outcome: CheckOutcome) => void
  readonly reject: (error: Error) => void
}

/**
 * A check that asks a server, in batches of what is asked for at the same time. What has no domain is judged here and is not sent.
 * Rejects with a `CommandError` when the server gives no result.
 */
export function createServerCheck(client: Mailkind, localCheck: Check): Check {
  let waiting: Waiting[] = []
  const send = (): void => {
    const batch = waiting
    waiting = []
    if (batch.length > 0) void sendBatch(client, batch)
  }
  return request => {
    const { subject } = request
    if (subject.domain === null) return localCheck(request)
    // A batch knows the kind of an item by its text, and has no deep checks.
    if (request.isDeep || detectSubjectKind(subject.sent) !== subject.kind) return checkAlone(client, request)
    const { promise, resolve, reject } = Promise.withResolvers<CheckOutcome>()
    waiting.push({ request, resolve, reject })
    if (waiting.length === 1) queueMicrotask(send)
    if (waiting.length === API_LIMITS.batchItemsMax) send()
    return promise
  }
}

async function sendBatch(client: Mailkind, batch: readonly Waiting[]): Promise<void> {
  const policy = batch[0]?.request.policy
  const texts = batch.map(({ request }) => request.subject.sent)
  const answers = await client.batch(texts, { policy, retries: RETRIES })
  for (const [at, { request, resolve, reject }] of batch.entries()) {
    const answer = answers[at]
    if (answer?.outcome === "checked") resolve(outcomeOf(request.subject, answer.result))
    else if (answer !== undefined) reject(serverFailure(answer))
  }
}

async function checkAlone(client: Mailkind, { subject, policy, isDeep }: CheckRequest): Promise<CheckOutcome> {
  const asked = { [subject.kind]: subject.sent } as CheckSubject & Record<string, string> // one of its members
  const answer = await client.check({ ...asked, policy, deep: isDeep }, { retries: RETRIES })
  if (answer.outcome === "unchecked") throw serverFailure(answer)
  return outcomeOf(subject, answer.result)
}

/** The outcome that a result of a server stands for: as much of it as results are written from. */
function outcomeOf(subject: Subject, result: CheckResult | BatchItemResult): CheckOutcome {
  const { category, confidence, recommendation, policy, reasons, degraded, domain, did_you_mean: suggestion } = result
  const { email: _, url: __, normalized_email: ___, took_ms: tookMs, request_id: requestId, ...members } = result
  const own: Record<string, unknown> = { ...members }
  delete own["index"]
  delete own["input"]
  const judged = {
    ...{ domain, policy, evidence: { suggestion } },
    verdict: { category, confidence, recommendation, reasons, isDegraded: degraded },
    json: `,${JSON.stringify(own).slice(1, -1)},"took_ms":`,
  }
  const outcome = { subject, judged: judged as unknown as CheckOutcome["judged"], tookMs, wasFetched: false } // the evidence stays at the server
  requestIds.set(outcome, requestId)
  return outcome
}

const requestIds = new WeakMap<CheckOutcome, string>()

/** The id by which a server logged the request of an outcome; undefined: no server was asked. */
export const serverRequestId = (outcome: CheckOutcome): string | undefined => requestIds.get(outcome)
