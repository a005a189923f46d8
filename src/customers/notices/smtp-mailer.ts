import { isIP } from "node:net"
import type { NodemailerError } from "nodemailer"
import { redactAddresses } from "../../base/address-redaction.ts"
import type { OpenMailer, OutgoingMail, SendResult, SmtpStep } from "./mailer.ts"

/** Time-outs of an attempt, and its concurrency. */
export type SmtpBounds = {
  readonly connectMs: number
  readonly greetingMs: number
  /** How long the server may stay silent. */
  readonly silenceMs: number
  /** The complete attempt, so that a server that trickles cannot prolong it. */
  readonly attemptMs: number
  /** How long an idle connection is kept. */
  readonly idleMs: number
  readonly connectionsMax: number
}

/** The bounds in use. RFC 5321 §4.5.3.2 allows servers more time, for mails of megabytes. */
export const SMTP_BOUNDS: SmtpBounds = {
  connectMs: 15_000,
  greetingMs: 30_000,
  silenceMs: 60_000,
  attemptMs: 120_000,
  idleMs: 10_000,
  connectionsMax: 4,
}

/**
 * Opens a pool of connections to the server of the URL, each on demand. `smtps:` uses TLS from the first byte; `smtp:` uses
 * STARTTLS when the server offers it, and requires it when there is a password. The certificate is verified for `smtps:` and
 * whenever a password is sent; on loopback neither is required. `?tls=required` requires both everywhere.
 */
export function createSmtpMailer(bounds: SmtpBounds = SMTP_BOUNDS): OpenMailer {
  return url => {
    const connection = parseSmtpUrl(url)
    let opened: ReturnType<typeof openTransport> | null = null
    let isClosed = false
    return {
      send: async mail => {
        try {
          if (isClosed) throw Object.assign(new Error("the mailer is closed"), { code: "closed" })
          opened ??= openTransport(connection, bounds)
          await (await opened).sendMail(messageOptions(mail, bounds))
          return { kind: "accepted" }
        } catch (error) {
          return toSendResult(error, connection)
        }
      },
      tryServer: async from => {
        const trial = await checkSmtp(url, from, bounds)
        return trial.kind === "well" ? { kind: "accepted" } : trial
      },
      close: () => {
        isClosed = true
        void opened?.then(transport => transport.close({ force: true }))
      },
    }
  }
}

/** Loads the library on first use, since that takes 70 ms. */
async function openTransport(connection: ReturnType<typeof parseSmtpUrl>, bounds: SmtpBounds) {
  const { createTransport } = await import("nodemailer")
  return createTransport({ ...connection, ...poolOptions(bounds) })
}

/** The library's options for the URL. Throws when it is no URL. */
export function parseSmtpUrl(text: string) {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const isSecure = url.protocol === "smtps:"
  const hasPassword = url.username !== ""
  const isTlsRequired = url.searchParams.get("tls") === "required" || ((isSecure || hasPassword) && !isNearHost(host))
  return {
    host,
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: isTlsRequired && !isSecure,
    tls: { rejectUnauthorized: isTlsRequired },
    ...(hasPassword && { auth: { user: decodePercent(url.username), pass: decodePercent(url.password) } }),
  }
}

const isNearHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

/** The host and port of a mail server. */
export function smtpPlace(url: string): string {
  const { host, port } = parseSmtpUrl(url)
  return `${host}:${port}`
}

/** What an operator does about a mail server that is not `isMailProtected`. */
export const MAIL_PROTECTION_REMEDY =
  "Sign-in links travel on this connection: use smtps:// in MAILKIND_SMTP_URL, or end it with ?tls=required."

/** Whether nobody between this host and the mail server of the URL can read or change mails: by verified TLS, or on loopback. */
export function isMailProtected(url: string): boolean {
  const { host, tls } = parseSmtpUrl(url)
  return tls.rejectUnauthorized || isNearHost(host)
}

/** Decodes percent-escapes; a `%` that encodes nothing stays. */
const decodePercent = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, encoded => Buffer.from(encoded.replaceAll("%", ""), "hex").toString())

function poolOptions(bounds: SmtpBounds) {
  return {
    pool: true,
    maxConnections: bounds.connectionsMax,
    // No retry by the library: a mail whose connection broke after its last byte could arrive twice.
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
    // RFC 3834: prevents automatic replies.
    headers: { "Auto-Submitted": "auto-generated" },
    signal: AbortSignal.timeout(attemptMs),
  }
}

/** The result of an attempt that failed. */
type Refused = Exclude<SendResult, { readonly kind: "accepted" }>

/** RFC 5321 §4.2.1; 421 means that the server closes, whatever the command was. */
const SERVICE_CLOSING = 421

/** Maps an error to a result: only a reply about the mail itself counts against the mail. */
function toSendResult(error: unknown, { host, port }: { readonly host: string; readonly port: number }): Refused {
  const { code, command, responseCode } = error as Partial<NodemailerError> // all that the library throws is of it
  const reply = responseCode ?? null
  const cause = code ?? (error instanceof Error ? error.name : "unknown")
  // An address that the library refuses, such as a non-ASCII one at a server without SMTPUTF8.
  if (code === "EENVELOPE" && command === "API") return { kind: "refused", isPermanent: false, reply }
  // A sender that is refused for good is refused for every mail.
  const isOfMail = command === "RCPT TO" || command === "DATA" || (command === "MAIL FROM" && isTemporary(reply))
  if (reply === null || reply === SERVICE_CLOSING || !isOfMail)
    return {
      ...{ kind: "unavailable", step: stepOf(error, reply), cause, reply },
      ...{ where: `${host}:${port}`, why: whyUnavailable(error, reply) },
    }
  return { kind: "refused", isPermanent: !isTemporary(reply), reply }
}

