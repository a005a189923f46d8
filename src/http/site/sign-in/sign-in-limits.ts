import { createHash } from "node:crypto"
import { LIMITS } from "../../../contract/limits.ts"
import type { RateLimit, RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { rateLimited } from "../../response/problem.ts"

/** Limits how often visitors may request sign-ins and try codes. Each method throws `rate_limited` over its limit. */
export type SignInLimits = {
  /** Counts a request for a sign-in, valid or not, by the client's network. */
  readonly admitRequest: (request: Request) => void
  /** Counts a mail to this address, whether it has an account or not, and all mails together. */
  readonly admitEmail: (email: string) => void
  /** Counts a submitted link or code by the client's network. */
  readonly admitProof: (request: Request) => void
}

type SignInLimit = {
  readonly rate: RateLimit
  /** The first sentence of the problem's detail. */
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

/** Builds the limits. `rates` stores no email in clear: its keys hold hashes. */
export function createSignInLimits(rates: RateLimiter, clientOf: (request: Request) => string): SignInLimits {
  const admit = (subject: string, { rate, message }: SignInLimit): void => {
    const { waitS } = rates.admit(subject, rate)
    if (waitS > 0) throw rateLimited(`${message} It goes on in ${formatWait(waitS)}.`, waitS, rate.burst)
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
