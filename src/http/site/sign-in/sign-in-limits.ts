import { createHash } from "node:crypto"
import { LIMITS } from "../../../contract/limits.ts"
import { type WiderNetwork, widerNetworks } from "../../../customers/quota/client-networks.ts"
import type { RateLimit, RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { type RateSubject, rateSubject } from "../../../customers/quota/rate/rate-subject.ts"
import { mailboxOf } from "../../../customers/sign-in/wrong-codes.ts"
import type { Exchange } from "../../exchange.ts"
import { rateLimited } from "../../response/problem.ts"
import { formatCount } from "../ui/format.ts"

/** Limits how often visitors may request sign-ins and try codes. Each method throws `rate_limited` over its limit. */
export type SignInLimits = {
  /** Counts a request for a sign-in, valid or not, by the client and the networks around it. */
  readonly admitRequest: (exchange: Exchange) => void
  /**
   * Counts a mail to the mailbox of this address, whether it has an account or not, and all mails together. Of these a part is for
   * visitors with a pass: `pass_required` means that the other part is used up just now, and counts nothing.
   */
  readonly admitEmail: (email: string, hasPass?: boolean) => "admitted" | "pass_required"
  /** Counts a submitted link or code by the client and the networks around it. */
  readonly admitProof: (exchange: Exchange) => void
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
  const admit = (subject: RateSubject, { rate, message }: SignInLimit): void => {
    const { waitS } = rates.admit(subject, rate)
    if (waitS > 0) throw rateLimited(`${message} Try again in ${formatWait(waitS)}.`, waitS, rate.burst)
  }
  const admitClient = (kind: "signIn" | "signInProof", exchange: Exchange, limits: ClientLimits): void => {
    const client = clientOf(exchange.request)
    admit(rateSubject(kind, client), limits.client)
    for (const { prefix, name } of widerNetworks(client)) admit(rateSubject(kind, name), limits[prefix])
  }
  return {
    admitRequest: exchange => admitClient("signIn", exchange, REQUESTS),
    admitEmail: (email, hasPass = false) => {
      const isOpen = rates.admit(rateSubject("signIns"), MAILS_WITHOUT_PASS.rate).waitS === 0
      if (!isOpen && !hasPass) return "pass_required"
      if (!isOpen) admit(rateSubject("signInsWithPass"), MAILS_WITH_PASS)
      const hash = createHash("sha256").update(mailboxOf(email)).digest("hex")
      admit(rateSubject("signInMailbox", hash), MAILS_PER_ADDRESS)
      return "admitted"
    },
    admitProof: exchange => admitClient("signInProof", exchange, PROOFS),
  }
}

const MINUTE_S = 60

const formatWait = (waitS: number): string =>
  waitS <= MINUTE_S ? formatCount(waitS, "second") : formatCount(Math.ceil(waitS / MINUTE_S), "minute")
