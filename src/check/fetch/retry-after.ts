/**
 * How long a server asks to be left alone, in milliseconds, by its `Retry-After` (RFC 9110 §10.2.3: seconds, or a date);
 * null when there is none, or it is neither.
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  if (SECONDS.test(value)) return Number(value) * 1000
  const until = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(until) ? null : Math.max(0, until - nowMs)
}

const SECONDS = /^\d{1,9}$/
/** The forms of a date that name their zone (RFC 9110 §5.6.7); the third, asctime's, is obsolete and says nothing here. */
const HTTP_DATE = /^[A-Za-z]+, [\w :-]{8,30} GMT$/
