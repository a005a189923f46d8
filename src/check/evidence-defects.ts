import type { EvidenceKind } from "../contract/metrics.ts"

/** Receives a defect of ours that ended the reading of evidence. It must not throw. */
export type OnDefect = (kind: EvidenceKind, error: unknown) => void

/** For checks whose defects nobody counts. */
export const IGNORE_DEFECTS: OnDefect = () => undefined

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
