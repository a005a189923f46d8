import { withTimeout } from "../../../base/concurrency.ts"
import { type Log, logError } from "../../../base/log.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import { parseSubject } from "../../../check/address/parse-subject.ts"
import { type Check, NO_OWN_LIST_MATCH } from "../../../check/check.ts"
import type { CheckOutcome } from "../../../check/result/result.ts"
import type { OwnListCache } from "../../../customers/own-lists/own-list-cache.ts"

/** What the sign-in does with addresses that are mistyped, disposable or dead (`MAILKIND_SIGN_UP_POLICY`). */
export type SignUpPolicy = "off" | "warn" | "refuse"

/** What is wrong with an address for a new account. At least one member is not null. */
export type SignUpConcern = {
  /** The address that was probably meant. */
  readonly suggestion: string | null
  readonly fault: { readonly kind: "throw_away" | "dead"; readonly isRefused: boolean } | null
}

/** Finds what is wrong with an address from `normalizeAccountEmail`; null: nothing is known. It never rejects. */
export type SignUpCheck = (email: string, callerId: string) => Promise<SignUpConcern | null>

/** How long the network may take. After that the lists alone decide. */
const BUDGET_MS = 1000

type SignUpCheckDeps = {
  readonly policy: SignUpPolicy
  readonly check: Check
  /** The same check without the network. */
  readonly listsCheck: Check
  readonly ownLists: OwnListCache
  readonly setTimer: SetTimer
  readonly testDomain: string
  readonly log: Log
}

/**
 * Builds the check of addresses that sign in. The lists come first, and what they say needs no network. Names that are reserved for
 * examples, tests and private networks are left alone, and so are domains on the operator's allow list. A failure of DNS is no concern.
 */
export function createSignUpCheck(deps: SignUpCheckDeps): SignUpCheck {
  if (deps.policy === "off") return async () => null
  return (email, callerId) =>
    findConcern(deps, email, callerId).catch(error => {
      logError(deps.log, "an address that signs in was not checked")(error)
      return null
    })
}

async function findConcern(deps: SignUpCheckDeps, email: string, callerId: string): Promise<SignUpConcern | null> {
  const subject = parseSubject("email", email, deps.testDomain)
  const { domain, isTest, fault } = subject
  if (domain === null || isTest || fault === "reserved_tld" || DOCUMENTATION_NAME.test(domain)) return null
  const { isOperatorAllowed } = await deps.ownLists.lookup(null, subject)
  if (isOperatorAllowed) return null
  const request = {
    ...({ subject, policy: "lenient", isDeep: false, includeTenant: false, callerId } as const),
    ownListMatch: NO_OWN_LIST_MATCH,
  }
  const fromLists = concernOf(await deps.listsCheck(request), email, deps.policy)
  if (fromLists !== null) return fromLists
  const checked = deps.check(request)
  const outcome = checked instanceof Promise ? await withTimeout(deps.setTimer, BUDGET_MS, checked, null) : checked
  return outcome === null ? null : concernOf(outcome, email, deps.policy)
}

/** RFC 2606 §3, RFC 6761 §6.5: nobody signs up with them but in an example or a test. */
const DOCUMENTATION_NAME = /(?:^|\.)example\.(?:com|net|org)$/

function concernOf({ judged }: CheckOutcome, email: string, policy: SignUpPolicy): SignUpConcern | null {
  const { evidence, verdict } = judged
  const { category, recommendation } = verdict
  const suggestion = evidence.suggestion === null ? null : email.replace(/@[^@]*$/, `@${evidence.suggestion}`)
  const kind = category === "disposable" ? "throw_away" : category === "invalid" ? "dead" : null
  // Weak evidence, such as a mail host that was only learned, is asked about and refuses nobody.
  const isRefused = policy === "refuse" && recommendation === "block"
  return suggestion === null && kind === null ? null : { suggestion, fault: kind === null ? null : { kind, isRefused } }
}
