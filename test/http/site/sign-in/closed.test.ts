import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
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
  expect(page.text).toContain("This link has expired")
  expect(await store.all("SELECT email FROM accounts WHERE email LIKE 'jane%'")).toEqual([])
})

/** What a page says that lets a stranger sign up or try the checker: words, the checker's field, and a link in a text to its page. */
const OFFERS =
  /free key|sign up (?:for|here|now|with)|create your account|name="input"|<p>[^<]*<a href="\/">|\]\((?:http:\/\/localhost)?\/\)/gi

/** The routes that a browser or an agent of a stranger can read. */
const PUBLIC_PATHS = Object.values(ROUTES)
  .filter(({ method, access, path }) => method === "GET" && access === "anybody" && !path.includes(":"))
  .map(({ path }) => path)

test("the routes that a stranger can read are more than forty", () => {
  expect(PUBLIC_PATHS.length).toBeGreaterThan(40)
})

test.each(PUBLIC_PATHS)("a private server offers a stranger neither a key nor a checker at %s", async path => {
  const { app } = await testApp({ settings: CLOSED })
  const texts = [undefined, "text/markdown"].map(async accept => {
    const headers = accept === undefined ? {} : { Accept: accept }
    return await (await app(new Request(`http://localhost${path}`, { headers }))).text()
  })
  expect((await Promise.all(texts)).flatMap(text => text.match(OFFERS) ?? [])).toEqual([])
})

test("an open server offers both, in the words that a private one must not say", async () => {
  const { app } = await testApp()
  const offersAt = async (path: string) =>
    (await (await app(new Request(`http://localhost${path}`))).text()).match(OFFERS)
  expect(await offersAt("/")).toEqual(expect.arrayContaining(["free key", 'name="input"']))
  expect(await offersAt("/docs/limits")).toContain("free key")
  expect(await offersAt("/sign-in")).toContain("create your account")
})

test("a private server has no checker, and answers the free check with not_found", async () => {
  const { app } = await testApp({ settings: CLOSED })
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
