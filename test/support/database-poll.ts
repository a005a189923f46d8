import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { DatabasePoll } from "../../src/customers/store/poll/database-poll.ts"
import { NodeClaims } from "../../src/customers/store/poll/node-claims.ts"

/** A poll over a store that asks when the test says so, and once it has started also at notifications; and claims of a node of one process. */
export function pollOver(
  store: OpenStore,
  clock: () => number = Date.now,
  onError: (error: unknown) => void = failTest,
) {
  const claims = new NodeClaims(clock)
  const runInterval = () => () => undefined
  return { claims, poll: new DatabasePoll({ store, clock, claims, runInterval, onError, stopwatch: clock }) }
}

function failTest(error: unknown): never {
  throw error
}
