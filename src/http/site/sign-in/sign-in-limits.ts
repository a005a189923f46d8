import { createHash } from "node:crypto"
import { LIMITS } from "../../../contract/limits.ts"
import type { RateLimit, RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { Problem } from "../../response/problem.ts"

/** Holds visitors to how often they may ask for sign-ins and try codes. What is too much is thrown as `rate_limited`. */
export type SignInLimits = {
  /** Somebody asks for a sign-in; it counts whatever is asked for. */
  readonly admitRequest: (request: Request) => void
  /** A sign-in is asked for this email, be there an account or not. */
  readonly admitEmail: (email: string) => void
  /** Somebody brings a link or a code. */
  readonly admitProof: (request: Request) => void
}

type SignInLimit = {
  readonly rate: RateLimit
  /** What was too much, as a sentence begins. */
  readonly message: string
}

const REQUESTS_PER_CLIENT: SignInLimit = {
  rate: { perSecond: 1 / LIMITS.signInPerClientSeconds, burst: LIMITS.signInsPerClientMax, isBurstWhole: true },
  message: "Too many sign-ins were asked for from your network.",
}
const MAILS_PER_ADDRESS: SignInLimit = {
  rate: { perSecond: 1 / LIMITS.signInPerAddressSeconds, burst: LIMITS.signInsPerAddressMax, isBurstWhole: true },
  message: "Too many mails were asked for to this address. Use the latest one, or wait.",
}
const REQUESTS_OF_ALL: SignInLimit = {
  rate: { perSecond: 1 / LIMITS.signInGlobalSeconds, burst: LIMITS.signInsGlobalMax },
  message: "Too many people ask to sign in just now.",
}
const PROOFS_PER_CLIENT: SignInLimit = {
  rate: {
    perSecond: 1 / LIMITS.signInProofPerClientSeconds,
    burst: LIMITS.signInProofsPerClientMax,
    isBurstWhole: true,
  },
  message: "Too many links and codes were tried from your network.",
}

/** Builds the limits over the rates of callers without a key, which hold no address in clear. */
export function createSignInLimits(rates: RateLimiter, clientOf: (request: Request) => string): SignInLimits {
  const admit = (subject: string, { rate, message }: SignInLimit): void => {
    const { waitS } = rates.admit(subject, rate)
    if (waitS === 0) return
    throw new Problem("rate_limited", `${message} It goes on in ${formatWait(waitS)}.`, {
      retry_after: waitS,
      limit: rate.burst,
    })
  }
  return {
    admitRequest: request => admit(`sign-ins from ${clientOf(request)}`, REQUESTS_PER_CLIENT),
    admitEmail: email => {
      admit(`sign-ins to ${createHash("sha256").update(email).digest("hex")}`, MAILS_PER_ADDRESS)
      admit("sign-ins", REQUESTS_OF_ALL)
    },
    admitProof: request => admit(`proofs of sign-ins from ${clientOf(request)}`, PROOFS_PER_CLIENT),
  }
}

const MINUTE_S = 60

function formatWait(waitS: number): string {
  if (waitS === 1) return "a second"
  if (waitS <= MINUTE_S) return `${waitS} seconds`
  return `${Math.ceil(waitS / MINUTE_S)} minutes`
}
