/**
 * Between which instants something began that lasts for `lifeMs` and is not over. What a clock far ahead has dated long after
 * now is over as well: it must not last for years.
 */
export const begunBetween = (nowMs: number, lifeMs: number): readonly [number, number] => [
  nowMs - lifeMs,
  nowMs + lifeMs,
]
