import { withTimeout } from "../../base/concurrency.ts"
import { parseLocalTarget } from "../../check/fetch/fetch-target.ts"
import { createGuardedPost, createLocalPost } from "../../check/fetch/guarded-fetch.ts"
import { CALLBACK_LIMITS } from "../../contract/callbacks.ts"
import { CALLBACKS_POLLED } from "../../customers/jobs/callback-queue.ts"
import { CallbackSender, type PostCallback } from "../../customers/jobs/callback-sender.ts"
import type { NetworkService } from "../check/network.ts"
import type { StoreContext } from "../context.ts"
import { formatUserAgent } from "../program.ts"

/** How long a stop waits for receivers. What they were sent is sent again later, with the same id. */
const STOP_TIMEOUT_MS = 2000

/** Sends the callbacks of jobs in the background. Without DNS, and without requests to other hosts, none is sent: they wait, and are given up like all others. */
export function createCallbacksService(
  { system, settings, store, log, poll }: StoreContext,
  { queryDns }: Pick<NetworkService, "queryDns">,
) {
  const { clock, stopwatch, random, setTimer } = system
  const post = createCallbackPost({ system, settings }, queryDns)
  const sender = new CallbackSender({ store, clock, stopwatch, random, post, log })
  poll.add({
    columns: { callbacksDue: CALLBACKS_POLLED },
    observe: ({ rows: [{ callbacksDue }] }) => callbacksDue === 1 && void sender.sendDue(),
  })
  return {
    stop: async () => {
      await withTimeout(setTimer, STOP_TIMEOUT_MS, sender.stop(), undefined)
    },
  }
}

type CallbackPostDeps = Pick<StoreContext, "settings"> & {
  readonly system: Pick<StoreContext["system"], "connect" | "setTimer">
}

/** The POST of callbacks: guarded, and to this host where `MAILKIND_CALLBACKS` is `local`. */
export function createCallbackPost(
  { system, settings }: CallbackPostDeps,
  queryDns: NetworkService["queryDns"],
): PostCallback {
  const timeoutMs = CALLBACK_LIMITS.timeoutSeconds * 1000
  const own = { connect: system.connect, setTimer: system.setTimer, userAgent: formatUserAgent(settings) }
  const postLocally = settings.MAILKIND_CALLBACKS === "local" ? createLocalPost(own, timeoutMs) : null
  const postOutside =
    queryDns === null
      ? async () => ({ known: false, cause: "dns_unavailable" }) as const
      : settings.MAILKIND_OUTSIDE === "off"
        ? async () => ({ known: false, cause: "outside_off" }) as const
        : createGuardedPost({ ...own, resolver: queryDns }, timeoutMs)
  return (url, request) =>
    postLocally !== null && parseLocalTarget(url) !== null ? postLocally(url, request) : postOutside(url, request)
}
