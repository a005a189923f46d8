import { createHash } from "node:crypto"
import { LIMITS } from "../../../contract/limits.ts"
import { type WiderNetwork, widerNetworks } from "../../../customers/quota/client-networks.ts"
import type { RateLimit, RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { mailboxOf } from "../../../customers/sign-in/wrong-codes.ts"
import { rateLimited } from "../../response/problem.ts"

/** Limits how often visitors may request sign-ins and try codes. Each method throws `rate_limited` over its limit. */
export type SignInLimits = {
  /** Counts a request for a sign-in, valid or not, by the client and the networks around it. */
  readonly admitRequest: (request: Request) => void
  /**
   * Counts a mail to the mailbox of this address, whether it has an account or not, and all mails together. Of these a part is for
   * visitors with a pass: `pass_required` means that the other part is used up just now, and counts nothing.
   */
  readonly admitEmail: (email: string, hasPass?: boolean) => "admitted" | "pass_required"
  /** Counts a submitted link or code by the client and the networks around it. */
  readonly admitProof: (request: Request) => void
}

type SignInLimit = {
  readonly rate: RateLimit
  /** The first sentence of the problem's detail. */
  readonly message: string
}

/** The limits of a client and of the networks around it, by the length of their prefix. */
type ClientLimits = { readonly client: SignInLimit } & { readonly [prefix in WiderNetwork["prefix"]]: SignInLimit }

/** A burst that is one visitor's, then one in so many seconds. */
const visitorLimit = (burst: number, seconds: number, message: string): SignInLimit => ({
  rate: { perSecond: 1 / seconds, burst, isBurstWhole: true },
  message,
})

const TOO_MANY_REQUESTS = "Your network sent too many sign-ins."
const NETWORK_REQUESTS = visitorLimit(LIMITS.signInsPerNetworkMax, LIMITS.signInPerNetworkSeconds, TOO_MANY_REQUESTS)
const REQUESTS: ClientLimits = {
  client: visitorLimit(LIMITS.signInsPerClientMax, LIMITS.signInPerClientSeconds, TOO_MANY_REQUESTS),
  24: NETWORK_REQUESTS,
  56: NETWORK_REQUESTS,
  48: visitorLimit(LIMITS.signInsPerSiteMax, LIMITS.signInPerSiteSeconds, TOO_MANY_REQUESTS),
}

const TOO_MANY_PROOFS = "Your network tried too many codes and links."
const NETWORK_PROOFS = visitorLimit(
  LIMITS.signInProofsPerNetworkMax,
  LIMITS.signInProofPerNetworkSeconds,
  TOO_MANY_PROOFS,
)
const PROOFS: ClientLimits = {
  client: visitorLimit(LIMITS.signInProofsPerClientMax, LIMITS.signInProofPerClientSeconds, TOO_MANY_PROOFS),
  24: NETWORK_PROOFS,
  56: NETWORK_PROOFS,
  48: visitorLimit(LIMITS.signInProofsPerSiteMax, LIMITS.signInProofPerSiteSeconds, TOO_MANY_PROOFS),
}

const MAILS_PER_ADDRESS = visitorLimit(
  LIMITS.signInsPerAddressMax,
  LIMITS.signInPerAddressSeconds,
  "We sent too many emails to this address. Use the code from the latest one.",
)

/** All mails are limited in two parts, so that visitors without a pass cannot use up the part of those who have one. */
const mailsOfAll = (percent: number): SignInLimit => ({
  rate: {
    perSecond: percent / 100 / LIMITS.signInGlobalSeconds,
    burst: (LIMITS.signInsGlobalMax * percent) / 100,
  },
  message: "Too many people are signing in right now.",
})
const MAILS_WITHOUT_PASS = mailsOfAll(LIMITS.signInsWithoutPassPercent)
const MAILS_WITH_PASS = mailsOfAll(100 - LIMITS.signInsWithoutPassPercent)

/** Builds the limits. `rates` stores no email in clear: its keys hold hashes. */
export function createSignInLimits(rates: RateLimiter, clientOf: (request: Request) => string): SignInLimits {
  const admit = (subject: string, { rate, message }: SignInLimit): void => {
    const { waitS } = rates.admit(subject, rate)
    if (waitS > 0) throw rateLimited(`${message} Try again in ${formatWait(waitS)}.`, waitS, rate.burst)
  }
  const admitClient = (what: string, request: Request, limits: ClientLimits): void => {
    const client = clientOf(request)
    admit(`${what} from ${client}`, limits.client)
    for (const { prefix, name } of widerNetworks(client)) admit(`${what} from ${name}`, limits[prefix])
  }
  return {
    admitRequest: request => admitClient("sign-ins", request, REQUESTS),
    admitEmail: (email, hasPass = false) => {
      const isOpen = rates.admit("sign-ins", MAILS_WITHOUT_PASS.rate).waitS === 0
      if (!isOpen && !hasPass) return "pass_required"
      if (!isOpen) admit("sign-ins with a pass", MAILS_WITH_PASS)
      admit(`sign-ins to ${createHash("sha256").update(mailboxOf(email)).digest("hex")}`, MAILS_PER_ADDRESS)
      return "admitted"
    },
    admitProof: request => admitClient("proofs of sign-ins", request, PROOFS),
  }
}

const MINUTE_S = 60

function formatWait(waitS: number): string {
  if (waitS === 1) return "one second"
  if (waitS <= MINUTE_S) return `${waitS} seconds`
  return `${Math.ceil(waitS / MINUTE_S)} minutes`
}
