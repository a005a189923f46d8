import { expect, test } from "bun:test"
import { newAccount } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { createBrowser, signInMailParts } from "../../../support/html-browser.ts"

const CLOSED = { MAILKIND_SIGN_UP: "closed", MAILKIND_PUBLIC_CHECKER: "off" }

test("while sign-up is closed, only an address with an account and one in MAILKIND_ADMINS get a mail, and all see the same page", async () => {
  const { app, mails, changes, store } = await testApp({ settings: CLOSED, admins: ["root@example.org"] })
  await newAccount(changes, "jane@example.org")
  const pages: string[] = []
  for (const email of ["jane@example.org", "root@example.org", "stranger@example.org"]) {
    const browser = createBrowser(app, { followsRedirects: true })
    const page = await browser.submit(await browser.get("/sign-in"), { email })
    pages.push(page.text.replaceAll(email, "…"))
  }
  expect(new Set(pages).size).toBe(1)
  expect(pages[0]).toContain("If it has an account")
  expect(mails.map(({ to }) => to)).toEqual(["jane@example.org", "root@example.org"])
  const admin = createBrowser(app, { followsRedirects: true })
  const { link } = signInMailParts(mails[1] ?? { text: "" })
  expect((await admin.submit(await admin.get(link))).text).toContain("Account created")
  expect(await store.all("SELECT email FROM accounts WHERE email LIKE 'stranger%'")).toEqual([])
})

test("a link that was mailed before its account was deleted makes no account while sign-up is closed", async () => {
  const { app, mails, changes, store } = await testApp({ settings: CLOSED })
  const id = await newAccount(changes, "jane@example.org")
  const browser = createBrowser(app, { followsRedirects: true })
  await browser.submit(await browser.get("/sign-in"), { email: "jane@example.org" })
  await store.run("DELETE FROM accounts WHERE id = $1", [id])
  const page = await browser.submit(await browser.get(signInMailParts(mails[0] ?? { text: "" }).link))
  expect(page.text).toContain("This sign-in has ended")
  expect(await store.all("SELECT email FROM accounts WHERE email LIKE 'jane%'")).toEqual([])
})

test("a private server offers strangers neither a key nor a checker, and answers the free check with not_found", async () => {
  const { app } = await testApp({ settings: CLOSED })
  const pages = ["/", "/docs", "/docs/guide", "/docs/start", "/docs/limits", "/docs/self-hosting", "/sign-in"]
  for (const path of pages) {
    const text = await (await app(new Request(`http://localhost${path}`))).text()
    expect([path, /free key|create your account/i.exec(text)?.[0]]).toEqual([path, undefined])
  }
  const home = await (await app(new Request("http://localhost/"))).text()
  expect(home).not.toContain('name="input"')
  expect(home).toContain('href="/sign-in"')
  expect(home).toContain('href="/docs/guide"')
  const headers = {
    Origin: "http://localhost",
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json",
  }
  const body = "input=jane%40example.com"
  const posted = await app(new Request("http://localhost/", { method: "POST", headers, body }))
  const asked = await app(new Request("http://localhost/pass/challenge"))
  expect([posted.status, asked.status]).toEqual([404, 404])
})

test("a form that is sent under another address is refused once in the log, with the setting that is missing", async () => {
  const { app, logged } = await testApp()
  const send = () =>
    app(
      new Request("http://localhost/sign-in", {
        method: "POST",
        headers: { Origin: "https://mail.example.org", "Content-Type": "application/x-www-form-urlencoded" },
        body: "email=x%40example.org",
      }),
    )
  const refused = await send()
  await send()
  expect([refused.status, (await refused.text()).includes("MAILKIND_BASE_URL")]).toEqual([403, true])
  const lines = logged.filter(({ message }) => message === "a form from another origin was refused")
  expect(lines.map(({ fields }) => [fields["origin"], String(fields["remedy"]).includes("MAILKIND_BASE_URL")])).toEqual(
    [["https://mail.example.org", true]],
  )
})

test("MAILKIND_TEST_DOMAIN=off leaves no test address, with and without a key", async () => {
  const { ask } = await testApp({ settings: { MAILKIND_TEST_DOMAIN: "off" } })
  const body = { email: "business@mailkind.test" }
  expect((await ask("POST /v1/check", { key: null, body })).status).toBe(401)
  const checked = await ask("POST /v1/check", { body })
  expect(checked.body).toMatchObject({ category: "invalid" })
})
