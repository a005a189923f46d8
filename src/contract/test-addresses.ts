import type { Category } from "./categories.ts"
import type { ProblemCode } from "./problems.ts"

type TestAddress = {
  readonly description: string
  readonly category: Category
  /** Only lists that are compiled from other lists call it so. */
  readonly weakListing?: true
  readonly role?: true
  readonly sharedInbox?: string
  readonly group?: string
  readonly groupService?: string
  readonly lookalike?: true
  readonly didYouMean?: string
  readonly ageDays?: number
  readonly blocked?: true
  /** The operator of the mail. `tenant`: the domain has a tenant of suite_b, but its mail is elsewhere. Absent: the domain's own hosts. */
  readonly mail?: "suite_a" | "suite_b" | "tenant"
  readonly pending?: true
  readonly degraded?: true
  readonly cached?: true
}

/** The local parts under the test domain with their fixed verdicts (DECISIONS 12). A `+tag` is allowed; any other local part is `unknown`. */
// biome-ignore format: a row a line
export const TEST_ADDRESSES = {
  business: { description: "A business.", category: "business" },
  personal: { description: "A free mailbox.", category: "personal" },
  disposable: { description: "A disposable mailbox.", category: "disposable" },
  "weak-listing": { description: "A disposable mailbox that only lists compiled from other lists name.", category: "disposable", weakListing: true },
  relay: { description: "A privacy relay.", category: "relay" },
  education: { description: "A university.", category: "education" },
  government: { description: "A government body.", category: "government" },
  invalid: { description: "An address that cannot receive mail.", category: "invalid" },
  unknown: { description: "There is no evidence.", category: "unknown" },
  role: { description: "A role account of a business.", category: "business", role: true },
  shared: { description: "A shared inbox of a business, with confidence 0.3.", category: "business", sharedInbox: "shared" },
  group: { description: "A group of a business, with confidence 0.3.", category: "business", group: "group" },
  "group-service": { description: "An address at a group service, with confidence 1.", category: "business", groupService: "googlegroups.com" },
  lookalike: { description: "A domain that imitates a known name.", category: "business", lookalike: true },
  typo: { description: "A likely typing error. `did_you_mean` is `gmail.com`.", category: "unknown", didYouMean: "gmail.com" },
  "new-domain": { description: "A domain registered three days ago.", category: "business", ageDays: 3 },
  blocked: { description: "On a block list.", category: "business", blocked: true },
  "suite-a": { description: "Mail on suite_a.", category: "business", mail: "suite_a" },
  "suite-b": { description: "Mail on suite_b, with its tenant.", category: "business", mail: "suite_b" },
  "suite-b-tenant": { description: "A tenant in suite_b, with mail elsewhere.", category: "business", mail: "tenant" },
  pending: { description: "The tenant look-up continues in the background.", category: "business", pending: true },
  degraded: { description: "DNS gave no answer.", category: "business", degraded: true },
  cached: { description: "All network answers came from a cache.", category: "business", cached: true },
} as const satisfies Record<string, TestAddress>

type TestProblem = { readonly description: string; readonly code: ProblemCode; readonly retryAfterSeconds?: number }

/** The local parts under the test domain that cause a problem. */
export const TEST_PROBLEMS = {
  "error-429": { description: "Too many requests. `Retry-After` is 1.", code: "rate_limited", retryAfterSeconds: 1 },
  "error-quota": { description: "Today's units are used up.", code: "quota_exceeded" },
  "error-500": { description: "The server fails.", code: "internal_error" },
} as const satisfies Record<string, TestProblem>

/** The row of a local part without its tag; undefined: there is none. */
export const testAddress = (localPart: string): TestAddress | undefined => (Object.hasOwn(TEST_ADDRESSES, localPart) ? TEST_ADDRESSES[localPart as keyof typeof TEST_ADDRESSES] : undefined)

/** The same for `TEST_PROBLEMS`. */
export const testProblem = (localPart: string): (typeof TEST_PROBLEMS)[keyof typeof TEST_PROBLEMS] | undefined => (Object.hasOwn(TEST_PROBLEMS, localPart) ? TEST_PROBLEMS[localPart as keyof typeof TEST_PROBLEMS] : undefined)
