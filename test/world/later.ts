import type { Later } from "../../src/base/timer.ts"

/** The real timer. It does not keep a process alive. */
export const later: Later = (ms, work) => {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
