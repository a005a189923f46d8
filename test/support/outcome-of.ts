/**
 * Waits for the work and gives its end as a function, which returns what it resolved with or throws what it rejected
 * with: `expect(await outcomeOf(work)).toThrow("…")`.
 *
 * `expect(work).rejects` is no such wait. Bun runs the event loop inside of it, and what had come in beside is lost when
 * that returns (github.com/oven-sh/bun/issues/33261): the output of another child is never read to its end.
 */
export async function outcomeOf<T>(work: T | Promise<T>): Promise<() => T> {
  try {
    const value = await work
    return () => value
  } catch (fault) {
    return () => {
      throw fault
    }
  }
}
