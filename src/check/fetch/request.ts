/** Why a request has no response. */
type RequestFailure = { readonly kind: "failed" } | { readonly kind: "timed_out" }

/** Waits for a response until the deadline is aborted. A response that rejects is `failed`. It never rejects. */
export function settleRequest<T>(response: Promise<T>, deadline: AbortSignal): Promise<T | RequestFailure> {
  return new Promise(resolve => {
    const onTimeout = (): void => resolve({ kind: "timed_out" })
    if (deadline.aborted) onTimeout()
    deadline.addEventListener("abort", onTimeout, { once: true })
    response
      .then(resolve, () => resolve({ kind: "failed" }))
      .finally(() => deadline.removeEventListener("abort", onTimeout))
  })
}

/** The wait in a `Retry-After` header (RFC 9110 §10.2.3: seconds, or a date), in milliseconds; null: there is none, or it is malformed. */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  if (SECONDS.test(value)) return Number(value) * 1000
  const untilMs = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(untilMs) ? null : Math.max(0, untilMs - nowMs)
}

const SECONDS = /^\d{1,9}$/
/** The date formats with a zone (RFC 9110 §5.6.7). The asctime format is obsolete and ignored. */
const HTTP_DATE = /^[A-Za-z]+, [\w :-]{8,30} GMT$/
