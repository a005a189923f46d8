import type { Clock, Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"
import { issuePass, refundToPass, takeFromPass } from "./allowances.ts"
import { type Challenge, checkSolution, issueChallenge } from "./challenges.ts"
import { createFreeCheckKeys, type LoadFreeCheckKeys } from "./derived-keys.ts"

/** What a visitor brings: the secret of a pass and the solution of a challenge; empty: none was sent. */
export type PassProof = { readonly pass: string; readonly solution: string }

/** The pass that the browser should store: the secret of a new one, or none; null: unchanged. */
export type PassChange = { readonly secret: string | null } | null

/** The result of using one check of a pass. */
export type PassClaim = {
  readonly change: PassChange
  /** Gives the check back; null: there was no valid pass and no solution that earns one. */
  readonly refund: (() => Promise<void>) | null
  /** How many forged passes, and wrong or repeated solutions, were sent. */
  readonly wrongCount: number
}

/** Passes beyond the free checker: of visitors who ask to sign in while many do. Both functions reject when the store fails. */
export type Passes = {
  readonly challenge: () => Promise<Challenge>
  readonly claim: (proof: PassProof) => Promise<PassClaim>
}

/** What passes need. */
export type PassesDeps = { readonly store: Store; readonly clock: Clock; readonly random: Random }

/** Creates them over a store. */
export function createPasses(deps: PassesDeps): Passes {
  const keys = createFreeCheckKeys(deps.store, deps.random)
  return {
    challenge: async () => await issueChallenge(await keys(), deps.clock, deps.random),
    claim: proof => claimPass({ ...deps, keys }, proof),
  }
}

/** Uses one check of the pass, or of a new one if the solution earns one. */
export async function claimPass(
  deps: PassesDeps & { readonly keys: LoadFreeCheckKeys },
  { pass, solution }: PassProof,
): Promise<PassClaim> {
  const { store, clock } = deps
  const shown = pass === "" ? null : await takeFromPass(store, clock, pass)
  if (shown === "taken") return { change: null, refund: () => refundToPass(store, pass), wrongCount: 0 }
  const wrongPasses = shown === "forged" ? 1 : 0
  const redeemed = await redeemSolution(deps, solution)
  if (redeemed.kind === "earned") {
    const { secret } = redeemed
    return { change: { secret }, refund: () => refundToPass(store, secret), wrongCount: wrongPasses }
  }
  const wrongCount = wrongPasses + (redeemed.kind === "wrong" ? 1 : 0)
  return { change: shown === null ? null : { secret: null }, refund: null, wrongCount }
}

/** A new pass for the solution. A repeated solution is as wrong as a false one. */
async function redeemSolution(
  { store, clock, random, keys }: PassesDeps & { readonly keys: LoadFreeCheckKeys },
  solution: string,
): Promise<{ readonly kind: "earned"; readonly secret: string } | { readonly kind: "none" | "wrong" }> {
  if (solution === "") return { kind: "none" }
  const found = await checkSolution(await keys(), clock, solution)
  if (found.kind === "expired") return { kind: "none" }
  const secret = found.kind === "solved" ? await issuePass(store, clock, random, found.nonce) : null
  return secret === null ? { kind: "wrong" } : { kind: "earned", secret }
}
