import type { Clock } from "../../base/outside-world.ts"
import { createBodyMark, idempotencyKeyHash } from "../../customers/idempotency/body-mark.ts"
import {
  findRequest,
  type IdempotentRequest,
  type RecordAnswer,
  RepeatedRequest,
  recordAnswer,
} from "../../customers/idempotency/idempotent-requests.ts"
import type { Store } from "../../customers/store/core/store.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import { idempotencyKeyOf } from "../request/idempotency-key.ts"
import { otherRequest, REPLAYED_HEADER, stillRunning } from "../response/idempotency-problems.ts"
import type { JsonResponses } from "../response/json-responses.ts"

/** An answer, and whether it was given before. */
type OnceAnswer = { readonly answer: string; readonly isReplay: boolean }

/** What answering once needs. */
export type AnswerOnceDeps = { readonly store: Store; readonly clock: Clock }

/**
 * Gives what `work` gives, and the same again to a request with the same `Idempotency-Key` and body, on any node. `work` stores its answer
 * by `record`, in the transaction in which it does what must not be done twice; nothing else of it may stay when that rejects. A request
 * that is refused has used no key.
 */
export async function answerOnce(
  { store, clock }: AnswerOnceDeps,
  exchange: Exchange,
  body: unknown,
  work: (record: RecordAnswer) => Promise<string>,
): Promise<OnceAnswer> {
  const key = idempotencyKeyOf(exchange.request)
  if (key === null) return { answer: await work(async () => undefined), isReplay: false }
  const { id: accountId } = callerOf(exchange).account
  const bodyMac = createBodyMark(key, [exchange.route, body]).text()
  const request = { accountId, keyHash: idempotencyKeyHash(accountId, key), bodyMac }
  const before = await replay(store, request)
  if (before !== null) return before
  try {
    const answer = await work((inner, text) => recordAnswer(inner, request, text, clock()))
    return { answer, isReplay: false }
  } catch (error) {
    const first = error instanceof RepeatedRequest ? await replay(store, request) : null
    if (first === null) throw error
    return first
  }
}

/** The response with an answer, which a header tells from one that was given before. */
export function onceResponse(
  responses: JsonResponses,
  { id, lease }: Exchange,
  { answer, isReplay }: OnceAnswer,
  status = 200,
): Response {
  const response = responses.serialized(answer, id, status, lease?.headers())
  if (isReplay) response.headers.set(REPLAYED_HEADER, "true")
  return response
}

async function replay(store: Store, request: IdempotentRequest): Promise<OnceAnswer | null> {
  const stored = await findRequest(store, request)
  if (stored === null) return null
  if (stored.kind === "running") throw stillRunning()
  if (stored.bodyMac !== request.bodyMac) throw otherRequest()
  return { answer: stored.answer, isReplay: true }
}
