import { isIP } from "node:net"
import type { NodemailerError } from "nodemailer"
import type { OpenMailer, OutgoingMail, SendResult } from "./mailer.ts"

/** How long each part of an attempt may take, and how much goes on at once. */
export type SmtpBounds = {
  readonly connectMs: number
  readonly greetingMs: number
  /** How long the server may say nothing. */
  readonly silenceMs: number
  /** The whole attempt, which a server that trickles would draw out otherwise. */
  readonly attemptMs: number
  /** How long a connection is kept for the next mail. */
  readonly idleMs: number
  readonly connectionsMax: number
}

/** The bounds in use. RFC 5321 §4.5.3.2 grants servers more, for mails of megabytes. */
export const SMTP_BOUNDS: SmtpBounds = {
  connectMs: 15_000,
  greetingMs: 30_000,
  silenceMs: 60_000,
  attemptMs: 120_000,
  idleMs: 10_000,
  connectionsMax: 4,
}

/**
 * Opens a pool of connections to the server of the URL, each when it is needed. `smtps:` is TLS from the first octet;
 * `smtp:` is TLS when the server offers it, and must be TLS when there is a password to send. Who the server is, is asked of
 * its certificate for `smtps:` and for a password; on loopback, where nobody stands between, neither is asked.
 */
export function createSmtpMailer(bounds: SmtpBounds = SMTP_BOUNDS): OpenMailer {
  return url => {
    const connection = parseSmtpUrl(url)
    let opened: ReturnType<typeof openTransport> | null = null
    let isClosed = false
    return {
      send: async mail => {
        try {
          if (isClosed) return { kind: "unavailable", cause: "closed", reply: null }
          opened ??= openTransport(connection, bounds)
          await (await opened).sendMail(messageOptions(mail, bounds))
          return { kind: "accepted" }
        } catch (error) {
          return toSendResult(error)
        }
      },
      close: () => {
        isClosed = true
        void opened?.then(transport => transport.close({ force: true }))
      },
    }
  }
}

/** The library takes 70 ms to load: it is, when there is a first mail. */
async function openTransport(connection: ReturnType<typeof parseSmtpUrl>, bounds: SmtpBounds) {
  const { createTransport } = await import("nodemailer")
  return createTransport({ ...connection, ...poolOptions(bounds) })
}

/** What the URL asks for, in the words of the library. Throws when it is no URL. */
export function parseSmtpUrl(text: string) {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const isSecure = url.protocol === "smtps:"
  const hasPassword = url.username !== ""
  const isNear = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))
  return {
    host,
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: hasPassword && !isSecure && !isNear,
    tls: { rejectUnauthorized: !isNear && (isSecure || hasPassword) },
    ...(hasPassword && { auth: { user: decodePercent(url.username), pass: decodePercent(url.password) } }),
  }
}

/** A `%` that encodes nothing stands for itself. */
const decodePercent = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, encoded => Buffer.from(encoded.replaceAll("%", ""), "hex").toString())

function poolOptions(bounds: SmtpBounds) {
  return {
    pool: true,
    maxConnections: bounds.connectionsMax,
    // Sent again by itself, a mail whose connection broke after its last octet could arrive twice.
    maxRequeues: 0,
    idleTimeout: bounds.idleMs,
    connectionTimeout: bounds.connectMs,
    dnsTimeout: bounds.connectMs,
    greetingTimeout: bounds.greetingMs,
    socketTimeout: bounds.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const
}

function messageOptions(mail: OutgoingMail, { attemptMs }: SmtpBounds) {
  return {
    from: mail.from,
    to: { name: "", address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.messageId}>`,
    date: new Date(mail.dateMs),
    // RFC 3834: so that nobody's absence note answers it.
    headers: { "Auto-Submitted": "auto-generated" },
    signal: AbortSignal.timeout(attemptMs),
  }
}

/** RFC 5321 §4.2.1; 421 is a server that closes, whatever it was asked. */
const SERVICE_CLOSING = 421

/** What an attempt came to by how it failed: only what the server said of the mail itself counts against the mail. */
function toSendResult(error: unknown): SendResult {
  const { code, command, responseCode } = error as Partial<NodemailerError> // all that the library throws is of it
  const reply = responseCode ?? null
  const cause = code ?? (error instanceof Error ? error.name : "unknown")
  // An address that the library itself does not send to, such as one in another script to a server without SMTPUTF8.
  if (code === "EENVELOPE" && command === "API") return { kind: "refused", isPermanent: false, reply }
  // A sender that is refused for good is refused for every mail.
  const isOfMail = command === "RCPT TO" || command === "DATA" || (command === "MAIL FROM" && isTemporary(reply))
  if (reply === null || reply === SERVICE_CLOSING || !isOfMail) return { kind: "unavailable", cause, reply }
  return { kind: "refused", isPermanent: !isTemporary(reply), reply }
}

const isTemporary = (reply: number | null): boolean => reply !== null && reply < 500

/** What came of trying a mail server; `place` is its host and port. No text of the server is in it. */
export type SmtpCheckResult =
  | { readonly kind: "well"; readonly hostPort: string; readonly isEncrypted: boolean; readonly isLoggedIn: boolean }
  | {
      readonly kind: "failed"
      readonly hostPort: string
      readonly step: "connect" | "tls" | "log_in" | "command"
      readonly cause: string
      readonly reply: number | null
    }

/**
 * Does with the server of the URL all that a mail needs before there is a mail: a connection, TLS as `createSmtpMailer` wants it,
 * the log-in, and one command that changes nothing (RSET, RFC 5321 §4.1.1.5). It never rejects; each step has its bound.
 */
export async function checkSmtp(url: string, bounds: SmtpBounds = SMTP_BOUNDS): Promise<SmtpCheckResult> {
  const { auth, ...server } = parseSmtpUrl(url)
  const hostPort = `${server.host}:${server.port}`
  const connection = await openConnection(server, bounds)
  let step: "connect" | "log_in" | "command" = "connect"
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>()
  // An error that nobody hears would end the process, and so would a promise that breaks when no step waits for it.
  broken.catch(() => undefined)
  connection.on("error", breakOff)
  connection.once("end", () => breakOff(new Error("closed")))
  const done = (work: (callback: (fault?: Error | null) => void) => void): Promise<void> =>
    Promise.race([broken, new Promise<void>((resolve, reject) => work(fault => (fault ? reject(fault) : resolve())))])
  try {
    await done(callback => connection.connect(callback))
    step = "log_in"
    if (auth !== undefined) await done(callback => connection.login(auth, callback))
    step = "command"
    await done(callback => connection.reset(callback))
    connection.quit()
    return { kind: "well", hostPort, isEncrypted: connection.secure, isLoggedIn: auth !== undefined }
  } catch (fault) {
    const { code, originalCode, responseCode } = fault as Partial<NodemailerError> // all that the library throws is of it
    const isTls = step === "connect" && code === "ETLS"
    connection.close()
    return {
      kind: "failed",
      hostPort,
      step: isTls ? "tls" : step,
      cause: originalCode ?? code ?? "closed",
      reply: responseCode ?? null,
    }
  }
}

/** The library takes 70 ms to load: it is, when there is a server to try. */
async function openConnection(server: Omit<ReturnType<typeof parseSmtpUrl>, "auth">, bounds: SmtpBounds) {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection")
  return new SMTPConnection({
    ...server,
    connectionTimeout: bounds.connectMs,
    dnsTimeout: bounds.connectMs,
    greetingTimeout: bounds.greetingMs,
    socketTimeout: bounds.silenceMs,
  })
}
