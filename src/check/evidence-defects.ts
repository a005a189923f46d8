import { type Finding, NOT_QUERIED, unknown } from "../base/finding.ts"
import type { EvidenceKind } from "../contract/metrics.ts"
import type { CacheStatus } from "./cache-status.ts"
import type { DetectedSuites, Evidence, MailEvidence, Tenant } from "./verdict/evidence.ts"

/** What DNS and the tenant endpoints tell about a domain. */
export type NetworkEvidence = CacheStatus & {
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  readonly tenant: Finding<Tenant | null>
}

/** What a deep check adds: the domain's age and what its homepage is. */
export type DeepEvidence = CacheStatus &
  Pick<Evidence, "ageDays" | "homepage"> & {
    /** The homepage was fetched for this check, with whatever result. */
    readonly wasFetched: boolean
  }

/** Receives a defect of ours that ended the reading of evidence. It must not throw. */
export type OnDefect = (kind: EvidenceKind, error: unknown) => void

/** For checks whose defects nobody counts. */
export const IGNORE_DEFECTS: OnDefect = () => undefined

/** Evidence of the network that could not be read. It is not cached. */
export const FAILED_EVIDENCE: NetworkEvidence = {
  mail: unknown("unavailable"),
  suites: unknown("unavailable"),
  tenant: NOT_QUERIED,
  isCached: false,
  freshUntilMs: 0,
}

/** Evidence of a deep check that could not be read: nothing is known, and nothing was fetched. */
export const DEEP_UNAVAILABLE: DeepEvidence = {
  ageDays: unknown("unavailable"),
  homepage: unknown("unavailable"),
  wasFetched: false,
  isCached: false,
  freshUntilMs: 0,
}

/**
 * Reads evidence with two arguments, so that a hot path makes no closure. A defect of ours, thrown or rejected, is reported and gives
 * `unavailable` in place of the evidence: who can cause it for a domain must not decide the status of the answer (`DECISIONS 110`).
 */
export function readEvidence<T, A, B>(
  kind: EvidenceKind,
  onDefect: OnDefect,
  unavailable: T,
  read: (first: A, second: B) => T | Promise<T>,
  first: A,
  second: B,
): T | Promise<T> {
  try {
    const evidence = read(first, second)
    return evidence instanceof Promise ? withoutRejection(kind, onDefect, unavailable, evidence) : evidence
  } catch (error) {
    onDefect(kind, error)
    return unavailable
  }
}

const withoutRejection = <T>(kind: EvidenceKind, onDefect: OnDefect, unavailable: T, evidence: Promise<T>) =>
  evidence.catch((error: unknown): T => {
    onDefect(kind, error)
    return unavailable
  })
