import { createHash } from "node:crypto"
import { LIMITS } from "../../../contract/limits.ts"
import type { Rate, RateLimiter } from "../../../customers/quota/rate-limiter.ts"
import { Problem } from "../../problem.ts"

/** Holds visitors to how often they may ask for sign-ins and try codes. What is too much is thrown as `rate_limited`. */
export type SignInLimits = {
  /** Somebody asks for a sign-in; it counts whatever is asked for. */
  readonly asks: (request: Request) => void
  /** A sign-in is asked for this email, be there an account or not. */
  readonly asksFor: (email: string) => void
  /** Somebody brings a link or a code. */
  readonly brings: (request: Request) => void
}

type Bound = {
  readonly rate: Rate
  /** What was too much, as a sentence begins. */
  readonly says: string
}

const OF_CLIENT: Bound = {
  rate: { perSecond: 1 / LIMITS.signInPerClientSeconds, burst: LIMITS.signInsPerClientMax, isBurstWhole: true },
  says: "Too many sign-ins were asked for from your network.",
}
const OF_ADDRESS: Bound = {
  rate: { perSecond: 1 / LIMITS.signInPerAddressSeconds, burst: LIMITS.signInsPerAddressMax, isBurstWhole: true },
  says: "Too many mails were asked for to this address. Use the latest one, or wait.",
}
const OF_ALL: Bound = {
  rate: { perSecond: 1 / LIMITS.signInOfAllSeconds, burst: LIMITS.signInsOfAllMax },
  says: "Too many people ask to sign in just now.",
}
const OF_PROOFS: Bound = {
  rate: {
    perSecond: 1 / LIMITS.signInProofPerClientSeconds,
    burst: LIMITS.signInProofsPerClientMax,
    isBurstWhole: true,
  },
  says: "Too many links and codes were tried from your network.",
}

/** Builds the limits over the rates of callers without a key, which hold no address in clear. */
export function signInLimits(rates: RateLimiter, clientOf: (request: Request) => string): SignInLimits {
  const admit = (subject: string, { rate, says }: Bound): void => {
    const { waitS } = rates.admit(subject, rate)
    if (waitS === 0) return
    throw new Problem("rate_limited", `${says} It goes on in ${waitWords(waitS)}.`, {
      retry_after: waitS,
      limit: rate.burst,
    })
  }
  return {
    asks: request => admit(`sign-ins from ${clientOf(request)}`, OF_CLIENT),
    asksFor: email => {
      admit(`sign-ins to ${createHash("sha256").update(email).digest("hex")}`, OF_ADDRESS)
      admit("sign-ins", OF_ALL)
    },
    brings: request => admit(`proofs of sign-ins from ${clientOf(request)}`, OF_PROOFS),
  }
}

const MINUTE_S = 60

function waitWords(waitS: number): string {
  if (waitS === 1) return "a second"
  if (waitS <= MINUTE_S) return `${waitS} seconds`
  return `${Math.ceil(waitS / MINUTE_S)} minutes`
}
