import { Type as t } from "@sinclair/typebox"
import { TypeCompiler } from "@sinclair/typebox/compiler"
import { type Challenge, createChallenge, verifySolution } from "altcha-lib"
import { deriveKey } from "altcha-lib/algorithms/pbkdf2"
import type { Clock, Random } from "../../base/outside-world.ts"
import { parseJson } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { FreeCheckKeys } from "./derived-keys.ts"

/** What the browser of a visitor computes; the page of the pass has a worker for it. */
export const CHALLENGE_ALGORITHM = "PBKDF2/SHA-256"

const CHALLENGE_MS = LIMITS.challengeMinutes * 60_000

/** A solution with its challenge takes about 900 octets. */
const SOLUTION_LENGTH_MAX = 4096

/** A signed challenge, as altcha's widget takes it. */
export type { Challenge }

/** What came of a solution that was sent. */
export type SolutionResult =
  | { readonly kind: "solved"; readonly nonce: string }
  /** It was ours, and is too old. */
  | { readonly kind: "expired" }
  /** It is none, solves nothing, or is of another installation. */
  | { readonly kind: "refused" }

/**
 * Makes a challenge that nobody keeps: the key that signs it tells that it is ours. When it expires is part of what is
 * signed, by our clock; altcha's own member for that would be held against the visitor's clock too, which may be wrong. To
 * make one takes 0.8 ms, off the main thread.
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

/** Whether a text, as altcha's widget sends it, solves a challenge of ours. That it is worth a pass once only is told by `issuePass`. */
export async function checkSolution(keys: FreeCheckKeys, clock: Clock, text: string): Promise<SolutionResult> {
  if (text.length > SOLUTION_LENGTH_MAX) return REFUSED
  const sent = parseJson(Buffer.from(text, "base64").toString("latin1"))
  if (!solutionPayload.Check(sent)) return REFUSED
  const { challenge, solution } = sent
  const { verified: isVerified } = await verifySolution({
    // What else stands in it is signed too, or the signature does not hold.
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

const solutionPayload = TypeCompiler.Compile(
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
)
