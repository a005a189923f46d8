import { expect, test } from "bun:test"
import { checkSmtp, createSmtpMailer, SMTP_BOUNDS } from "../../../src/customers/notices/smtp-mailer.ts"
import { diagnoseMailServer } from "../../../src/doctor/network.ts"
import { deadServer, muteServer, testSmtp } from "../../support/smtp-server.ts"

const FROM = "mailkind <notices@example.com>"

const withLogIn = (url: string, password: string): string => url.replace("//", `//jane:${password}@`)

test("a server that takes a connection and the log-in is well, and gets no mail", async () => {
  const server = await testSmtp({ logIn: (user, password) => user === "jane" && password === "s3cret%" })
  const where = `127.0.0.1:${server.port}`
  expect(await checkSmtp(withLogIn(server.url, "s3cret%25"), FROM)).toEqual({
    kind: "well",
    where,
    isEncrypted: false,
    isLoggedIn: true,
  })
  expect(await checkSmtp(server.url, FROM)).toEqual({ kind: "well", where, isEncrypted: false, isLoggedIn: false })
  expect([server.connectionCount(), server.taken]).toEqual([2, []])
})

test("a server of TLS from the first octet is tried by TLS", async () => {
  const server = await testSmtp({}, { secure: true })
  expect(await checkSmtp(server.url, FROM)).toMatchObject({ kind: "well", isEncrypted: true })
})

test("what is asked of a server that offers no TLS, or no log-in, is told by the step that failed", async () => {
  const server = await testSmtp()
  expect(await checkSmtp(server.url.replace("smtp:", "smtps:"), FROM)).toMatchObject({
    kind: "unavailable",
    step: "no_tls",
  })
  expect(await checkSmtp(withLogIn(server.url, "x"), FROM)).toMatchObject({ kind: "unavailable", step: "log_in" })
})

test("a wrong password is told by its reply, and neither it nor what the server says is in what is told", async () => {
  const server = await testSmtp({ logIn: () => false })
  const trial = await checkSmtp(withLogIn(server.url, "wrong-secret"), FROM)
  expect(trial).toMatchObject({ kind: "unavailable", step: "log_in", cause: "EAUTH", reply: 535 })
  expect(JSON.stringify(trial)).not.toMatch(/wrong-secret|jane|no thanks/)
})

test("a server that refuses, hangs up, is dead or says nothing has failed before the log-in, within its bounds", async () => {
  const busy = await testSmtp({ greeting: () => 421 })
  expect(await checkSmtp(busy.url, FROM)).toMatchObject({ step: "refused_connection", reply: 421 })
  const rude = await testSmtp({ greeting: () => "hang_up" })
  expect(await checkSmtp(rude.url, FROM)).toMatchObject({ step: "connect", reply: null })
  expect(await checkSmtp(deadServer(), FROM)).toMatchObject({ step: "connect", cause: "ECONNREFUSED" })
  expect(await checkSmtp(await muteServer(), FROM, { ...SMTP_BOUNDS, greetingMs: 50 })).toMatchObject({
    step: "greeting",
    cause: "ETIMEDOUT",
  })
})

test("a sender that is refused for good fails the server, and one that is deferred does not; only the address is said", async () => {
  const senders: string[] = []
  let reply: number | null = 553
  const server = await testSmtp({
    sender: address => {
      senders.push(address)
      return reply
    },
  })
  const refused = await checkSmtp(server.url, FROM)
  expect(refused).toMatchObject({ kind: "unavailable", step: "sender", cause: "EENVELOPE", reply: 553 })
  expect(JSON.stringify(refused)).not.toMatch(/no thanks|notices@/)
  expect(diagnoseMailServer(refused, true)).toMatchObject({
    verdict: "failed",
    remedy: expect.stringContaining("MAILKIND_MAIL_FROM"),
  })
  reply = 451
  const deferred = await checkSmtp(server.url, "notices@example.com")
  expect(deferred).toMatchObject({ kind: "refused", isPermanent: false, reply: 451 })
  expect(diagnoseMailServer(deferred, true).verdict).toBe("warning")
  expect(senders).toEqual(["notices@example.com", "notices@example.com"])
})

test("each way in which a server fails has its own step and remedy, the same for a mail and for a trial", async () => {
  const [plain, busy, barred, strict] = [
    await testSmtp(),
    await testSmtp({ greeting: () => 421 }),
    await testSmtp({ greeting: () => 554 }),
    await testSmtp({ sender: () => 550 }),
  ]
  const mail = { from: FROM, to: "jane@example.com", subject: "", text: "", html: "", messageId: "x@y", dateMs: 0 }
  for (const [url, step] of [
    ["smtp://mail.nowhere.invalid:25", "look_up"],
    [deadServer(), "connect"],
    [busy.url, "refused_connection"],
    [barred.url, "refused_connection"],
    [`${plain.url}?tls=required`, "no_tls"],
    [plain.url.replace("smtp:", "smtps:"), "no_tls"],
    [strict.url, "sender"],
  ] as const) {
    const mailer = createSmtpMailer()(url)
    for (const seen of [await mailer.send(mail), await mailer.tryServer(FROM)])
      expect([url, seen.kind === "unavailable" && seen.step]).toEqual([url, step])
    mailer.close()
  }
})
