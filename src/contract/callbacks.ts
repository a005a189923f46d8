/** The events of a job for which its callback URL gets a request. */
export const CALLBACK_EVENTS = {
  "job.done": { description: "All rows are checked.", transition: "finish" },
  "job.stopped": { description: "The check waits, and continues by itself. `reason` says for what.", transition: "stop" },
  "job.failed": { description: "The check ended early, and `reason` says why.", transition: "fail" },
} as const satisfies Record<string, { readonly description: string; readonly transition: "finish" | "stop" | "fail" }>
export type CallbackEvent = keyof typeof CALLBACK_EVENTS

export const CALLBACK_EVENT_NAMES = Object.keys(CALLBACK_EVENTS) as readonly CallbackEvent[]

/** How a callback ended. */
export const CALLBACK_ENDINGS = {
  delivered: { description: "Delivered" },
  gone: { description: "Ended: the receiver answered 410, so this list sends no more" },
  given_up: { description: "Given up after the last attempt" },
} as const satisfies Record<string, { readonly description: string }>
export type CallbackEnding = keyof typeof CALLBACK_ENDINGS

/** The bounds of callbacks. */
export const CALLBACK_LIMITS = {
  urlLengthMax: 2048,
  /** How long a receiver may take to answer. */
  timeoutSeconds: 15,
  /** The pause after each failed attempt. After the attempt that follows the last pause, about a day later, a callback is given up. */
  retrySeconds: [5, 60, 300, 1800, 7200, 18_000, 28_800, 28_800],
  /** How long the former secret signs too after it was replaced. */
  formerSecretHours: 24,
  secretBytes: 32,
} as const
