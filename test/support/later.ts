import type { SetTimer } from "../../src/base/outside-world.ts"

/** The real timer. It does not keep a process alive. */
export const later: SetTimer = (ms, work) => {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
