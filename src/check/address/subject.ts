/** Why a name cannot be anybody's; each is a reason code of the same name. */
export type SubjectFault =
  | "invalid_syntax"
  | "too_long"
  | "ip_literal"
  | "public_suffix"
  | "unknown_tld"
  | "reserved_tld"

/** What kinds of thing can be asked about. */
export const SUBJECT_KINDS = ["email", "domain", "url"] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** What was asked about, parsed. It is made for every text: a text that does not parse is a Subject with a fault. */
export type Subject = {
  readonly kind: SubjectKind
  /** The text as sent, surrounding ASCII white space included. */
  readonly sent: string
  /** Null: a name that could exist in public DNS, or one under the test domain. */
  readonly fault: SubjectFault | null
  /** The host as A-labels, lower case, without a trailing dot; of a URL without one leading `www.`. Null: none can be read, or it is an IP address. */
  readonly domain: string | null
  /**
   * The registrable domain by the Public Suffix List, private section included, so that the parents of `domain` down to
   * it have one registrant; `domain` itself where that is a public suffix. Null when `domain` is null or an IP address.
   */
  readonly registrable: string | null
  /** The local part, lower case, NFC, without its `+tag`; a quoted one without quotes where it needs none. Null unless an email that parses. */
  readonly localPart: string | null
  /** The whole address: `localPart@domain`. Null unless an email whose syntax is right. */
  readonly normalized: string | null
  /** A `+tag` was there. */
  readonly hasSubaddress: boolean
  /** Its host is the test domain or under it, and it has no fault. */
  readonly isTest: boolean
}
