import type { Finding } from "../../base/finding.ts"

/** The record types that are queried. */
export type DnsRecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "SRV" | "TXT"

/** One DNS question of class IN. The name is A-labels, lower case, without a trailing dot; the root is the empty name. */
export type DnsQuestion = { readonly name: string; readonly type: DnsRecordType }

/**
 * One record. Names in it are lower case, without a trailing dot, and made of printable ASCII; the root is the empty
 * name. An `exchange` that is no such name is null: the domain has an MX record all the same. A text is the record's strings joined (RFC 7208 §3.3) and decoded as UTF-8; invalid bytes become U+FFFD.
 */
export type DnsRecord =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME" | "NS"; readonly target: string }
  | { readonly type: "MX"; readonly preference: number; readonly exchange: string | null }
  | { readonly type: "SRV"; readonly priority: number; readonly port: number; readonly target: string }
  | { readonly type: "TXT"; readonly text: string }

/** The answer to a question. That there are no records is an answer too. */
export type DnsAnswer = {
  /** There are records of the type; the name exists without them; the name does not exist (NXDOMAIN). */
  readonly outcome: "records" | "no_data" | "no_name"
  /** The records of the type, after all CNAMEs were followed. */
  readonly records: readonly DnsRecord[]
  /** The least TTL of records, CNAMEs and SOA (RFC 2308 §5), in seconds; 0: the reply has none. */
  readonly ttlS: number
}

/**
 * Resolves one question. A failure is `timed_out` if no server replied, or `unavailable` if a server replied with an error or
 * none was queried. It never rejects, and it settles within bounded time.
 */
export type Resolver = (question: DnsQuestion) => Promise<Finding<DnsAnswer>>

/** An answer of a caching resolver. */
export type CachedDnsAnswer = DnsAnswer & {
  /** It came from the cache, fresh or stale. */
  readonly isCached: boolean
  /** Until when a new query would give the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** A resolver whose answers say whether they come from a cache, and how long they are fresh. */
export type CachingResolver = (question: DnsQuestion) => Promise<Finding<CachedDnsAnswer>>

/** The same without a promise: `onFinding` receives the finding, once, perhaps before this returns. It must not throw. */
export type AskDns = (question: DnsQuestion, onFinding: (finding: Finding<CachedDnsAnswer>) => void) => void

/** The reply of one server to one question. */
export type ServerReply =
  | {
      readonly kind: "answered"
      readonly answer: DnsAnswer
      /** The last CNAME target, if the server did not resolve it; null: the answer is complete. */
      readonly pendingCname: string | null
    }
  /** The server replied with an error (`why`: SERVFAIL, REFUSED and the like), or its reply cannot be read, perhaps by a defect of ours. */
  | { readonly kind: "failed"; readonly why?: string; readonly defect?: unknown }
  /** The server did not reply in time, or cannot be reached (`why`: the code of the system, such as ECONNREFUSED). */
  | { readonly kind: "silent"; readonly why?: string }

/** The reply of a server that does not reply. */
export const SILENT = { kind: "silent" } as const satisfies ServerReply

/** A question on its way to one server. */
export type ServerQuery = {
  readonly question: DnsQuestion
  /** Set by what carries it: the id of its packet, and what takes it back; null: it is not under way. */
  id: number
  carrier: { readonly cancel: (query: ServerQuery) => void } | null
  /** Receives the reply to the question: once at most, perhaps while it is sent, and not after `cancel`. */
  readonly receiver: { onReply(query: ServerQuery, reply: ServerReply): void }
}

/**
 * Sends questions to one server. A reply counts only if it comes from the server to the port of the query, with the id and the question
 * of the query (RFC 5452 §9.1); all else is ignored. It knows no timeout: whoever sends a question cancels it.
 */
export type DnsExchange = {
  readonly send: (query: ServerQuery) => void
  /** Closes the sockets. Pending and later questions are `silent`. */
  readonly close: () => void
}

/** The IP address of a DNS server, without brackets, and its port. */
export type DnsServerAddress = { readonly address: string; readonly port: number }

/** The text without SP and HTAB at its ends: no other character is white space in SPF, DMARC and DKIM records. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** The texts of an answer's TXT records. */
export function txtValues({ records }: DnsAnswer): readonly string[] {
  const texts: string[] = []
  for (const record of records) if (record.type === "TXT") texts.push(record.text)
  return texts
}
