/** Calls `work` once after `ms` milliseconds; the returned function calls it off. */
export type Later = (ms: number, work: () => void) => () => void
