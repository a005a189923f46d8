import type { NodemailerError } from "nodemailer"
import { connectionOf, SMTP_BOUNDS, type SmtpBounds } from "./smtp-mailer.ts"

/** What came of trying a mail server; `place` is its host and port. No text of the server is in it. */
export type SmtpTrial =
  | { readonly kind: "well"; readonly place: string; readonly isEncrypted: boolean; readonly isLoggedIn: boolean }
  | {
      readonly kind: "failed"
      readonly place: string
      readonly step: "connect" | "tls" | "log_in" | "command"
      readonly cause: string
      readonly reply: number | null
    }

/**
 * Does with the server of the URL all that a mail needs before there is a mail: a connection, TLS as `smtpMailer` wants it,
 * the log-in, and one command that changes nothing (RSET, RFC 5321 §4.1.1.5). It never rejects; each step has its bound.
 */
export async function trySmtp(url: string, bounds: SmtpBounds = SMTP_BOUNDS): Promise<SmtpTrial> {
  const { auth, ...server } = connectionOf(url)
  const place = `${server.host}:${server.port}`
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
    return { kind: "well", place, isEncrypted: connection.secure, isLoggedIn: auth !== undefined }
  } catch (fault) {
    const { code, originalCode, responseCode } = fault as Partial<NodemailerError> // all that the library throws is of it
    const isTls = step === "connect" && code === "ETLS"
    connection.close()
    return {
      kind: "failed",
      place,
      step: isTls ? "tls" : step,
      cause: originalCode ?? code ?? "closed",
      reply: responseCode ?? null,
    }
  }
}

/** The library takes 70 ms to load: it is, when there is a server to try. */
async function openConnection(server: Omit<ReturnType<typeof connectionOf>, "auth">, bounds: SmtpBounds) {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection")
  return new SMTPConnection({
    ...server,
    connectionTimeout: bounds.connectMs,
    dnsTimeout: bounds.connectMs,
    greetingTimeout: bounds.greetingMs,
    socketTimeout: bounds.silenceMs,
  })
}
