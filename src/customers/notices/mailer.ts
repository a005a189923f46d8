/** A mail to one address, ready to be sent. */
export type OutgoingMail = {
  /** An address, or a name and an address in angle brackets. */
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Without its angle brackets. The same mail has the same one at each attempt, so that a mailbox can tell a second copy. */
  readonly messageId: string
  readonly dateMs: number
}

/**
 * What became of an attempt. Texts of the server are not among it, since they repeat the address: only its reply code
 * (RFC 5321 §4.2.1), or null when it gave none.
 */
export type SendResult =
  /** The server has taken it on itself to deliver the mail. */
  | { readonly kind: "accepted" }
  /** It wants this mail later (4xx), or never (`isForGood`, 5xx). */
  | { readonly kind: "refused"; readonly isPermanent: boolean; readonly reply: number | null }
  /** No mail can be sent now: no server, no log-in, no sender that it takes, or it broke off; `cause` is a word for it. */
  | { readonly kind: "unavailable"; readonly cause: string; readonly reply: number | null }

/** Sends mail. `send` never rejects, and comes to an end within its own bounds. */
export type Mailer = {
  readonly send: (mail: OutgoingMail) => Promise<SendResult>
  /** Ends all connections, at once. */
  readonly close: () => void
}

/** Builds a mailer from a `smtp://` or `smtps://` URL. */
export type OpenMailer = (url: string) => Mailer

/**
 * Whether mail can reach an account's email at all. It cannot at a single label, which `owner@localhost` of the first start
 * has, nor below `localhost` and `invalid`, which are reserved for what is no mail host (RFC 6761 §6.3, §6.4). Names for
 * tests and examples are left to the mail server: where they are used, it has an answer.
 */
export function isMailable(email: string): boolean {
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".")
  return labels.length > 1 && !UNREACHABLE_TLDS.includes(labels.at(-1) ?? "")
}

/** The same as a condition of SQL about a column that holds accounts' emails. */
export function mailableSql(column: string): string {
  const reachable = UNREACHABLE_TLDS.map(label => `${column} NOT LIKE '%.${label}'`)
  // An account's email has one at-sign.
  return [`${column} LIKE '%@%.%'`, ...reachable].join(" AND ")
}

const UNREACHABLE_TLDS: readonly string[] = ["localhost", "invalid"]
