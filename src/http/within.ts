import type { Pass } from "./pass.ts"

/** What is done when the work of a request that was let in failed: what is in flight ends, and the refusal tells of limits. */
export function failing(pass: Pass): (error: unknown) => never {
  return error => {
    pass.leave()
    pass.tellRefusal()
    throw error
  }
}

/** Does the work of a request that was let in, ends what is in flight however it ends, and has a refusal tell of limits. */
export function within<T>(pass: Pass, work: () => T | Promise<T>): T | Promise<T> {
  let result: T | Promise<T>
  try {
    result = work()
  } catch (error) {
    return failing(pass)(error)
  }
  if (!(result instanceof Promise)) {
    pass.leave()
    return result
  }
  return result.then(done => {
    pass.leave()
    return done
  }, failing(pass))
}
