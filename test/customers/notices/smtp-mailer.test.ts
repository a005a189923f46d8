import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Mailer, OutgoingMail, SendResult, SmtpStep } from "../../../src/customers/notices/mailer.ts"
import {
  createSmtpMailer,
  isMailProtected,
  parseSmtpUrl,
  SMTP_BOUNDS,
  type SmtpBounds,
} from "../../../src/customers/notices/smtp-mailer.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { deadServer, muteServer, type Refusal, testSmtp } from "../../support/smtp-server.ts"

const MAIL: OutgoingMail = {
  from: "mailkind <notices@mail.example.com>",
  to: "jane@example.com",
  subject: "A new key",
  text: "Ünï\n.\n..dots\n",
  html: "<p>Ünï</p>",
  messageId: "abc@mail.example.com",
  dateMs: Date.UTC(2026, 0, 2, 3, 4, 5),
}

function mailer(url: string, bounds: Partial<SmtpBounds> = {}): Mailer {
  const opened = createSmtpMailer({ ...SMTP_BOUNDS, ...bounds })(url)
  onTestEnd(opened.close)
  return opened
}

const accepted: SendResult = { kind: "accepted" }

test("a mail arrives whole, with its message id and date and a header that keeps absence notes away", async () => {
  const server = await testSmtp()
  expect(await mailer(server.url).send(MAIL)).toEqual(accepted)
  const [taken] = server.taken
  expect(taken).toMatchObject({ from: "notices@mail.example.com", to: ["jane@example.com"], messageId: MAIL.messageId })
  expect(taken?.raw).toContain("From: mailkind <notices@mail.example.com>\r\n")
  expect(taken?.raw).toContain("To: jane@example.com\r\n")
  expect(taken?.raw).toContain("Subject: A new key\r\n")
  expect(taken?.raw).toContain("Date: Fri, 02 Jan 2026 03:04:05 +0000\r\n")
  expect(taken?.raw).toContain("Auto-Submitted: auto-generated\r\n")
  expect(taken?.raw).toContain("Content-Type: text/plain; charset=utf-8\r\n")
  expect(taken?.raw).toContain("Content-Type: text/html; charset=utf-8\r\n")
})

test("mails that follow one another share a connection", async () => {
  const server = await testSmtp()
  const { send } = mailer(server.url)
  for (const to of ["a@example.com", "b@example.com", "c@example.com"]) await send({ ...MAIL, to })
  expect(server.taken.map(({ to }) => to.join())).toEqual(["a@example.com", "b@example.com", "c@example.com"])
  expect(server.connectionCount()).toBe(1)
})

const HOST_PORT = /^(?:127\.0\.0\.1|localhost):\d+$/
const UNHEARD: Omit<Extract<SendResult, { readonly kind: "unavailable" }>, "cause"> = {
  kind: "unavailable",
  step: "connect",
  where: expect.stringMatching(HOST_PORT),
  why: expect.stringMatching(/./),
  reply: null,
}

describe("what a server answers", () => {
  const refused = (isPermanent: boolean, reply: number): SendResult => ({ kind: "refused", isPermanent, reply })
  const unavailable = (cause: string, reply: number, step: SmtpStep = "command"): SendResult => ({
    kind: "unavailable",
    step,
    cause,
    where: expect.stringMatching(HOST_PORT),
    why: `the server replied ${reply}`,
    reply,
  })
  const cases: readonly (readonly [step: "sender" | "recipient" | "mail", Refusal, SendResult])[] = [
    ["recipient", 450, refused(false, 450)],
    ["recipient", 452, refused(false, 452)],
    ["recipient", 550, refused(true, 550)],
    ["recipient", 553, refused(true, 553)],
    ["mail", 451, refused(false, 451)],
    ["mail", 554, refused(true, 554)],
    ["sender", 451, refused(false, 451)],
    ["sender", 550, unavailable("EENVELOPE", 550, "sender")],
    ["sender", 530, unavailable("EENVELOPE", 530, "sender")],
    ["recipient", 421, unavailable("ECONNECTION", 421)],
    ["mail", 421, unavailable("EMESSAGE", 421)],
  ]
  for (const [step, reply, sending] of cases)
    test(`${reply} at the ${step} is ${sending.kind}${sending.kind === "refused" && sending.isPermanent ? " for good" : ""}`, async () => {
      const server = await testSmtp({ [step]: () => reply })
      expect(await mailer(server.url).send(MAIL)).toEqual(sending)
      expect(server.taken).toEqual([])
    })

  for (const step of ["sender", "recipient", "mail"] as const)
    test(`a connection that ends at the ${step} is no answer, and the mail is not sent again by itself`, async () => {
      let requests = 0
      const server = await testSmtp({
        [step]: () => {
          requests++
          return "hang_up"
        },
      })
      expect(await mailer(server.url).send(MAIL)).toMatchObject({ kind: "unavailable", reply: null })
      expect(requests).toBe(1)
    })

  test("one mail that was refused keeps no other on its connection from being sent", async () => {
    const server = await testSmtp({ recipient: address => (address === "no@example.com" ? 550 : null) })
    const { send } = mailer(server.url)
    expect(await send({ ...MAIL, to: "no@example.com" })).toEqual(refused(true, 550))
    expect(await send(MAIL)).toEqual(accepted)
  })
})

