/** How long one step of a test is waited for: far longer than it takes on a busy machine, and less than tests have. */
const STEP_MS = 240_000

/** What the work comes to. Rejects with what `tell` says then when that takes longer. */
export async function bounded<T>(work: Promise<T>, tell: () => string, limitMs: number = STEP_MS): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no end within ${limitMs} ms: ${tell()}`)), limitMs)
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
