import { KeyedSemaphore } from "../../base/concurrency.ts"
import { LIMITS } from "../../contract/limits.ts"

/** So many changes of one owner wait already that another one is refused. */
export class TooManyChanges extends Error {
  override readonly name = "TooManyChanges"
}

const turns = new KeyedSemaphore<string>(1, LIMITS.accountChangesWaitingMax)

/**
 * Runs work that changes what an owner has, one after the other for each owner in this process. Such work locks a row of its owner: what
 * waits for that in the database holds a connection, so that one owner could take all of them (DECISIONS 159). Rejects with `TooManyChanges`.
 */
export async function inTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
  const release = await turns.acquire(owner)
  if (release === null) throw new TooManyChanges()
  try {
    return await work()
  } finally {
    release()
  }
}
