import { afterAll } from "bun:test"

/**
 * Has `end` done when the test that runs is over, or, where none runs, the test file: the latest of a test goes first.
 * What a helper opens is ended so, and never by a hook at its top level: Bun evaluates a module once for all test files,
 * and such a hook would be the first one's only. It throws in concurrent tests.
 */
export function onTestEnd(end: () => unknown): void {
  afterAll(async () => {
    await end()
  })
}
