import { onAbort } from "./abort.ts"
import { exchange } from "./exchange.ts"
import type { ClientSettings } from "./options.ts"
import type { Failure } from "./outcome.ts"
import type { ClientPlatform } from "./platform.ts"
import { retryDelayMs } from "./retry.ts"
import type { ClientStatistics } from "./statistics.ts"

/** What a call asks for. */
export type ClientRequest<R> = {
  readonly path: string
  /** Null: a GET. */
  readonly body: string | null
  readonly isAnswer: (value: unknown) => value is R
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

/** A wait that would not end before the deadline is not begun. */
export function createRequests(
  platform: ClientPlatform,
  settings: ClientSettings,
  statistics: ClientStatistics,
): ClientRequests {
  return async request => {
    const { path, body, isAnswer, retries, timeoutMs, signal } = request
    const requestId = platform.newId()
    const endsAt = platform.now() + timeoutMs
    const leftMs = (): number => (request.hasDeadline ? endsAt - platform.now() : timeoutMs)
    for (let tries = 1; ; tries++) {
      statistics.count("requests")
      const ended = await exchange(platform, {
        ...{ url: settings.url + path, headers: settings.headers, body, requestId, isAnswer, signal },
        timeoutMs: Math.max(1, leftMs()),
      })
      if (ended.kind === "answer") return { ...ended, requestId }
      if (tries > retries) return ended
      const delayMs = retryDelayMs(ended.failure, tries, settings.retryWaitMaxMs, platform.random)
      const isTooLong = delayMs === null || (request.hasDeadline && delayMs >= leftMs())
      if (isTooLong || !(await waited(platform, delayMs, signal))) return ended
      statistics.count("retries")
    }
  }
}

/** Whether the wait ended by itself, and not because the call was aborted. */
function waited(platform: ClientPlatform, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
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
