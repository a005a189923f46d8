/** Why an input cannot be a real address or domain. Each value is also a reason code. */
export type SubjectFault =
  | "invalid_syntax"
  | "too_long"
  | "ip_literal"
  | "public_suffix"
  | "unknown_tld"
  | "reserved_tld"

/** The kinds of input that can be checked. */
export const SUBJECT_KINDS = ["email", "domain", "url"] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** A parsed input. Every text gives a Subject: a text that does not parse is a Subject with a fault. */
export type Subject = {
  readonly kind: SubjectKind
  /** The text as sent, white space at its ends included. */
  readonly sent: string
  /** Null: the name could exist in public DNS, or is under the test domain. */
  readonly fault: SubjectFault | null
  /** The host as A-labels, lower case, without a trailing dot and, for a URL, without one leading `www.`. Null: there is no host, or it is an IP address. */
  readonly domain: string | null
  /** The whole host of a URL that lost its leading `www.`, because an own list may name it. Null: `domain` is the whole host. */
  readonly wwwHost: string | null
  /**
   * The registrable domain by both sections of the Public Suffix List (`DECISIONS 3`). `domain` and its parents down to
   * this name have the same registrant. Equal to `domain` if that is a public suffix. Null if `domain` is null.
   */
  readonly registrable: string | null
  /** The local part of `normalized`: lower case, NFC, without its `+tag`, quoted only if it has to be. Null unless this is an email that parses. */
  readonly localPart: string | null
  /**
   * The whole address in normal form: `localPart@domain`. It parses to itself: where a part of the normal form would be longer than the
   * lengths of addresses allow, that part stays as sent. Null unless this is an email with valid syntax.
   */
  readonly normalized: string | null
  /** The normal form, however long, which is the same for all spellings of an address. Null as `normalized`. */
  readonly mailbox: string | null
  /** The same with the `+tag`; null: there is none, or as `normalized`. */
  readonly tagged: string | null
  /** Whether the address had a `+tag` (RFC 5233). */
  readonly hasSubaddress: boolean
  /** Whether the host is the test domain or a subdomain of it, and there is no fault. */
  readonly isTest: boolean
}
