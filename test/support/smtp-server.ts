import { createServer, type Server } from "node:net"
import { type SMTPServerSession as Session, SMTPServer } from "smtp-server"
import type { SendResult } from "../../src/customers/notices/mailer.ts"
import { freePort } from "./free-port.ts"
import { onTestEnd } from "./on-test-end.ts"

/** What a server answers in place of its yes: a reply code, or the end of the connection. */
export type Refusal = number | "hang_up"

/** What a server says at each step; absent or null: yes. It may take its time. */
export type SmtpAnswers = {
  readonly greeting?: () => Refusal | null
  readonly logIn?: (user: string, password: string) => boolean
  readonly sender?: (address: string) => Refusal | null
  readonly recipient?: (address: string) => Refusal | null
  /** Asked after the last octet of a mail. */
  readonly mail?: (raw: string) => Refusal | null | Promise<Refusal | null>
}

/** A mail that a server has taken. */
export type TakenMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly messageId: string
  readonly raw: string
  readonly isEncrypted: boolean
}

/** A server and what it has seen. */
export type TestSmtp = {
  readonly port: number
  readonly url: string
  readonly taken: readonly TakenMail[]
  /** Resolves when that many mails were taken. */
  readonly takes: (count: number) => Promise<void>
  readonly connectionCount: () => number
  readonly close: () => Promise<void>
}

type ServerOptions = NonNullable<ConstructorParameters<typeof SMTPServer>[0]>

/** Starts a real SMTP server on loopback that ends with the test. */
export async function testSmtp(answers: SmtpAnswers = {}, options: ServerOptions = {}): Promise<TestSmtp> {
  const server = await openSmtp(answers, options)
  onTestEnd(server.close)
  return server
}

/** Starts a real SMTP server on loopback that lives until it is closed. */
export async function openSmtp(answers: SmtpAnswers = {}, options: ServerOptions = {}): Promise<TestSmtp> {
  const taken: TakenMail[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  let connectionCount = 0
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: answers.logIn === undefined ? ["STARTTLS", "AUTH"] : ["STARTTLS"],
    allowInsecureAuth: true,
    closeTimeout: 50,
    onConnect: (session, done) => {
      connectionCount++
      answer(answers.greeting?.() ?? null, session, done)
    },
    onAuth: (auth, _session, done) => {
      const isRight = answers.logIn?.(auth.username ?? "", auth.password ?? "") ?? false
      done(isRight ? null : refusal(535), isRight ? { user: auth.username } : undefined)
    },
    onMailFrom: ({ address }, session, done) => answer(answers.sender?.(address) ?? null, session, done),
    onRcptTo: ({ address }, session, done) => answer(answers.recipient?.(address) ?? null, session, done),
    onData: async (stream, session, done) => {
      let raw = ""
      try {
        for await (const part of stream) raw += String(part)
      } catch (brokenOff) {
        // A client that ends in the middle of its mail waits for no answer.
        if (brokenOff instanceof Error) return
        throw brokenOff
      }
      const refused = (await answers.mail?.(raw)) ?? null
      if (refused === null) take(raw, session)
      answer(refused, session, done)
    },
    ...options,
  })
  const sockets = new Map<string, () => void>()
  server.on("error", () => undefined)
  server.server.on("connection", socket => {
    sockets.set(`${socket.remotePort}`, () => socket.destroy())
    socket.on("error", () => undefined)
  })
  function take(raw: string, { envelope: { mailFrom, rcptTo }, secure }: Session): void {
    const to = rcptTo.map(({ address }) => address)
    const messageId = /^message-id: <(.*)>/im.exec(raw)?.[1] ?? ""
    taken.push({ from: mailFrom === false ? "" : mailFrom.address, to, messageId, raw, isEncrypted: secure })
    for (const { count, resolve } of waiting) if (taken.length >= count) resolve()
  }
  function answer(refused: Refusal | null, session: { readonly remotePort: number }, done: (error?: Error) => void) {
    if (refused === "hang_up") sockets.get(`${session.remotePort}`)?.()
    else if (refused === null) done()
    else done(refusal(refused))
  }
  const listening = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", listening.resolve)
  await listening.promise
  const port = portOf(server.server)
  const close = (): Promise<void> => new Promise(resolve => server.close(() => resolve()))
  return {
    port,
    url: `${options.secure === true ? "smtps" : "smtp"}://127.0.0.1:${port}`,
    taken,
    takes: count =>
      taken.length >= count ? Promise.resolve() : new Promise(resolve => waiting.push({ count, resolve })),
    connectionCount: () => connectionCount,
    close,
  }
}

/** Starts a server that takes connections and never says a word. */
export async function muteServer(): Promise<string> {
  const sockets = new Set<{ readonly destroy: () => void }>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on("error", () => undefined)
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", listening.resolve)
  await listening.promise
  onTestEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `smtp://127.0.0.1:${portOf(server)}`
}

/** The URL of a port on which nobody listens. */
export const deadServer = (): string => `smtp://127.0.0.1:${freePort()}`

/** What sending comes to while nobody listens on the port of the mail server. */
export const MAIL_SERVER_AWAY: SendResult & { readonly kind: "unavailable" } = {
  kind: "unavailable",
  step: "connect",
  cause: "ECONNECTION",
  where: "127.0.0.1:25",
  why: "connect ECONNREFUSED 127.0.0.1:25",
  reply: null,
}

function portOf(server: Pick<Server, "address">): number {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return address.port
}

const refusal = (code: number): Error =>
  Object.assign(new Error(`no thanks, <jane@example.com> svc_live_${"A".repeat(38)}`), { responseCode: code })
