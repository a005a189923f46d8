import { expect, test } from "bun:test"
import { checkSmtp, SMTP_BOUNDS } from "../../../src/customers/notices/smtp-mailer.ts"
import { deadServer, muteServer, testSmtp } from "../../support/smtp-server.ts"

const withLogIn = (url: string, password: string): string => url.replace("//", `//jane:${password}@`)

test("a server that takes a connection and the log-in is well, and gets no mail", async () => {
  const server = await testSmtp({ logIn: (user, password) => user === "jane" && password === "s3cret%" })
  const hostPort = `127.0.0.1:${server.port}`
  expect(await checkSmtp(withLogIn(server.url, "s3cret%25"))).toEqual({
    kind: "well",
    hostPort,
    isEncrypted: false,
    isLoggedIn: true,
  })
  expect(await checkSmtp(server.url)).toEqual({ kind: "well", hostPort, isEncrypted: false, isLoggedIn: false })
  expect([server.connectionCount(), server.taken]).toEqual([2, []])
})

test("a server of TLS from the first octet is tried by TLS", async () => {
  const server = await testSmtp({}, { secure: true })
  expect(await checkSmtp(server.url)).toMatchObject({ kind: "well", isEncrypted: true })
})

test("what is asked of a server that offers no TLS, or no log-in, is told by the step that failed", async () => {
  const server = await testSmtp()
  expect(await checkSmtp(server.url.replace("smtp:", "smtps:"))).toMatchObject({
    kind: "failed",
    step: expect.stringMatching(/tls|connect/),
  })
  expect(await checkSmtp(withLogIn(server.url, "x"))).toMatchObject({ kind: "failed", step: "log_in" })
})

test("a wrong password is told by its reply, and neither it nor what the server says is in what is told", async () => {
  const server = await testSmtp({ logIn: () => false })
  const trial = await checkSmtp(withLogIn(server.url, "wrong-secret"))
  expect(trial).toMatchObject({ kind: "failed", step: "log_in", cause: "EAUTH", reply: 535 })
  expect(JSON.stringify(trial)).not.toMatch(/wrong-secret|jane|no thanks/)
})

test("a server that refuses, hangs up, is dead or says nothing has failed before the log-in, within its bounds", async () => {
  const busy = await testSmtp({ greeting: () => 421 })
  expect(await checkSmtp(busy.url)).toMatchObject({ step: "connect", reply: 421 })
  const rude = await testSmtp({ greeting: () => "hang_up" })
  expect(await checkSmtp(rude.url)).toMatchObject({ step: "connect", reply: null })
  expect(await checkSmtp(deadServer())).toMatchObject({ step: "connect", cause: "ECONNREFUSED" })
  expect(await checkSmtp(await muteServer(), { ...SMTP_BOUNDS, greetingMs: 50 })).toMatchObject({
    step: "greeting",
    cause: "ETIMEDOUT",
  })
})
