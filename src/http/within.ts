import type { Pass } from "./admission.ts"

/** Does the work of a request that was let in, and ends what is in flight however it ends. */
export function within<T>(pass: Pass, work: () => T | Promise<T>): T | Promise<T> {
  let result: T | Promise<T>
  try {
    result = work()
  } catch (error) {
    pass.leave()
    throw error
  }
  if (result instanceof Promise) return result.finally(pass.leave)
  pass.leave()
  return result
}
