import type { Finding } from "../../base/finding.ts"
import type { Category } from "../../contract/categories.ts"
import type { Recommendation } from "../../contract/policies.ts"
import type { HintKinds } from "../address/address-hints.ts"
import type { Subject } from "../address/subject.ts"
import type { ListMatch } from "../lists/list-match.ts"

/** One mail host of a domain. */
export type MailHost = { readonly priority: number; readonly host: string; readonly provider: string | null }

/** What a domain's DNS records say about its mail. */
export type MailEvidence = {
  /** False: the name does not exist (NXDOMAIN). */
  readonly exists: boolean
  /** How mail is delivered: to MX hosts, to the address record (RFC 5321 §5.1), refused by a null MX (RFC 7505), or not at all. */
  readonly delivery: "mx" | "implicit" | "null_mx" | "none"
  /** Every mail host has no address, or only special ones (RFC 6890). False: one has a public address, or they are not all known. */
  readonly isUnreachable: boolean
  /** The domain has an A or AAAA record with a public address. */
  readonly hasAddress: boolean
  /** The most preferred host first. */
  readonly mx: readonly MailHost[]
  /** Key of the provider of the most preferred host; null: it is not known. */
  readonly provider: string | null
  /**
   * Who operates the mail hosts; null: it is not known, or it says nothing of the domain. A `forwarder` hands the mail of own domains on
   * to mailboxes elsewhere, `personal` has mailboxes that are sold to persons, and `alias` hides the mailboxes of persons.
   */
  readonly operatedBy:
    | "suite_a"
    | "suite_b"
    | "other_suite"
    | "gateway"
    | "disposable"
    | "learned_disposable"
    | "parking"
    | "agent"
    | "forwarder"
    | "personal"
    | "alias"
    | null
  /** The one SPF record (RFC 7208 §4.5); null: there is none, or more than one. */
  readonly spf: Finding<string | null>
  /** The policy that holds for the domain: its own, or one that it inherits (RFC 9989 §4.10.1); null: there is none. */
  readonly dmarcPolicy: Finding<DmarcPolicy | null>
}

/** What receivers should do with mail that fails DMARC (RFC 9989 §4.7). */
export type DmarcPolicy = "none" | "quarantine" | "reject"

/** The records that show an office suite, as `kind:value` entries; empty: not detected. `otherSuite` is a provider key. */
export type DetectedSuites = {
  readonly suiteA: readonly string[]
  readonly suiteB: readonly string[]
  readonly otherSuite: string | null
}

/** A domain's tenant in suite_b. */
export type Tenant = {
  readonly id: string
  readonly region: string | null
  readonly auth: "managed" | "federated" | null
  readonly identityProvider: string | null
}

/** The parts of a Subject that rules read. None identifies a person, so that evidence can be cached for other addresses. */
export type SubjectTraits = Pick<Subject, "kind" | "fault" | "isTest" | "hasSubaddress">

/** All evidence about a Subject. Each part from the network is a Finding. */
export type Evidence = {
  readonly subject: SubjectTraits
  readonly listMatch: ListMatch
  readonly hints: HintKinds
  /** The provider's domain of which this one is probably a typo; null: none. */
  readonly suggestion: string | null
  /** Whether very many people use that provider, so that whoever typed the domain hardly meant another one. */
  readonly isHouseholdSlip: boolean
  /** What the name says that the body is, in words that hardly anyone else uses; null: nothing. */
  readonly namePattern: "education" | "government" | null
  /** The known name that the domain imitates; null: none. */
  readonly lookalikeOf: string | null
  /** The fixed category of a test address; null: it is none. */
  readonly testCategory: Category | null
  /** The category that an accepted feedback report gives the domain; null: there is no report. */
  readonly correction: Category | null
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  /** Null: the domain has no tenant in suite_b. */
  readonly tenant: Finding<Tenant | null>
  /** Days since the registration; null: the registry does not say. */
  readonly ageDays: Finding<number | null>
  readonly homepage: Finding<"found" | "parked" | "none">
  /** Whose block list holds the Subject; null: neither. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list holds the Subject. */
  readonly isAllowed: boolean
  /** What the rules of the account recommend instead of the policy; null: nothing else. */
  readonly ruledAs: Recommendation | null
  /** Every part from the network came from a cache. False if nothing was queried. */
  readonly isCached: boolean
}
