import type { Finding } from "../../base/finding.ts"
import type { Category } from "../../contract/categories.ts"
import type { AddressHints } from "../address/address-hints.ts"
import type { Subject } from "../address/subject.ts"
import type { ListMatch } from "../lists/list-match.ts"

/** One mail host of a domain. */
export type MailHost = { readonly priority: number; readonly host: string; readonly provider: string | null }

/** What a domain publishes about its mail. */
export type MailEvidence = {
  /** False: the name does not exist (NXDOMAIN). */
  readonly exists: boolean
  /** How mail reaches it: MX records, its address record (RFC 5321 §5.1), refused by a null MX (RFC 7505), or not at all. */
  readonly delivery: "mx" | "implicit" | "null_mx" | "none"
  /** It has an A or AAAA record. */
  readonly hasAddress: boolean
  /** Most preferred first. */
  readonly mx: readonly MailHost[]
  /** Key of the provider of the most preferred host. */
  readonly provider: string | null
  /** What kind of host takes the mail; null: nobody we know. */
  readonly operatedBy: "suite_a" | "suite_b" | "other_suite" | "gateway" | "disposable" | "learned_disposable" | null
  /** The one SPF record (RFC 7208 §4.5); null: there is none, or more than one. */
  readonly spf: Finding<string | null>
  /** The policy that holds for the domain, its own or its organisational domain's (RFC 7489 §6.6.3). */
  readonly dmarcPolicy: Finding<DmarcPolicy | null>
}

/** What a domain owner asks receivers to do with mail that fails DMARC. */
export type DmarcPolicy = "none" | "quarantine" | "reject"

/** What records show of the office suites, as `kind:value` entries; empty: not detected. */
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

/** What rules read of a Subject: nothing that tells whose it is, so that evidence can be kept for others who ask. */
export type SubjectTraits = Pick<Subject, "kind" | "fault" | "isTest" | "hasSubaddress">

/** All that is known about a Subject. Each part from outside is a Finding. */
export type Evidence = {
  readonly subject: SubjectTraits
  readonly listed: ListMatch
  readonly hints: AddressHints
  /** The provider's domain that was probably meant. */
  readonly suggestion: string | null
  /** The known name that the domain imitates. */
  readonly lookalikeOf: string | null
  /** The category that a test address always has; null: no test address. */
  readonly testCategory: Category | null
  /** The category of an accepted report about the domain. */
  readonly correction: Category | null
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  /** Null: suite_b knows no tenant of the domain. */
  readonly tenant: Finding<Tenant | null>
  /** Days since the domain was registered; null: the registry does not tell. */
  readonly ageDays: Finding<number | null>
  readonly homepage: Finding<"found" | "parked" | "none">
  /** Whose block list has it. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has it. */
  readonly isAllowed: boolean
  /** Every part that comes from outside came from a cache, and there was one. */
  readonly isCached: boolean
}
