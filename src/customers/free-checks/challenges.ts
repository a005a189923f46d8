import { Type as t } from "@sinclair/typebox"
import { TypeCompiler } from "@sinclair/typebox/compiler"
import { type Challenge, createChallenge, verifySolution } from "altcha-lib"
import { deriveKey } from "altcha-lib/algorithms/pbkdf2"
import { lazy } from "../../base/lazy.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { parseJson } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { FreeCheckKeys } from "./derived-keys.ts"

/** The computation for the visitor's browser, which does it in a worker. */
export const CHALLENGE_ALGORITHM = "PBKDF2/SHA-256"

const CHALLENGE_MS = LIMITS.challengeMinutes * 60_000

/** A solution with its challenge takes about 900 bytes. */
const SOLUTION_LENGTH_MAX = 4096

/** A signed challenge in the form of altcha's widget. */
export type { Challenge }

/** The result of verifying a solution. */
export type SolutionResult =
  | { readonly kind: "solved"; readonly nonce: string }
  /** Ours, but expired. */
  | { readonly kind: "expired" }
  /** Malformed, wrong, or from another installation. */
  | { readonly kind: "refused" }

/**
 * Creates a challenge. Nothing is stored: the signature proves that it is ours. Its expiry, by our clock, is signed too;
 * altcha's own member for it would also be compared with the visitor's clock, which may be wrong. Takes 0.8 ms, off the main
 * thread.
 */
export async function issueChallenge(keys: FreeCheckKeys, clock: Clock, random: Random): Promise<Challenge> {
  const [number = 0] = new Uint32Array(random(4).slice().buffer)
  return await createChallenge({
    algorithm: CHALLENGE_ALGORITHM,
    cost: LIMITS.challengeRounds,
    counter: 1 + (number % LIMITS.challengeCounterMax),
    data: { expires_at_ms: clock() + CHALLENGE_MS },
    deriveKey,
    hmacSignatureSecret: keys.challenge,
    hmacKeySignatureSecret: keys.solution,
  })
}

/** Verifies a solution as sent by altcha's widget. `issuePass` makes sure that it gives one pass only. */
export async function checkSolution(keys: FreeCheckKeys, clock: Clock, text: string): Promise<SolutionResult> {
  if (text.length > SOLUTION_LENGTH_MAX) return REFUSED
  const sent = parseJson(Buffer.from(text, "base64").toString("latin1"))
  if (!solutionPayload().Check(sent)) return REFUSED
  const { challenge, solution } = sent
  const { verified: isVerified } = await verifySolution({
    // All other members are covered by the signature.
    challenge,
    solution,
    deriveKey,
    hmacSignatureSecret: keys.challenge,
    hmacKeySignatureSecret: keys.solution,
  })
  if (!isVerified) return REFUSED
  const { nonce, data } = challenge.parameters
  return clock() < data.expires_at_ms ? { kind: "solved", nonce } : { kind: "expired" }
}

const REFUSED: SolutionResult = { kind: "refused" }

const solutionPayload = lazy(() =>
  TypeCompiler.Compile(
    t.Object({
      challenge: t.Object({
        parameters: t.Object({
          algorithm: t.Literal(CHALLENGE_ALGORITHM),
          cost: t.Integer(),
          keyLength: t.Integer(),
          keyPrefix: t.String(),
          nonce: t.String(),
          salt: t.String(),
          keySignature: t.String(),
          data: t.Object({ expires_at_ms: t.Integer() }),
        }),
        signature: t.String(),
      }),
      solution: t.Object({ counter: t.Integer(), derivedKey: t.String() }),
    }),
  ),
)
