import { describe, expect, test } from "bun:test"
import { createMailProbe } from "../../../../src/check/mail/mail-probe.ts"
import { createNetworkProbe } from "../../../../src/check/network-evidence.ts"
import { createAccount } from "../../../../src/customers/accounts/accounts.ts"
import { addEntries, OPERATOR } from "../../../../src/customers/own-lists/own-lists.ts"
import { random } from "../../../customers/temp-store.ts"
import { type AppOptions, testApp } from "../../../support/app.ts"
import { createBrowser, signInMailParts } from "../../../support/html-browser.ts"
import type { FakeTime } from "../../../support/time.ts"
import { settled } from "../../../support/time.ts"
import { asking, zone } from "../../../support/zone.ts"

const POLICIES = ["off", "warn", "refuse"] as const

const TYPO = "jane@gmial.com"
const THROW_AWAY = "jane@mailinator.com"
const DEAD = "jane@no-such-name.com"
const FINE = "jane@granite-works.com"

/** A DNS in which some names have a mail host, `silent` ones never answer, `broken` ones fail, and all others do not exist. */
const outside = (time: FakeTime) => {
  const ask = zone({ [`MX granite-works.com`]: ["10 mx.granite-works.com"] }, 300, time.clock).ask
  const mail = createMailProbe({
    ask: asking(question => {
      if (question.name.includes("silent")) return Promise.withResolvers<never>().promise
      if (question.name.includes("broken")) throw new TypeError("the packet of jane@broken.com")
      return ask(question)
    }),
    clock: time.clock,
  })
  return createNetworkProbe({
    probeMail: ({ domain, organisationalDomain, asked }, budget) => mail(domain, organisationalDomain, budget, asked),
    probeTenant: null,
    isUnavailable: () => false,
    clock: time.clock,
    setTimer: time.later,
    timeoutMs: 3000,
    nextTick: queueMicrotask,
    queryTimeoutMs: 3000,
  })
}

async function opened(signUpPolicy: (typeof POLICIES)[number], options: AppOptions = {}) {
  const harness = await testApp({ signUpPolicy, outside, ...options })
  const browser = () => createBrowser(harness.app, { followsRedirects: true })
  const own = browser()
  const asks = async (email: string, fields: Readonly<Record<string, string>> = {}, from = own) => {
    const shown = await from.post("/sign-in", { email, ...fields })
    await settled()
    return shown
  }
  const recipients = () => harness.mails.map(({ to }) => to)
  const knows = (email: string) => createAccount(harness.changes, random, { email, tier: 0, termsVersion: null })
  return { ...harness, own, browser, asks, recipients, knows }
}

const CODE_PATH = "/sign-in/code"

test("what is asked about and what is refused depends on the policy, and nothing is said of a fine address", async () => {
  for (const policy of POLICIES) {
    const seen: Record<string, readonly [status: number, path: string]> = {}
    for (const email of [TYPO, THROW_AWAY, DEAD, FINE]) {
      const { asks, recipients } = await opened(policy)
      const { status, path } = await asks(email)
      seen[email] = [status, path]
      expect([policy, email, recipients()]).toEqual([policy, email, path === CODE_PATH ? [email] : []])
    }
    const sent = [200, CODE_PATH] as const
    const asked = policy === "off" ? sent : ([200, "/sign-in"] as const)
    const refused = policy === "refuse" ? ([400, "/sign-in"] as const) : asked
    expect([policy, seen]).toEqual([policy, { [TYPO]: asked, [THROW_AWAY]: refused, [DEAD]: refused, [FINE]: sent }])
  }
})

describe("a mistyped address", () => {
  test("is asked about, and either answer works without a script", async () => {
    for (const [button, to] of [
      [0, "jane@gmail.com"],
      [1, TYPO],
    ] as const) {
      const { own, asks, recipients } = await opened("warn")
      const confirmation = await asks(TYPO, { next: "/dashboard/usage" })
      expect(confirmation.text).toContain("Did you mean jane@gmail.com ?")
      expect(confirmation.text).toContain("Use jane@gmail.com")
      expect(confirmation.text).toContain(`Keep ${TYPO}`)
      const fields = [
        ...confirmation.html.matchAll(/<form class="action" method="post" action="\/sign-in">(.*?)<\/form>/gs),
      ].map(([, form = ""]) =>
        Object.fromEntries([...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])),
      )
      const answered = await own.post("/sign-in", fields[button] ?? {})
      await settled()
      expect([answered.path, recipients()]).toEqual([`${CODE_PATH}?next=%2Fdashboard%2Fusage`, [to]])
    }
  })

  test("that a list calls throw-away is used once it is kept, where the policy refuses throw-aways too", async () => {
    const { asks, recipients } = await opened("refuse")
    expect((await asks(TYPO)).text).toContain("Did you mean")
    const kept = await asks(TYPO, { confirmed: TYPO })
    expect([kept.status, recipients()]).toEqual([200, [TYPO]])
  })
})

