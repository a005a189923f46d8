/** How something was found: `skipped` was not looked at, and `seen` says why. */
export const VERDICTS = ["ok", "warning", "failed", "skipped"] as const
export type Verdict = (typeof VERDICTS)[number]

/** What an examination came to. No sentence holds a secret, or an address of a person. */
export type Examined = {
  readonly verdict: Verdict
  /** What was seen, in a sentence or two. */
  readonly seen: string
  /** What an operator does about it, in a sentence; null: nothing. */
  readonly remedy: string | null
}

/** All is well. */
export const well = (seen: string): Examined => ({ verdict: "ok", seen, remedy: null })

/** It works, and something about it should be mended. */
export const doubtful = (seen: string, remedy: string): Examined => ({ verdict: "warning", seen, remedy })

/** It does not work. */
export const failing = (seen: string, remedy: string): Examined => ({ verdict: "failed", seen, remedy })

/** It was not looked at. */
export const skipped = (why: string): Examined => ({ verdict: "skipped", seen: why, remedy: null })
