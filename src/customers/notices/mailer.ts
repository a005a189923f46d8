/** A mail to one address, ready to be sent. */
export type OutgoingMail = {
  /** An address, or a display name and an address in angle brackets. */
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Without angle brackets. Stable over attempts, so that a mailbox can recognise a second copy. */
  readonly messageId: string
  readonly dateMs: number
}

/**
 * The result of an attempt. It holds the server's reply code (RFC 5321 §4.2.1; null: none), never its text, which repeats
 * the address.
 */
export type SendResult =
  /** The server accepted the mail. */
  | { readonly kind: "accepted" }
  /** It deferred the mail (4xx) or refused it for good (`isPermanent`, 5xx). */
  | { readonly kind: "refused"; readonly isPermanent: boolean; readonly reply: number | null }
  /**
   * No mail can be sent now: no connection, log-in or sender was refused, or the server broke off. `step` is what failed, `cause` its code, `where`
   * the host and port of the server, and `why` says what went wrong.
   */
  | ({ readonly kind: "unavailable"; readonly step: SmtpStep; readonly reply: number | null } & Record<
      "cause" | "where" | "why",
      string
    >)

/** What an operator does about a mail server, by the step at which it fails. */
export const SMTP_STEP_REMEDIES = {
  look_up:
    "Its name is not known here: mend the host in MAILKIND_SMTP_URL, or the DNS of this host (/etc/hosts, /etc/resolv.conf).",
  connect:
    "Start it if it is stopped, and let this host reach its port; or set MAILKIND_SMTP_URL to a server that answers.",
  greeting:
    "Something accepts connections there and says nothing. Look at the mail server, and use smtps:// for a port with TLS from the start.",
  refused_connection:
    "It runs, and takes no connection from this host now. Its log says why: it has too much work or too many connections (4xx), or does not admit this host (5xx).",
  no_tls:
    "It speaks no TLS at that port: turn STARTTLS on there, and use smtp:// in MAILKIND_SMTP_URL; or name its port for TLS from the start, and use smtps://.",
  tls: "Use the host name of the certificate in MAILKIND_SMTP_URL, and smtps:// for a port with TLS from the start.",
  log_in: "Set the user and the password in MAILKIND_SMTP_URL, percent-encoded.",
  sender:
    "Set MAILKIND_MAIL_FROM to a sender that it takes from this login or this host, or allow the sender there; its log says why.",
  command: "Look at the log of the mail server: it refuses or breaks off what follows the login.",
} as const satisfies Record<string, string>

/** A step of an attempt to send. */
export type SmtpStep = keyof typeof SMTP_STEP_REMEDIES

/** Which mail server failed, with the code of it, and what to do, as fields of a log line. */
export const unavailableFields = ({
  step,
  cause,
  where,
  why,
}: Extract<SendResult, { readonly kind: "unavailable" }>) => ({
  where,
  why: `${cause}: ${why}`,
  remedy: `${SMTP_STEP_REMEDIES[step]} \`mailkind doctor --only smtp\` tries it.`,
})

/** What an operator does about a mail that is refused for good. */
export const REFUSED_REMEDY =
  "If it is one address, it is wrong or its mailbox is gone: do nothing. If it is every address, have the mail server accept the sender of MAILKIND_MAIL_FROM and mails to other hosts."

/** Sends mail. Neither function rejects, and each ends within its own time-outs. */
export type Mailer = {
  readonly send: (mail: OutgoingMail) => Promise<SendResult>
  /** Tries all that comes before the receiver of a mail, and sends none. */
  readonly tryServer: (from: string) => Promise<SendResult>
  /** Closes all connections at once. */
  readonly close: () => void
}

/** Opens a mailer for an `smtp://` or `smtps://` URL. */
export type OpenMailer = (url: string) => Mailer

/**
 * Whether an account's email can receive mail at all. A single label (`owner@localhost` of the first start) cannot, nor
 * names below `localhost` and `invalid` (RFC 6761 §6.3, §6.4). Test and example names are left to the mail server.
 */
export function isMailable(email: string): boolean {
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".")
  return labels.length > 1 && !UNREACHABLE_TLDS.includes(labels.at(-1) ?? "")
}

/** The same as an SQL condition on a column of account emails. */
export function mailableSql(column: string): string {
  const reachable = UNREACHABLE_TLDS.map(label => `${column} NOT LIKE '%.${label}'`)
  // An account's email has exactly one at-sign.
  return [`${column} LIKE '%@%.%'`, ...reachable].join(" AND ")
}

const UNREACHABLE_TLDS: readonly string[] = ["localhost", "invalid"]