/** The code of an error of TLS, also of a verification of a certificate (OpenSSL's X.509 codes). */
const TLS_ERROR =
  /^(?:ETLS|ERR_TLS_|ERR_SSL_|ERR_BORINGSSL|UNABLE_TO_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/

/** What a server without TLS sends is no record of TLS. */
const NO_TLS_ERROR = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/

/** The step at which an attempt has failed. */
function stepOf(error: unknown, reply: number | null): SmtpStep {
  const { code, originalCode, command } = error as Partial<NodemailerError> // all that the library throws is of it
  const cause = originalCode ?? code ?? ""
  if (code === "EAUTH" || code === "ENOAUTH") return "log_in"
  if (code === "EDNS") return "look_up"
  if (NO_TLS_ERROR.test(cause) || (code === "ETLS" && reply !== null)) return "no_tls"
  if (TLS_ERROR.test(cause)) return "tls"
  if (error instanceof Error && "timeoutType" in error && error.timeoutType === "GREETING_TIMEOUT") return "greeting"
  if (reply === null) return "connect"
  // A 421 later on has the code ECONNECTION.
  if (command === "CONN" && code === "EPROTOCOL") return "refused_connection"
  return command === "MAIL FROM" && reply !== SERVICE_CLOSING ? "sender" : "command"
}

/** What went wrong, in the words of the library or the system. A server's own words may repeat an address or a name. */
const whyUnavailable = (error: unknown, reply: number | null): string =>
  (reply === null && error instanceof Error ? redactAddresses(error.message, WHY_LENGTH_MAX) : null) ??
  `the server replied ${reply ?? "nothing"}`

const WHY_LENGTH_MAX = 200

const isTemporary = (reply: number | null): boolean => reply !== null && reply < 500

/** The result of testing a mail server; `where` is its host and port. It holds no text of the server. */
export type SmtpCheckResult = { readonly where: string } & (
  | { readonly kind: "well"; readonly isEncrypted: boolean; readonly isLoggedIn: boolean }
  | Refused
)

/** A command of ours goes as a way to log in, which the library lets its users define. */
const SENDER_METHOD = "MAIL FROM"

/**
 * Tests the server of the URL up to the point where the receiver of a mail would follow: connection, TLS as in `createSmtpMailer`, log-in, the
 * sender, and RSET, which forgets it (RFC 5321 §4.1.1.5). Never rejects; each step has its time-out.
 */
export async function checkSmtp(url: string, from: string, bounds: SmtpBounds = SMTP_BOUNDS): Promise<SmtpCheckResult> {
  const { auth, ...server } = parseSmtpUrl(url)
  const where = `${server.host}:${server.port}`
  const connection = await openConnection(server, bareAddress(from), bounds)
  let step: "connect" | "log_in" | "sender" | "command" = "connect"
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>()
  // An unhandled error event or rejection would end the process.
  broken.catch(() => undefined)
  connection.on("error", breakOff)
  connection.once("end", () => breakOff(Object.assign(new Error("the server has hung up"), { code: "closed" })))
  const done = (work: (callback: (fault?: Error | null) => void) => void): Promise<void> =>
    Promise.race([broken, new Promise<void>((resolve, reject) => work(fault => (fault ? reject(fault) : resolve())))])
  try {
    await done(callback => connection.connect(callback))
    step = "log_in"
    if (auth !== undefined) await done(callback => connection.login(auth, callback))
    step = "sender"
    await done(callback => connection.login({ method: SENDER_METHOD, user: "", pass: "" }, callback))
    step = "command"
    await done(callback => connection.reset(callback))
    connection.quit()
    return { kind: "well", where, isEncrypted: connection.secure, isLoggedIn: auth !== undefined }
  } catch (fault) {
    connection.close()
    if (step === "sender") Object.assign(fault as Error, { code: "EENVELOPE", command: "MAIL FROM" })
    const result = toSendResult(fault, server)
    if (result.kind !== "unavailable") return { ...result, where }
    const { originalCode } = fault as Partial<NodemailerError> // all that the library throws is of it
    return { ...result, step: step === "connect" ? result.step : step, cause: originalCode ?? result.cause }
  }
}

/** The address of a sender, which may have a display name before it. */
const bareAddress = (from: string): string => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim()

/** Loads the library on first use, since that takes 70 ms. */
async function openConnection(
  server: Omit<ReturnType<typeof parseSmtpUrl>, "auth">,
  sender: string,
  bounds: SmtpBounds,
) {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection")
  return new SMTPConnection({
    ...server,
    customAuth: {
      [SENDER_METHOD]: async ({ sendCommand, extensions }) => {
        const isInternational = /\P{ASCII}/u.test(sender) && extensions.includes("SMTPUTF8")
        const { status } = await sendCommand(`MAIL FROM:<${sender}>${isInternational ? " SMTPUTF8" : ""}`)
        if (status === undefined || status < 200 || status > 299) throw new Error("the sender was refused")
      },
    },
    connectionTimeout: bounds.connectMs,
    dnsTimeout: bounds.connectMs,
    greetingTimeout: bounds.greetingMs,
    socketTimeout: bounds.silenceMs,
  })
}
