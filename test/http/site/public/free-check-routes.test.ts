import { describe, expect, test } from "bun:test"
import { CATEGORY_NAMES } from "../../../../src/contract/categories.ts"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { addEntries, OPERATOR } from "../../../../src/customers/own-lists/own-lists.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import { canSolveChallenge } from "../../../../src/http/site/pass.tsx"
import {
  CATEGORY_LABELS,
  CATEGORY_MEANINGS,
  verdictMeaning,
} from "../../../../src/http/site/ui/verdict/verdict-words.ts"
import { createSystem } from "../../../../src/system/system.ts"
import { entry } from "../../../contract/own-list-entry.ts"
import { passIn, solvedChallenge, spendFreeChecks, type Visiting, visit } from "../../../contract/visit.ts"
import { testApp } from "../../../support/app.ts"
import { attributesIn, HOSTILE, unescapeHtml } from "../../../support/open-site.ts"

const pageOf = async (harness: Awaited<ReturnType<typeof testApp>>, sent: Visiting) =>
  unescapeHtml(await (await visit(harness, sent)).text())

const ofTestAddress = (localPart: string) => ({
  result: exampleResult(localPart, "mailkind.test"),
  imitates: null,
  isDnsOff: false,
})

describe("a verdict", () => {
  test("is told in words for each kind, with what it means", async () => {
    const harness = await testApp()
    for (const category of CATEGORY_NAMES) {
      const page = await pageOf(harness, { input: `${category}@mailkind.test` })
      expect(page).toContain(CATEGORY_LABELS[category])
      expect(page).toContain(verdictMeaning(ofTestAddress(category)))
      expect(page).toContain(`value="${category}@mailkind.test"`)
      await harness.time.tick(1000)
    }
  })

  test("is given for an address, a domain and a website, told apart as a batch does", async () => {
    const harness = await testApp()
    for (const [input, description] of [
      ["jane@mailinator.com", CATEGORY_MEANINGS.disposable],
      ["gmail.com", "A provider of personal mailboxes."],
      ["https://www.ox.ac.uk/admissions", CATEGORY_MEANINGS.education],
      ["not an address@", CATEGORY_MEANINGS.invalid],
    ] as const) {
      await harness.time.tick(86_400_000)
      expect(await pageOf(harness, { input })).toContain(description)
    }
  })

  test("offers to check the address that was likely meant, by a button", async () => {
    const harness = await testApp()
    const page = await pageOf(harness, { input: "jane+x@gmial.com" })
    expect(page).toContain('name="input" value="jane+x@gmail.com"')
    expect(await pageOf(harness, { input: "gmial.com" })).toContain('name="input" value="gmail.com"')
  })

  test("is the operator's where his allow list names the domain, and tells nobody whom he blocks", async () => {
    const harness = await testApp()
    await addEntries(harness.changes, OPERATOR, "allow", [entry("mailinator.com")])
    await addEntries(harness.changes, OPERATOR, "block", [entry("stripe.com")])
    expect(await pageOf(harness, { input: "mailinator.com" })).not.toContain(CATEGORY_MEANINGS.disposable)
    const page = await pageOf(harness, { input: "stripe.com" })
    expect(page).not.toContain("blocklisted")
    expect(page).toContain('"is_blocked": false')
    expect((await harness.ask("GET /v1/check?domain=stripe.com")).body["is_blocked"]).toBe(true)
  })

  test("of what tries to be more than text is text", async () => {
    const harness = await testApp()
    const html = await (await visit(harness, { input: `${HOSTILE}@x.example` })).text()
    expect(html).not.toContain("<script>alert")
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=/)
  })

  test("leaves no trace of what was asked, in the log or in a row", async () => {
    const harness = await testApp()
    await visit(harness, { input: "secret.person@mailinator.com" })
    const tables = await harness.store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    const rows = await Promise.all(tables.map(({ name }) => harness.store.all(`SELECT * FROM ${name}`)))
    expect(JSON.stringify([rows, harness.logged])).not.toMatch(/secret\.person|mailinator|192\.0\.2/)
  })

  test("of a test address costs nothing", async () => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    for (let count = 0; count < 5; count++)
      expect((await visit(harness, { input: "business@mailkind.test" })).status).toBe(200)
    await harness.time.tick(10_000)
    expect([(await visit(harness)).status, (await visit(harness)).status]).toEqual([200, 503])
  })
})

