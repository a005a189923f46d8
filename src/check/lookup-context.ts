import type { Deadline } from "../base/concurrency.ts"
import { SingleFlight } from "../base/single-flight.ts"
import type { NetworkEvidence } from "./evidence-defects.ts"

/** What checks share that belong together. */
export type LookupContext = {
  /** Whether the answers are of use to nobody else, so that they must not displace what others have cached. */
  readonly isApart: boolean
  /** Complete evidence that was gathered since this moment is used, fresh or not. */
  readonly sinceMs: number
  /** Joins the lookup of the key, or starts it with `lookup` and a deadline. */
  readonly lookup: (
    key: string,
    createDeadline: () => Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ) => Promise<NetworkEvidence>
}

/**
 * What the checks of a batch share: one deadline, and one lookup for each domain. The deadline starts with the first lookup
 * that has to wait. The creator closes the context when all checks are done.
 */
export class BatchContext implements LookupContext {
  readonly isApart = false
  readonly sinceMs = Number.POSITIVE_INFINITY
  readonly #lookups = new Map<string, Promise<NetworkEvidence>>()
  #deadline: Deadline | null = null

  /** Joins the lookup of the key, or starts it with `lookup` and the deadline that all share. */
  lookup(
    key: string,
    createDeadline: () => Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ): Promise<NetworkEvidence> {
    return this.#lookups.getOrInsertComputed(key, () => {
      this.#deadline ??= createDeadline()
      return lookup(this.#deadline)
    })
  }

  /** Cancels the deadline's timer. */
  close(): void {
    this.#deadline?.cancel()
  }
}

/**
 * What the checks of a list share: each domain is looked up once at a time, and what is found is used to the end of the list. A lookup that
 * failed, or only in part, is made again when the domain comes up again.
 */
export class ListContext implements LookupContext {
  readonly isApart = true
  readonly sinceMs: number
  readonly #lookups = new SingleFlight<string, NetworkEvidence>()

  /** `sinceMs`: when the list began. */
  constructor(sinceMs: number) {
    this.sinceMs = sinceMs
  }

  lookup(
    key: string,
    createDeadline: () => Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ): Promise<NetworkEvidence> {
    return this.#lookups.run(key, () => {
      const deadline = createDeadline()
      return lookup(deadline).finally(() => deadline.cancel())
    })
  }
}