describe("servers that are no use", () => {
  test("nobody listens", async () => {
    const sent = await mailer(deadServer()).send(MAIL)
    expect(sent).toMatchObject({ kind: "unavailable", where: expect.stringMatching(HOST_PORT), reply: null })
    expect(sent).toMatchObject({ why: expect.stringMatching(/^connect ECONNREFUSED 127\.0\.0\.1:\d+$/) })
  })

  test("it never greets", async () => {
    const sent = await mailer(await muteServer(), { greetingMs: 50 }).send(MAIL)
    expect(sent).toEqual({ ...UNHEARD, step: "greeting", cause: "ETIMEDOUT" })
  })

  test("it greets with a refusal", async () => {
    const server = await testSmtp({ greeting: () => 554 })
    expect(await mailer(server.url).send(MAIL)).toMatchObject({ kind: "unavailable", reply: 554 })
  })

  test("it says nothing after the mail", async () => {
    const server = await testSmtp({ mail: () => new Promise(() => undefined) })
    const sent = await mailer(server.url, { silenceMs: 50 }).send(MAIL)
    expect(sent).toEqual({ ...UNHEARD, cause: "ETIMEDOUT" })
  })

  test("it takes longer than an attempt may", async () => {
    const server = await testSmtp({ mail: () => new Promise(() => undefined) })
    const { send } = mailer(server.url, { attemptMs: 50 })
    expect(await send(MAIL)).toMatchObject({ kind: "unavailable", reply: null })
  })

  test("a mailer that was closed sends nothing, and ends what is under way", async () => {
    const reached = Promise.withResolvers<void>()
    const server = await testSmtp({
      mail: () => {
        reached.resolve()
        return new Promise(() => undefined)
      },
    })
    const { send, close } = mailer(server.url)
    const sending = send(MAIL)
    await reached.promise
    close()
    expect(await sending).toMatchObject({ kind: "unavailable" })
    expect(await send(MAIL)).toEqual({ ...UNHEARD, cause: "closed" })
  })
})

describe("log-in and encryption", () => {
  const withUser = (url: string, user: string): string => url.replace("://", `://${user}@`)
  const certificate = (name: string): string =>
    readFileSync(join(import.meta.dir, "../../base/certificates", name), "utf8")

  test("user and password are told, percent-decoded", async () => {
    const server = await testSmtp({ logIn: (user, password) => user === "us@er" && password === "p:ss%w" })
    expect(await mailer(withUser(server.url, "us%40er:p%3Ass%w")).send(MAIL)).toEqual(accepted)
  })

  test("a log-in that is refused counts against no mail", async () => {
    const server = await testSmtp({ logIn: () => false })
    const sent = await mailer(withUser(server.url, "user:wrong")).send(MAIL)
    expect(sent).toEqual({ ...UNHEARD, step: "log_in", cause: "EAUTH", why: "the server replied 535", reply: 535 })
  })

  test("smtps is encrypted from the first octet", async () => {
    const server = await testSmtp({}, { secure: true, key: certificate("acme.key"), cert: certificate("acme.pem") })
    expect(await mailer(server.url).send(MAIL)).toEqual(accepted)
    expect(server.taken.map(({ isEncrypted }) => isEncrypted)).toEqual([true])
  })

  test("smtps to a server that speaks in the clear sends nothing", async () => {
    const server = await testSmtp()
    const sent = await mailer(server.url.replace("smtp:", "smtps:"), { greetingMs: 500, connectMs: 500 }).send(MAIL)
    expect(sent).toMatchObject({ kind: "unavailable", reply: null })
  })

  test("encryption that the server offers is taken up", async () => {
    const server = await testSmtp(
      {},
      { disabledCommands: ["AUTH"], key: certificate("acme.key"), cert: certificate("acme.pem") },
    )
    expect(await mailer(server.url).send(MAIL)).toEqual(accepted)
    expect(server.taken.map(({ isEncrypted }) => isEncrypted)).toEqual([true])
  })
})