test("a visitor who is too fast keeps what was typed, and an example counts as typed", async () => {
  const harness = await testApp()
  const refusals: string[] = []
  for (let count = 0; count < 60 && refusals.length < 2; count++) {
    const body = new URLSearchParams({
      input: "typed@kept.example",
      ...(refusals.length === 0 ? {} : { example: "sam@gmail.com" }),
    })
    const page = await visit(harness, { body: body.toString() })
    if (page.status === 429) refusals.push(await page.text())
  }
  expect(refusals[0]).toContain('value="typed@kept.example"')
  expect(refusals[1]).toContain('value="sam@gmail.com"')
})

test("a website with an @ behind its host is a website, and an address with a slash stays one", async () => {
  const harness = await testApp()
  for (const [input, domain] of [
    ["mailinator.com/inbox?to=a@b.com", '"url": "mailinator.com/inbox?to=a@b.com"'],
    ["https://mailinator.com/@jane", '"url": "https://mailinator.com/@jane"'],
    ["mailinator.com?a=b@gmail.com", '"domain": "mailinator.com"'],
    ["a/b@gmail.com", '"email": "a/b@gmail.com"'],
    ["jane+x?@gmail.com", '"email": "jane+x?@gmail.com"'],
  ] as const) {
    await harness.time.tick(86_400_000)
    expect(await pageOf(harness, { input })).toContain(domain)
  }
})

describe("an input that is none", () => {
  test.each([
    ["nothing", "", /Enter an email/],
    ["white space", " \t ", /Enter an email/],
    ["a control character", "jane\u0000@x.com", /invisible character/],
    ["a long address", `${"a".repeat(65)}@x.com`, /The part before the @ is longer than 64 characters/],
    ["a long website", `https://x.com/${"a".repeat(2048)}`, /A website address has at most 2,048 characters/],
  ])("%s shows the form again with the fault beside the field, and costs nothing", async (_, input, description) => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    const page = await visit(harness, { input })
    const html = await page.text()
    expect([page.status, page.headers.get("set-cookie")]).toEqual([400, null])
    expect(html).toMatch(/<p class="fault" id="input-fault" role="alert">[^<]*<\/p>/)
    expect(html).toMatch(description)
    expect(html).toContain('aria-describedby="input-fault input-hint"')
    expect((await visit(harness)).status).toBe(200)
  })

  test.each([
    ["no form", { headers: { "Content-Type": "application/json" }, body: "{}" }],
    ["no field", { body: "x=1" }],
    ["octets that are no UTF-8", { body: "input=%ff" }],
  ] as const)("%s is refused, and costs nothing", async (_, sent) => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    expect([200, 400]).toContain((await visit(harness, sent)).status)
  })
})

