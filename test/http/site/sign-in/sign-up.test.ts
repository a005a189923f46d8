import { expect, test } from "bun:test"
import { testApp } from "../../../support/app.ts"
import { createBrowser, signInMailParts } from "../../../support/html-browser.ts"
import { testSmtp } from "../../../support/smtp-server.ts"

/** Lets what comes from sockets come until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}

/** The plain text of a mail whose lines are short and in ASCII, so that they went over the wire as they are. */
const textIn = (raw: string): string =>
  raw.slice(raw.indexOf("\r\n\r\nEnter"), raw.indexOf("text/html")).replaceAll("\r\n", "\n")

test("a mail that a server turns away at first signs up whoever waits for it, with a key that works", async () => {
  let triesCount = 0
  const smtp = await testSmtp({ recipient: () => (++triesCount === 1 ? 451 : null) })
  const { app, ask, time, logged, look, store } = await testApp({ smtpUrl: smtp.url })
  const own = createBrowser(app, { followsRedirects: true })
  const shown = await own.submit(await own.get("/sign-in"), { email: "jane@example.com" })
  expect(shown.status).toBe(200)
  await until(() => time.waiting() > 0)
  expect([triesCount, smtp.taken.length]).toEqual([1, 0])
  await time.tick(15_000)
  await smtp.takes(1)
  const [mail] = smtp.taken
  expect(mail?.to).toEqual(["jane@example.com"])
  const { link, code } = signInMailParts({ text: textIn(mail?.raw ?? "") })
  const page = await own.get(link)
  expect(page.text).toContain("You are about to sign in as jane@example.com")
  const welcome = await own.submit(page)
  const key = /svc_live_\w{38}/.exec(welcome.text)?.[0] ?? ""
  expect((await ask("POST /v1/check", { key, body: { email: "jane@gmail.com" } })).status).toBe(200)
  expect((await own.submit(shown, { code })).path).toBe("/dashboard")
  // The notice of the new key went into the outbox with it, and holds no key.
  await look()
  await smtp.takes(2)
  expect(smtp.taken[1]?.raw).toContain("New API key in your mailkind account")
  expect(smtp.taken[1]?.raw).not.toContain(key)
  expect(JSON.stringify(logged)).not.toMatch(/jane|token=/)
  expect(JSON.stringify(await store.all("SELECT * FROM outbox"))).not.toContain("sign_in")
})
