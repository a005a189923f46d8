import type { Finding } from "../../base/finding.ts"

/** The record types that are asked for. */
export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "SRV" | "TXT"

/** One DNS question of class IN. The name is A-labels, lower case, without a trailing dot; the root is the empty name. */
export type Question = { readonly name: string; readonly type: RecordType }

/**
 * One record. Names in it are lower case, without a trailing dot, and made of printable ASCII; the root is the empty
 * name. Texts are the record's strings joined (RFC 7208 §3.3), decoded as UTF-8 with U+FFFD for what is none.
 */
export type DnsRecord =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME" | "NS"; readonly target: string }
  | { readonly type: "MX"; readonly preference: number; readonly exchange: string }
  | { readonly type: "SRV"; readonly priority: number; readonly port: number; readonly target: string }
  | { readonly type: "TXT"; readonly text: string }

/** What DNS said to a question. */
export type Answer = {
  /** Records of the type; the name exists without any; the name does not exist (NXDOMAIN). */
  readonly outcome: "records" | "no_data" | "no_name"
  /** Records of the type that was asked for, after CNAMEs were followed. */
  readonly records: readonly DnsRecord[]
  /** How long it holds as its records, its CNAMEs or its SOA say (RFC 2308 §5), in seconds; 0 where nothing says. */
  readonly ttlS: number
}

/**
 * Asks one DNS question. An empty answer is an answer. A failure is a Finding: `timed_out` when no server said anything,
 * `unavailable` when one said that it cannot tell, or nobody was asked. It never rejects, and it settles within bounded time.
 */
export type Resolver = (question: Question) => Promise<Finding<Answer>>

/** An answer as a cache gives it. */
export type HeldAnswer = Answer & {
  /** It was held already, fresh or stale. */
  readonly isCached: boolean
  /** Until when it need not be asked for again, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** A resolver whose answers tell how long they hold. */
export type Ask = (question: Question) => Promise<Finding<HeldAnswer>>