describe("a pass", () => {
  const spent = async () => {
    const harness = await testApp()
    await spendFreeChecks(harness)
    return harness
  }

  test("is wanted by a page that keeps what was typed, loads own files alone, and helps without script", async () => {
    const harness = await spent()
    const page = await visit(harness, { input: 'a"b@x.com' })
    const html = await page.text()
    expect(page.status).toBe(403)
    expect(unescapeHtml(html)).toContain('name="input" value="a"b@x.com"')
    for (const path of [...attributesIn(html, "src"), ...attributesIn(html, "href")])
      expect(path).toMatch(/^(\/(?!\/)|#)/)
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|<script>|<style/)
    expect(html.match(/<noscript>(.*?)<\/noscript>/s)?.[1]).toContain("needs JavaScript")
    expect(html).toMatch(/<p class="hint">[^<]*<a href="\/sign-in">Get a free key<\/a> to skip it/)
    const policy = page.headers.get("content-security-policy")
    expect(policy).toContain("script-src 'self'; style-src 'self'")
    expect(policy).toContain("worker-src 'self'")
  })

  test.each(["http://192.0.2.7:8080", "http://[2001:db8::7]:8080"])(
    "cannot be earned on a page from %s: the page says so at once and leads to the sign-in, without a puzzle",
    async origin => {
      const page = await visit(await spent(), { headers: { Origin: origin, Host: new URL(origin).host } })
      const html = await page.text()
      expect(page.status).toBe(403)
      expect(html).toContain("this page came over plain HTTP")
      expect(html).not.toContain("altcha")
      expect(html).toContain('class="button" href="/sign-in"')
      expect(html).not.toContain(" hidden")
    },
  )

  test.each(["http://localhost:8080", "http://mk.localhost", "http://127.0.0.5:8080", "http://[::1]:8080"])(
    "can be earned on a page from %s",
    origin => {
      expect(canSolveChallenge(new Request("http://localhost/", { headers: { Origin: origin } }))).toBe(true)
    },
  )

  test("comes with a solution, goes on with the check at once, and is used from then on", async () => {
    const harness = await spent()
    const got = await visit(harness, { input: "jane@gmail.com", solution: await solvedChallenge(harness) })
    expect([got.status, (await got.text()).includes("jane@gmail.com")]).toEqual([200, true])
    expect(got.headers.get("set-cookie")).toMatch(
      /^mailkind_pass=\w{32}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const cookie = passIn(got) ?? ""
    await harness.time.tick(10_000)
    for (let count = 1; count < LIMITS.passChecks; count++) {
      expect((await visit(harness, { cookie })).status).toBe(200)
      await harness.time.tick(1000)
    }
    const over = await visit(harness, { cookie })
    expect([over.status, over.headers.get("set-cookie")]).toEqual([
      403,
      expect.stringContaining("mailkind_pass=; Max-Age=0"),
    ])
  })

  test("is not taken for a bad input, and the solution is good still", async () => {
    const harness = await spent()
    const solution = await solvedChallenge(harness)
    const bad = await visit(harness, { input: "", solution })
    expect([bad.status, passIn(bad)]).toEqual([400, null])
    expect((await visit(harness, { solution })).status).toBe(200)
  })

  test("is not had by a solution that was used or forged: the page comes again", async () => {
    const harness = await spent()
    const solution = await solvedChallenge(harness)
    await visit(harness, { solution })
    for (const each of [solution, "forged", solution.slice(1)]) {
      const page = await visit(harness, { solution: each })
      expect([page.status, passIn(page)]).toEqual([403, null])
      await harness.time.tick(1000)
    }
  })

  test("and the budget are not charged for what fails by our own fault", async () => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    await harness.store.run("ALTER TABLE own_list_entries RENAME TO away")
    harness.customers.ownLists.invalidateAll()
    for (let count = 0; count < 4; count++) expect((await visit(harness)).status).toBe(500)
    await harness.store.run("ALTER TABLE away RENAME TO own_list_entries")
    expect((await visit(harness)).status).toBe(200)
  })
})

test("the first load of the first page is under 60 KB over the wire, and that of the pass too", async () => {
  const { files } = createSystem()
  const harness = await testApp({ asset: name => files.bundled(`${name}.asset`) })
  /** How many octets a page and all that it loads have, compressed where that is offered. */
  const weight = async (page: Response): Promise<number> => {
    const html = await page.text()
    const files = [...attributesIn(html, "src"), ...attributesIn(html, "href")].filter(path =>
      path.startsWith("/docs/assets/"),
    )
    const sizes = await Promise.all(
      files.map(async path => {
        const file = await harness.app(
          new Request(`http://localhost${path}`, { headers: { "Accept-Encoding": "gzip" } }),
        )
        return (await file.arrayBuffer()).byteLength
      }),
    )
    return Buffer.byteLength(html) + sizes.reduce((sum, size) => sum + size, 0)
  }
  expect(await weight(await harness.app(new Request("http://localhost/")))).toBeLessThan(60_000)
  expect(await weight(await visit(harness, { input: "jane@gmial.com" }))).toBeLessThan(60_000)
  await spendFreeChecks(harness)
  const pass = await visit(harness)
  expect(pass.status).toBe(403)
  expect(await weight(pass)).toBeLessThan(60_000)
})
