import { CompressedCache } from "../base/compressed-cache.ts"
import type { Deadline } from "../base/concurrency.ts"
import type { Finding } from "../base/finding.ts"
import type { NetworkEvidence } from "./evidence-defects.ts"

/** What checks share that belong together. */
export type LookupContext = {
  /** Whether the answers are of use to nobody else, so that they must not displace what others have cached. */
  readonly isApart: boolean
  /** Gives the evidence of the key, which is there or is looked up with `lookup` under a deadline. */
  readonly lookup: (
    key: string,
    createDeadline: () => Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ) => NetworkEvidence | Promise<NetworkEvidence>
}

/**
 * What the checks of a batch share: one deadline, and one lookup for each domain. The deadline starts with the first lookup
 * that has to wait. The creator closes the context when all checks are done.
 */
export class BatchContext implements LookupContext {
  readonly isApart = false
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

/** How much memory the evidence of one list takes at most: that of some 300 000 domains. */
const LIST_EVIDENCE_BYTES_MAX = 16 * 1_048_576

/**
 * What the checks of a list share: each domain is looked up once, however long the list is, and what is found is used to its end. A
 * lookup that failed, or only in part, is made again when the domain comes up again.
 */
export class ListContext implements LookupContext {
  readonly isApart = true
  readonly #found = new CompressedCache<NetworkEvidence>(LIST_EVIDENCE_BYTES_MAX)
  readonly #lookups = new Map<string, Promise<NetworkEvidence>>()

  lookup(
    key: string,
    createDeadline: () => Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ): NetworkEvidence | Promise<NetworkEvidence> {
    const running = this.#lookups.get(key)
    if (running !== undefined) return running
    const found = this.#found.get(key)
    if (found !== undefined) return found
    const started = this.#lookUp(key, createDeadline(), lookup)
    this.#lookups.set(key, started)
    return started
  }

  async #lookUp(
    key: string,
    deadline: Deadline,
    lookup: (deadline: Deadline) => Promise<NetworkEvidence>,
  ): Promise<NetworkEvidence> {
    try {
      const evidence = await lookup(deadline)
      if (isComplete(evidence)) this.#found.set(key, { ...evidence, isCached: true })
      return evidence
    } finally {
      deadline.cancel()
      this.#lookups.delete(key)
    }
  }
}

/** Whether everything that was asked about is known. */
const isComplete = ({ mail, suites, tenant }: NetworkEvidence): boolean =>
  mail.known && [mail.value.spf, mail.value.dmarcPolicy, suites, tenant].every(isAnswered)

const isAnswered = (finding: Finding<unknown>): boolean => finding.known || finding.cause === "not_asked"