test("a throw-away or dead address that is refused says why at its field, and is kept there", async () => {
  for (const [email, reason] of [
    [THROW_AWAY, "This is a disposable address."],
    [DEAD, "This address cannot receive email."],
  ] as const) {
    const { asks, recipients } = await opened("refuse")
    for (const confirmed of ["", email]) {
      const refused = await asks(email, { confirmed })
      expect(refused.status).toBe(400)
      expect(refused.html).toMatch(new RegExp(`<input[^>]*value="${email}"[^>]*aria-invalid`))
      expect(refused.text).toContain(reason)
    }
    expect(recipients()).toEqual([])
  }
})

describe("an account that exists", () => {
  test("gets its code at once under every policy, and the answer tells nothing of it", async () => {
    for (const policy of ["warn", "refuse"] as const)
      for (const email of [TYPO, THROW_AWAY, DEAD]) {
        const harness = await opened(policy)
        const { asks, knows, recipients, browser, mails } = harness
        const stranger = await asks(email, {}, browser())
        expect(recipients()).toEqual([])
        await knows(email)
        const own = browser()
        const shown = await asks(email, {}, own)
        expect(recipients()).toEqual([email])
        expect([shown.status, shown.path, shown.html]).toEqual([stranger.status, stranger.path, stranger.html])
        const codePage = await own.get(CODE_PATH)
        await own.submit(codePage, { code: signInMailParts(mails.at(-1)).code })
        expect(own.cookies.has("mailkind_session")).toBe(true)
      }
  })

  test("signs in by one mail with an address that nothing is wrong with", async () => {
    const { asks, knows, recipients } = await opened("refuse")
    await knows(FINE)
    expect((await asks(FINE)).path).toBe(CODE_PATH)
    expect(recipients()).toEqual([FINE])
  })
})

describe("nobody is held up", () => {
  test("by a DNS that fails", async () => {
    const { asks, logged } = await opened("refuse")
    expect((await asks("jane@broken.com")).path).toBe(CODE_PATH)
    expect(JSON.stringify(logged)).not.toContain("jane")
  })

  test("by a DNS that is silent for longer than a second", async () => {
    const { app, time, mails } = await opened("refuse")
    const body = new URLSearchParams({ email: "jane@silent.com" })
    const headers = { Origin: "http://localhost", "Sec-Fetch-Site": "same-origin" }
    const answer = app(new Request("http://localhost/sign-in", { method: "POST", body, headers }))
    while (time.waiting() === 0) await settled()
    await time.tick(1000)
    expect((await answer).headers.get("location")).toBe(CODE_PATH)
    await settled()
    expect(mails).toHaveLength(1)
  })

  test("for a name of tests, examples and private networks, or one that the operator allows", async () => {
    const { asks, changes } = await opened("refuse")
    await addEntries(changes, OPERATOR, "allow", [
      { kind: "domain", domain: "mailinator.com", storedText: "mailinator.com" },
    ])
    for (const email of [
      "jane@mailkind.test",
      "disposable@mailkind.test",
      "jane@example.com",
      "jane@sub.example.org",
      "ops@corp.internal",
      "owner@localhost",
      THROW_AWAY,
    ])
      expect([email, (await asks(email)).path]).toEqual([email, CODE_PATH])
  })
})

test("it spends no units, and writes the address nowhere", async () => {
  const { asks, store, customers, logged } = await opened("warn")
  for (const email of [TYPO, THROW_AWAY, DEAD, FINE]) await asks(email)
  await customers.usage.flush()
  expect([await store.all("SELECT * FROM usage"), await store.all("SELECT * FROM units")]).toEqual([[], []])
  expect(JSON.stringify([logged, await store.all("SELECT * FROM sign_ins")])).not.toContain("jane")
})

describe("what is refused because of its rate keeps what was typed", () => {
  test("the fourth mail of an address, with the field for the code, which signs in", async () => {
    const { own, asks, mails } = await opened("warn")
    for (let count = 0; count < 3; count++) expect((await asks(FINE)).path).toBe(CODE_PATH)
    const refused = await asks(FINE)
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "300"])
    expect(refused.html).toContain('name="code"')
    expect(refused.text).toContain("Use the code from the latest one.")
    await own.submit(refused, { code: signInMailParts(mails.at(-1)).code })
    expect(own.cookies.has("mailkind_session")).toBe(true)
  })

  test("an address in a browser that waits for no code, or for that of another address", async () => {
    const { asks, browser } = await opened("warn")
    for (let count = 0; count < 3; count++) await asks(FINE)
    for (const from of [browser(), browser()]) {
      await asks("joe@granite-works.com", {}, from)
      const refused = await asks(FINE, {}, from)
      expect(refused.status).toBe(429)
      expect(refused.html).toContain(`value="${FINE}"`)
      expect(refused.html).not.toContain('name="code"')
    }
  })

  test("a code after too many tries", async () => {
    const { own, asks, browser } = await opened("warn")
    const shown = await asks(FINE)
    const other = browser()
    for (let count = 0; count < 30; count++) await other.post("/sign-in/code", { code: "000000" })
    const refused = await own.submit(shown, { code: "12 34 56" })
    expect(refused.status).toBe(429)
    expect(refused.html).toContain('value="12 34 56"')
  })
})
