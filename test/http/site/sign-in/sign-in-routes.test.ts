import { describe, expect, test } from "bun:test"
import { createAccount } from "../../../../src/customers/accounts/accounts.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import { random } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { createBrowser, linksIn, signInMailParts } from "../../../support/html-browser.ts"
import { settled } from "../../../support/time.ts"

const EMAIL = "jane.doe@private-example.com"
const AGENT = { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" }

/** A server, a browser, and how somebody asks there for a sign-in. */
async function opened(options: Parameters<typeof testApp>[0] = {}) {
  const harness = await testApp(options)
  const own = createBrowser(harness.app, { headers: AGENT, followsRedirects: true })
  const asks = async (email = EMAIL, from = own, next = "") => {
    const page = await from.get(`/sign-in${next === "" ? "" : `?next=${encodeURIComponent(next)}`}`)
    const shown = await from.submit(page, { email })
    await settled()
    return { shown, ...signInMailParts(harness.mails.at(-1)) }
  }
  return { ...harness, own, asks, other: () => createBrowser(harness.app, { headers: AGENT, followsRedirects: true }) }
}

const keyIn = (text: string): string => /svc_live_[0-9A-Za-z]{38}/.exec(text)?.[0] ?? ""

describe("a first sign-in", () => {
  test.each(["code", "link"] as const)("by %s shows the account's first key once, and a command with it", async by => {
    const { own, asks, ask, mails } = await opened()
    const { shown, code, link } = await asks()
    expect(shown.path).toBe("/sign-in/code")
    expect(shown.text).toContain(EMAIL)
    expect(mails).toMatchObject([{ to: EMAIL, subject: `${code} is your mailkind code` }])
    const welcome = by === "code" ? await own.submit(shown, { code }) : await own.submit(await own.get(link))
    expect(welcome).toMatchObject({ status: 200 })
    const key = keyIn(welcome.text)
    expect(welcome.text).toContain(`-H "Authorization: Bearer ${key}"`)
    expect((await ask("POST /v1/check", { key, body: { email: "jane@gmail.com" } })).status).toBe(200)
    expect([...own.cookies.keys()]).toEqual(["mailkind_session"])
    const account = await own.get("/dashboard/account")
    expect(account.text).toContain("Firefox on Linux")
    expect(account.html).not.toContain(key)
    // Sent again, the form leads to the dashboard and shows no key.
    const again = by === "code" ? await own.submit(shown, { code }) : await own.post("/sign-in/link", { token: "x" })
    expect(again.path).toBe("/dashboard")
  })

  test("is told of the terms that it accepts, when there are any", async () => {
    const { own, asks, changes, store } = await opened()
    expect((await own.get("/sign-in")).text).not.toContain("you accept")
    await publishTerms(changes, { version: "2026-01", url: "https://example.com/terms", isMaterial: true })
    const { shown, link } = await asks()
    for (const page of [await own.get("/sign-in"), shown, await own.get(link)]) {
      expect(page.text).toContain("When you create an account, you accept the terms, version 2026-01 .")
      expect(linksIn(page)).toContain("https://example.com/terms")
    }
    await own.submit(await own.get(link))
    const rows = await store.all("SELECT accepted_terms_version AS v FROM accounts WHERE email = $1", [EMAIL])
    expect(rows).toEqual([{ v: "2026-01" }])
  })

  test("has the tier of a new account", async () => {
    const { own, asks, store } = await opened()
    const { shown, code } = await asks()
    await own.submit(shown, { code })
    expect(await store.all("SELECT tier FROM accounts WHERE email = $1", [EMAIL])).toEqual([{ tier: 0 }])
  })
})

test("no page of the sign-in offers a key in its header, since its form gives one", async () => {
  const { own, asks } = await opened()
  await asks()
  for (const path of ["/sign-in", "/sign-in/code", "/sign-in/link?token=x", "/invitation?token=x"]) {
    const [header = ""] = /<header.*?<\/header>/s.exec((await own.get(path)).html) ?? []
    expect(header).toContain(">Sign in</a>")
    expect(header).not.toContain("Get a free key")
  }
})

test("an address is asked for in one way, whether it has an account or not", async () => {
  const { changes, store, other, mails } = await opened()
  await createAccount(changes, random, { email: "known@example.com", tier: 0, termsVersion: null })
  const seen = []
  for (const email of ["known@example.com", "nobody@example.com"]) {
    const statements: string[] = []
    const watched = watching(store, statements)
    const from = other()
    const shown = await from.submit(await from.get("/sign-in"), { email })
    await settled()
    watched()
    const { path, status, html } = shown
    const headers = [...shown.headers].filter(([name]) => name !== "x-request-id")
    seen.push({
      path,
      status,
      headers,
      statements,
      html: html.replaceAll(email, "…"),
      cookies: [...from.cookies.keys()],
    })
  }
  expect(seen[0]?.statements).toContain("transaction")
  for (const one of seen) expect<unknown>(one).toEqual(seen[0])
  expect(mails.map(({ to, subject }) => `${to} ${subject.replace(/^[0-9]{6}/, "…")}`)).toEqual([
    "known@example.com … is your mailkind code",
    "nobody@example.com … is your mailkind code",
  ])
})

/** Notes the statements that a store runs outside of transactions, and how many transactions; the returned function ends it. */
function watching(store: Record<string, unknown>, statements: string[]): () => void {
  const names = ["all", "one", "run", "transaction"] as const
  const kept = names.map(name => [name, store[name]] as const)
  for (const [name, work] of kept)
    store[name] = (...given: readonly unknown[]) => {
      statements.push(name === "transaction" ? name : String(given[0]))
      return (work as (...given: readonly unknown[]) => unknown)(...given) // one of the store's own
    }
  return () => Object.assign(store, Object.fromEntries(kept))
}

describe("a link", () => {
  test("that is only opened, however often and with HEAD, signs nobody in", async () => {
    const { app, asks, other, store } = await opened()
    const { link } = await asks()
    const scanner = other()
    for (let time = 0; time < 3; time++) {
      expect((await scanner.get(link)).text).toContain(`You are about to sign in as ${EMAIL}`)
      expect((await app(new Request(`http://localhost${link}`, { method: "HEAD" }))).status).toBe(200)
    }
    expect([...scanner.cookies]).toEqual([])
    expect(await store.all("SELECT id FROM sessions")).toEqual([])
    const from = other()
    expect(keyIn((await from.submit(await from.get(link))).text)).not.toBe("")
  })

  test("works in a browser that did not ask, and ends the code in the one that did", async () => {
    const { own, asks, other } = await opened()
    const { shown, link, code } = await asks()
    const phone = other()
    await phone.submit(await phone.get(link))
    expect(phone.cookies.has("mailkind_session")).toBe(true)
    const late = await own.submit(shown, { code })
    expect(late).toMatchObject({ status: 400 })
    expect(late.text).toContain("This code has expired")
    expect(own.cookies.has("mailkind_session")).toBe(false)
    expect((await own.get("/sign-in/code")).text).toContain("This code has expired")
  })

  test("works once, and within a quarter of an hour", async () => {
    const { asks, other, time } = await opened()
    const { link } = await asks()
    const [first, second] = [other(), other()]
    const pages = [await first.get(link), await second.get(link)] as const
    await first.submit(pages[0])
    const refused = await second.submit(pages[1])
    expect(refused).toMatchObject({ status: 400 })
    expect([...second.cookies]).toEqual([])
    const { link: next } = await asks()
    await time.tick(15 * 60_000)
    expect((await second.get(next)).text).toContain("This link has expired")
    expect((await second.post("/sign-in/link", { token: new URLSearchParams(next).get("token") ?? "" })).status).toBe(
      400,
    )
  })

  test("of which a part is missing, or that is none, is told so", async () => {
    const { other } = await opened()
    for (const token of ["", "x", "%00", "a".repeat(32), "a".repeat(5000), "<script>", "é".repeat(32)]) {
      const from = other()
      const shown = await from.get(`/sign-in/link?token=${encodeURIComponent(token)}`)
      expect(shown.text).toContain("A link works once")
      expect((await from.post("/sign-in/link", { token })).status).toBe(400)
      expect([...from.cookies]).toEqual([])
    }
    expect((await other().get("/sign-in/link")).text).toContain("This link has expired")
    expect((await other().get("/sign-in/link?token=%zz&token=x")).status).toBe(200)
  })
})

describe("a code", () => {
  test("may be typed as people type it", async () => {
    const { own, asks } = await opened()
    const { shown, code } = await asks()
    expect(keyIn((await own.submit(shown, { code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).text)).not.toBe("")
  })

  test("that is wrong tells how many tries are left, and after the fifth to ask again", async () => {
    const { own, asks } = await opened()
    const { shown, code, link } = await asks()
    const wrong = code === "000000" ? "000001" : "000000"
    for (const left of ["4 more tries", "3 more tries", "2 more tries", "one more try"]) {
      const refused = await own.submit(shown, { code: wrong })
      expect(refused).toMatchObject({ status: 400 })
      expect(refused.text).toContain(`You have ${left}.`)
      expect(refused.html).toContain("aria-invalid")
      expect(refused.html).not.toContain(wrong)
    }
    expect((await own.submit(shown, { code: wrong })).text).toContain("it was the last of 5 tries")
    const over = await own.submit(shown, { code })
    expect(over).toMatchObject({ status: 400 })
    expect(linksIn(over)).toContain("/sign-in")
    expect((await own.get(link)).text).toContain("This link has expired")
    expect(own.cookies.has("mailkind_session")).toBe(false)
  })

  test("that is none costs no try", async () => {
    const { own, asks } = await opened()
    const { shown, code } = await asks()
    for (const typed of ["", "12345", "1234567", "١٢٣٤٥٦", "abcdef", "<script>alert(1)</script>", "0".repeat(60_000)]) {
      const refused = await own.submit(shown, { code: typed })
      expect(refused).toMatchObject({ status: 400 })
      expect(refused.text).toContain("The code has 6 digits")
      expect(refused.html).not.toContain("alert(1)")
    }
    expect((await own.submit(shown, { code: "12 345" })).html).toContain('value="12 345"')
    expect(keyIn((await own.submit(shown, { code })).text)).not.toBe("")
  })

  test("signs nobody in without the cookie of the browser that asked, nor the cookie without a code", async () => {
    const { own, asks, other } = await opened()
    const { shown, code } = await asks()
    const stranger = other()
    expect((await stranger.submit(shown, { code })).status).toBe(400)
    expect((await stranger.get("/sign-in/code")).path).toBe("/sign-in")
    const thief = other()
    for (const [name, value] of own.cookies) thief.cookies.set(name, value)
    for (const path of ["/dashboard/account", "/sign-in/code", "/sign-in"])
      expect((await thief.get(path)).text).not.toContain("Browsers that are signed in")
    expect(thief.cookies.has("mailkind_session")).toBe(false)
    for (const hostile of ["", "x", "a".repeat(32), "a=b", '"'.repeat(32)]) {
      const guesser = other()
      guesser.cookies.set("mailkind_sign_in", hostile)
      expect((await guesser.submit(shown, { code })).status).toBe(400)
      expect(guesser.cookies.has("mailkind_session")).toBe(false)
    }
  })

  test("is that of the latest mail: asking again begins anew", async () => {
    const { own, asks } = await opened()
    const first = await asks()
    const second = await asks()
    if (first.code !== second.code) expect((await own.submit(second.shown, { code: first.code })).status).toBe(400)
    expect(keyIn((await own.submit(second.shown, { code: second.code })).text)).not.toBe("")
  })
})

test("after ten wrong codes for an address a day only the link signs in, and the page says so until 00:00 UTC", async () => {
  const { own, asks, other, time } = await opened()
  for (const from of [other(), other()]) {
    const { shown, code } = await asks(EMAIL, from)
    for (let count = 0; count < 5; count++) await from.submit(shown, { code: code === "000000" ? "000001" : "000000" })
  }
  const { shown, code, link } = await asks()
  expect(shown.text).toContain("codes are off until 00:00 UTC")
  expect(shown.html).not.toContain('name="code"')
  const refused = await own.post("/sign-in/code", { code })
  expect([refused.status, own.cookies.has("mailkind_session")]).toEqual([400, false])
  expect(refused.text).toContain("Use the link that came with the code")
  expect(keyIn((await own.submit(await own.get(link))).text)).not.toBe("")
  await time.tick(86_400_000)
  const next = other()
  const again = await asks(EMAIL, next)
  await next.submit(again.shown, { code: again.code })
  expect(next.cookies.has("mailkind_session")).toBe(true)
})

describe("a session", () => {
  test("that a browser brings is never the one that it is signed in by", async () => {
    const { own, asks, store } = await opened()
    own.cookies.set("mailkind_session", "f".repeat(32))
    const { shown, code } = await asks()
    await own.submit(shown, { code })
    expect(own.cookies.get("mailkind_session")).not.toBe("f".repeat(32))
    expect(await store.all("SELECT id FROM sessions")).toHaveLength(1)
  })

  test("that a browser had ends when it signs in to another account", async () => {
    const { own, asks, signIn, store, accountId } = await opened()
    const { link } = await asks()
    own.cookies.set("mailkind_session", (await signIn()).split("=")[1] ?? "")
    await own.submit(await own.get(link))
    expect(await store.all("SELECT id FROM sessions WHERE account_id = $1", [accountId])).toEqual([])
    expect((await own.get("/dashboard/account")).text).toContain(EMAIL)
  })

  test("makes the pages of the sign-in lead to the dashboard", async () => {
    const { own, signIn } = await opened()
    own.cookies.set("mailkind_session", (await signIn()).split("=")[1] ?? "")
    for (const path of ["/sign-in", "/sign-in/code", "/sign-in/link?token=x"])
      expect((await own.get(path)).path).toBe("/dashboard")
  })
})

describe("an address", () => {
  test("that no account can have is refused at its field, and nothing is sent", async () => {
    const { own, mails, logged, store, time } = await opened()
    for (const email of [
      ...[
        "",
        "jane",
        "@example.com",
        "jane@",
        "jane@@example.com",
        "jane doe@example.com",
        '"jane"@example.com',
        "jane@[127.0.0.1]",
      ],
      ...[
        "jane@example.com\r\nBcc: all@example.com",
        "jane@example.com\0",
        "jane@example.com,joe@example.com",
        "jane@127.0.0.1",
      ],
      ...[
        "Jane <jane@example.com>",
        `<script>alert("x")</script>@example.com`,
        `${"a".repeat(65)}@example.com`,
        "x".repeat(60_000),
      ],
    ]) {
      const refused = await own.submit(await own.get("/sign-in"), { email })
      expect([email.slice(0, 50), refused.status]).toEqual([email.slice(0, 50), 400])
      expect(refused.text).toContain("This is not an email address")
      expect(refused.html).not.toContain("<script>alert")
      expect(refused.html.length).toBeLessThan(10_000)
      await time.tick(60_000)
    }
    expect([mails, logged, await store.all("SELECT * FROM sign_ins")]).toEqual([[], [], []])
    expect([...own.cookies]).toEqual([])
  })

  test("is one account however it is written", async () => {
    const { asks, other, store } = await opened()
    for (const email of ["Jane@Bücher.example", " jane@XN--BCHER-KVA.example "]) {
      const from = other()
      await from.submit((await asks(email, from)).shown, { code: (await asks(email, from)).code })
    }
    expect(await store.all("SELECT email FROM accounts WHERE email LIKE 'jane%'")).toEqual([
      { email: "jane@xn--bcher-kva.example" },
    ])
  })

  test("is in no log line, and in no row before the sign-in", async () => {
    const { own, asks, logged, store } = await opened({
      takes: () => ({ kind: "refused", isPermanent: true, reply: 550 }),
    })
    const { shown, code } = await asks()
    await own.submit(shown, { code: code === "000000" ? "000001" : "000000" })
    await own.get("/sign-in/link?token=x")
    const tables = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    const rows = await Promise.all(tables.map(({ name }) => store.all(`SELECT * FROM ${name}`)))
    expect(rows.flat().length).toBeGreaterThan(0)
    for (const text of [JSON.stringify(rows), JSON.stringify(logged)]) expect(text).not.toMatch(/jane|private-example/)
    expect(logged).toMatchObject([{ level: "warn", fields: { reply: 550 } }])
  })
})

describe("without a mail server", () => {
  test("link and code are in the log, the page says so, and the first account signs in", async () => {
    const { own, asks, logged, key } = await opened({ smtpUrl: null })
    const { shown } = await asks("owner@localhost")
    expect(shown.text).toContain("Its log has a code for owner@localhost")
    const [line, ...more] = logged
    expect(more).toEqual([])
    expect(JSON.stringify(line)).not.toContain("owner")
    const account = await own.submit(shown, { code: String(line?.fields["code"]) })
    expect(account.path).toBe("/dashboard")
    expect(account.html).not.toContain(key)
    expect(keyIn(account.html)).toBe("")
  })

  test("the link of the log works too, and has the server's address", async () => {
    const { asks, logged, other } = await opened({ smtpUrl: null })
    await asks("owner@localhost")
    const link = String(logged[0]?.fields["link"])
    expect(link).toStartWith("http://localhost/sign-in/link?token=")
    const from = other()
    expect((await from.submit(await from.get(link.slice("http://localhost".length)))).path).toBe("/dashboard")
  })
})

test("a form from elsewhere signs nobody in and asks for nothing", async () => {
  const { own, asks, mails } = await opened()
  const { shown, code, link } = await asks()
  const token = new URLSearchParams(link.split("?")[1]).get("token") ?? ""
  for (const Origin of ["https://elsewhere.example", "null", "http://localhost.elsewhere.example"])
    for (const [path, fields] of [
      ["/sign-in", { email: "victim@example.com" }],
      ["/sign-in/code", { code }],
      ["/sign-in/link", { token }],
    ] as const)
      expect((await own.post(path, fields, { Origin })).status).toBe(403)
  expect(mails).toHaveLength(1)
  expect(own.cookies.has("mailkind_session")).toBe(false)
  expect(keyIn((await own.submit(shown, { code })).text)).not.toBe("")
})

describe("the page that somebody wanted", () => {
  const WANTED = "/dashboard/account?done=session-ended"

  test("comes after the sign-in, by code and by link", async () => {
    const { asks, other } = await opened()
    for (const by of ["code", "link"] as const) {
      const from = other()
      const turnedAway = await from.get(WANTED)
      const shown = await from.submit(turnedAway, { email: "owner@localhost.example" })
      await settled()
      expect(linksIn(shown)).toContain(`/sign-in?next=${encodeURIComponent(WANTED)}`)
      const { code, link } = await asks("owner@localhost.example", from, WANTED)
      const end = by === "code" ? await from.submit(shown, { code }) : await from.submit(await from.get(link))
      if (by === "code") expect(linksIn(end)).toContain(WANTED)
      else expect(end.path).toBe(WANTED)
    }
  })

  test("is never one of others", async () => {
    const { own, asks } = await opened()
    const { link, shown, code } = await asks(EMAIL, own, "//elsewhere.example/dashboard/account")
    expect(link).not.toContain("next")
    expect(linksIn(shown).join()).not.toContain("elsewhere")
    const end = await own.post("/sign-in/code", { code, next: "https://elsewhere.example" })
    expect(linksIn(end)).toContain("/dashboard")
    expect(end.html).not.toContain("elsewhere")
  })
})
