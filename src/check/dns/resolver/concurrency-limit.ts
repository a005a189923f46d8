import { type Release, Semaphore } from "../../../base/concurrency.ts"
import { type Finding, unknown } from "../../../base/finding.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"

type ConcurrencyBounds = {
  /** How many questions are in flight. */
  readonly inFlightMax: number
  /** How many more wait, in the order of their arrival. */
  readonly waitingMax: number
}

/** Limits the questions that are in flight, and those that wait. Any further question is `unavailable` at once. */
export function withConcurrencyLimit(resolver: Resolver, { inFlightMax, waitingMax }: ConcurrencyBounds): Resolver {
  const semaphore = new Semaphore(inFlightMax, waitingMax)
  const resolveAndRelease = async (question: DnsQuestion, release: Release): Promise<Finding<DnsAnswer>> => {
    const finding = await resolver(question)
    release()
    return finding
  }
  return async question => {
    const free = semaphore.tryAcquire()
    if (free !== null) return resolveAndRelease(question, free)
    const waiting = semaphore.acquire()
    return waiting === null ? unknown("unavailable") : resolveAndRelease(question, await waiting)
  }
}
