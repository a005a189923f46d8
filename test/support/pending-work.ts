/** How long work that does not end is waited for: a test may hold a transaction open on purpose. */
const HELD_MS = 2000

const underWay = new Set<Promise<unknown>>()

/** Notes work that takes place outside of this process, such as that of a database server, and gives it back. */
export function trackPending<T>(work: Promise<T>): Promise<T> {
  underWay.add(work)
  const end = (): void => void underWay.delete(work)
  work.then(end, end)
  return work
}

/** Waits until one piece of the work that is under way has ended. Gives false when there is none, or none ends. */
export async function pendingSettled(): Promise<boolean> {
  if (underWay.size === 0) return false
  const held = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => held.resolve(false), HELD_MS)
  const ended = Promise.race([...underWay].map(work => work.catch(() => undefined))).then(() => true)
  return await Promise.race([ended, held.promise]).finally(() => clearTimeout(timer))
}