describe("what a URL asks for", () => {
  const strict = { rejectUnauthorized: true }
  const lax = { rejectUnauthorized: false }
  const auth = { user: "me", pass: "pw" }
  const cases: readonly (readonly [url: string, connection: ReturnType<typeof parseSmtpUrl>])[] = [
    ["smtp://mx.example.com", { host: "mx.example.com", port: 587, secure: false, requireTLS: false, tls: lax }],
    ["smtp://mx.example.com:25", { host: "mx.example.com", port: 25, secure: false, requireTLS: false, tls: lax }],
    [
      "smtp://me:pw@mx.example.com",
      { host: "mx.example.com", port: 587, secure: false, requireTLS: true, tls: strict, auth },
    ],
    ["smtps://mx.example.com", { host: "mx.example.com", port: 465, secure: true, requireTLS: false, tls: strict }],
    [
      "smtps://me:pw@mx.example.com:2465/",
      { host: "mx.example.com", port: 2465, secure: true, requireTLS: false, tls: strict, auth },
    ],
    [
      "smtp://me:pw@127.0.0.1:2525",
      { host: "127.0.0.1", port: 2525, secure: false, requireTLS: false, tls: lax, auth },
    ],
    ["smtps://localhost", { host: "localhost", port: 465, secure: true, requireTLS: false, tls: lax }],
    ["smtp://[::1]:25", { host: "::1", port: 25, secure: false, requireTLS: false, tls: lax }],
    [
      "smtp://mx.example.com?tls=required",
      { host: "mx.example.com", port: 587, secure: false, requireTLS: true, tls: strict },
    ],
    ["smtp://127.0.0.1:25?tls=required", { host: "127.0.0.1", port: 25, secure: false, requireTLS: true, tls: strict }],
    ["smtps://localhost/?tls=required", { host: "localhost", port: 465, secure: true, requireTLS: false, tls: strict }],
    [
      "smtp://me:pw@127.example.com",
      { host: "127.example.com", port: 587, secure: false, requireTLS: true, tls: strict, auth },
    ],
  ]
  for (const [url, connection] of cases) test(url, () => expect(parseSmtpUrl(url)).toEqual(connection))
})

test("with ?tls=required no mail goes to a server that offers no TLS, or whose certificate is not valid", async () => {
  for (const options of [{}, { disabledCommands: ["AUTH"] }, { secure: true }]) {
    const server = await testSmtp({}, options)
    expect(await mailer(server.url).send(MAIL)).toEqual(accepted)
    expect(await mailer(`${server.url}?tls=required`).send(MAIL)).toMatchObject({ kind: "unavailable" })
    expect(server.taken).toHaveLength(1)
  }
})

test("a mail is protected on its way where TLS is verified, and where there is no way", () => {
  const isProtected = (url: string): readonly [string, boolean] => [url, isMailProtected(url)]
  for (const server of ["mx.example.com", "10.0.0.1", "[2001:db8::1]:25", "mail", "127.example.com"]) {
    expect(isProtected(`smtp://${server}`)).toEqual([`smtp://${server}`, false])
    for (const url of [`smtps://${server}`, `smtp://me:pw@${server}`, `smtp://${server}?tls=required`])
      expect(isProtected(url)).toEqual([url, true])
  }
  for (const server of ["localhost", "127.0.0.1:1025", "127.9.9.9", "[::1]"])
    for (const url of [
      `smtp://${server}`,
      `smtps://${server}`,
      `smtp://me:pw@${server}`,
      `smtp://${server}?tls=required`,
    ])
      expect(isProtected(url)).toEqual([url, true])
})

test("an outcome repeats nothing that the server said", async () => {
  for (const step of ["sender", "recipient", "mail"] as const)
    for (const reply of [450, 550]) {
      const server = await testSmtp({ [step]: () => reply })
      expect(JSON.stringify(await mailer(server.url).send(MAIL))).not.toMatch(/jane|thanks|svc_/)
    }
})
