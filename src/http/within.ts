import type { Pass } from "./pass.ts"

/** Does the work of a request that was let in, ends what is in flight however it ends, and has a refusal tell of limits. */
export function within<T>(pass: Pass, work: () => T | Promise<T>): T | Promise<T> {
  const failed = (error: unknown): never => {
    pass.leave()
    pass.tellRefusal()
    throw error
  }
  let result: T | Promise<T>
  try {
    result = work()
  } catch (error) {
    return failed(error)
  }
  if (!(result instanceof Promise)) {
    pass.leave()
    return result
  }
  return result.then(done => {
    pass.leave()
    return done
  }, failed)
}
