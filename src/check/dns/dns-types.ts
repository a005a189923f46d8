import type { Finding } from "../../base/finding.ts"

/** The record types that are asked for. */
export type DnsRecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "SRV" | "TXT"

/** One DNS question of class IN. The name is A-labels, lower case, without a trailing dot; the root is the empty name. */
export type DnsQuestion = { readonly name: string; readonly type: DnsRecordType }

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
export type DnsAnswer = {
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
export type Resolver = (question: DnsQuestion) => Promise<Finding<DnsAnswer>>

/** An answer as a cache gives it. */
export type CachedDnsAnswer = DnsAnswer & {
  /** It was held already, fresh or stale. */
  readonly isCached: boolean
  /** Until when it need not be asked for again, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** A resolver whose answers tell how long they hold. */
export type CachingResolver = (question: DnsQuestion) => Promise<Finding<CachedDnsAnswer>>

/** What one server made of one question. */
export type ServerReply =
  | {
      readonly kind: "answered"
      readonly answer: DnsAnswer
      /** The name that CNAMEs lead to where the server left off; null: the answer is whole. */
      readonly pendingCname: string | null
    }
  /** It said that it cannot or will not tell (SERVFAIL, REFUSED and the like), or what it said cannot be read. */
  | { readonly kind: "failed" }
  /** It said nothing, or nothing can reach it. */
  | { readonly kind: "silent" }

/**
 * Puts one question to one server and waits for the reply. It never rejects. A reply counts only when it comes from the
 * server, to the port that asked, with the id and the question that were sent; anything else is waited past.
 */
export type DnsExchange = (question: DnsQuestion, timeoutMs: number) => Promise<ServerReply>

/** Where a DNS server listens: an IP address, without brackets, and a port. */
export type DnsServerAddress = { readonly address: string; readonly port: number }

/** The texts of an answer's TXT records. */
export const txtValues = ({ records }: DnsAnswer): readonly string[] =>
  records.flatMap(record => (record.type === "TXT" ? [record.text] : []))
