import { onAbort } from "./abort.ts"
import { exchange, failed, type RequestBody, type WireRequest } from "./exchange.ts"
import { type CallOptions, type ClientSettings, readCount, readIdempotencyKey } from "./options.ts"
import type { Failure, Reply } from "./outcome.ts"
import type { ClientPlatform } from "./platform.ts"
import { retryDelayMs } from "./retry.ts"
import type { ClientStatistics } from "./statistics.ts"

/** What a call asks for. */
export type ClientRequest<R> = {
  readonly path: string
  readonly method?: WireRequest<R>["method"]
  readonly body: RequestBody | null
  readonly contentType?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly isAnswer: (value: unknown) => value is R
  /** Whether it is repeated only when the server has refused it with a problem: everything else may mean that it was accepted. */
  readonly retriesOnlyRefusals?: boolean | undefined
  readonly retries: number
  /** Of each try, and of the call as a whole if it has a deadline. */
  readonly timeoutMs: number
  /** Whether all tries and waits together end within `timeoutMs`: somebody waits. */
  readonly hasDeadline: boolean
  readonly signal: AbortSignal | undefined
}

/** How a call ends, and the id of all of its tries. */
export type ClientAnswer<R> =
  | { readonly kind: "answer"; readonly value: R; readonly maxAgeMs: number; readonly requestId: string }
  | { readonly kind: "failure"; readonly failure: Failure }

/** Sends requests, each with its retries. */
export type ClientRequests = <R>(request: ClientRequest<R>) => Promise<ClientAnswer<R>>

/** What a call asks for, besides its options. */
export type SingleCall<R> = Omit<ClientRequest<R>, "retries" | "timeoutMs" | "hasDeadline" | "signal"> & {
  readonly hasDeadline?: boolean
}

/** A request with the options of its call. Unless `hasDeadline` is false, somebody waits: all tries together end within its time. */
export const singleRequest = <R>(
  settings: ClientSettings,
  call: SingleCall<R>,
  { timeoutMs, retries, signal }: CallOptions,
): ClientRequest<R> => ({
  ...{ hasDeadline: true, ...call, signal, idempotencyKey: readIdempotencyKey(call.idempotencyKey) },
  timeoutMs: readCount("timeoutMs", timeoutMs, settings.timeoutMs, 1),
  retries: readCount("retries", retries, settings.retries, 0),
})

/** Sends a request that is no check. */
export async function replyTo<R>(ask: ClientRequests, request: ClientRequest<R>): Promise<Reply<R>> {
  const ended = await ask(request)
  return ended.kind === "failure"
    ? { ...ended.failure, outcome: "unanswered" }
    : { outcome: "answered", result: ended.value, requestId: ended.requestId }
}

/** The reply with what is made of its result. */
export const mapped = <A, B>(reply: Reply<A>, use: (result: A) => B): Reply<B> =>
  reply.outcome === "answered" ? { ...reply, result: use(reply.result) } : reply

/** The query of a path with the parameters that are given; empty: there are none. */
export function queryText(query: Readonly<Record<string, string | boolean | number | undefined>>): string {
  const known = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return known.length === 0 ? "" : `?${new URLSearchParams(known)}`
}

/** Builds what sends requests over a platform. */
export function createRequests(
  platform: ClientPlatform,
  settings: ClientSettings,
  statistics: ClientStatistics,
): ClientRequests {
  /** Null: there is no next try. A wait that would not end before the deadline is not begun. */
  const nextDelayMs = (
    failure: Failure,
    tries: number,
    { retries, retriesOnlyRefusals = false }: Pick<ClientRequest<unknown>, "retries" | "retriesOnlyRefusals">,
    leftMs: number,
  ): number | null => {
    if (tries > retries || (retriesOnlyRefusals && !isRefusal(failure))) return null
    const delayMs = retryDelayMs(failure, tries, settings.retryWaitMaxMs, platform.random)
    return delayMs === null || delayMs >= leftMs ? null : delayMs
  }
  return async request => {
    const { path, method, body, contentType, idempotencyKey, isAnswer, timeoutMs, signal } = request
    const requestId = platform.newId()
    const endsAt = request.hasDeadline ? platform.now() + timeoutMs : Number.POSITIVE_INFINITY
    const leftMs = (): number => endsAt - platform.now()
    for (let tries = 1; ; tries++) {
      statistics.count("requests")
      const ended = await exchange(platform, {
        ...{
          url: settings.url + path,
          headers: settings.headers,
          method,
          body,
          contentType,
          idempotencyKey,
          requestId,
          isAnswer,
          signal,
        },
        timeoutMs: Math.max(1, Math.min(timeoutMs, leftMs())),
      })
      if (ended.kind === "answer") return { ...ended, requestId }
      const delayMs = nextDelayMs(ended.failure, tries, request, leftMs())
      if (delayMs === null) return ended
      if (!(await waited(platform, delayMs, signal))) return failed({ requestId }, "aborted")
      statistics.count("retries")
    }
  }
}

/** Whether the server has said that it did nothing, and may do it later. A gateway says so without a problem of the server's. */
const isRefusal = ({ status, problem }: Failure): boolean => problem !== undefined && (status === 429 || status === 503)

/** Whether the wait ended by itself, and not because the call was aborted. */
export function waited(platform: ClientPlatform, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false)
  // Node 20 has no `Promise.withResolvers`.
  return new Promise(resolve => {
    const unlisten = onAbort(signal, () => end(false))
    const cancel = platform.after(ms, () => end(true))
    const end = (isOver: boolean): void => {
      cancel()
      unlisten()
      resolve(isOver)
    }
  })
}
