import { describe, expect, test } from "bun:test"
import { REPORTABLE_CATEGORIES } from "../../../../src/contract/feedback-schema.ts"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { unitSubject } from "../../../../src/customers/accounts/unit-subjects.ts"
import { decideFeedback } from "../../../../src/customers/feedback/decision.ts"
import { listFeedbackOf } from "../../../../src/customers/feedback/feedback.ts"
import { safeNextPath } from "../../../../src/http/site/sign-in/next-path.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { testApp } from "../../../support/app.ts"
import { errorAt, repeatedIds, signedInBrowser } from "../../../support/html-browser.ts"

const PATH = "/dashboard/feedback"

async function opened() {
  const harness = await testApp()
  const browser = await signedInBrowser(harness)
  const report = async (subject: string, expected = "business", comment = "") => {
    await harness.time.tick(1000)
    return await browser.post(PATH, { subject, expected, comment })
  }
  const sent = (accountId = harness.accountId) => listFeedbackOf(harness.store, accountId, null, 1000)
  return { ...harness, ...browser, report, sent }
}

describe("a report", () => {
  test("is taken once, by the rule of the API, and shown with its state", async () => {
    const { report, get, ask, sent, changes } = await opened()
    const { redirectPath } = await report(
      "Support@Granite-Form.com",
      "personal",
      "first\r\nline, ask jane@granite-form.com",
    )
    expect(redirectPath).toBe(`${PATH}?done=received`)
    const { html } = await get(redirectPath ?? "")
    expect(html).toContain("Your report was received")
    expect(html).toContain("granite-form.com")
    expect(html).toContain("first line, ask …@granite-form.com")
    expect(html).not.toContain("upport@")
    expect(html).toContain(">waiting<")
    const [kept] = await sent()
    expect(kept).toMatchObject({ domain: "granite-form.com", roleWord: "support", reportedCategory: "personal" })
    // The API knows the form's report, and the form the API's.
    const again = await ask("POST /v1/feedback", {
      body: { domain: "granite-form.com", expected_category: "personal" },
    })
    expect([again.body["id"], again.body["status"]]).toEqual([kept?.id, "duplicate"])
    const double = await report("granite-form.com", "personal")
    expect((await get(double.redirectPath ?? "")).html).toContain("Nothing was added.")
    expect(await sent()).toHaveLength(1)
    await decideFeedback(changes, kept?.id ?? "", "accepted")
    expect((await get(PATH)).html).toMatch(/<span class="pill allow" title="[^"]+ UTC">accepted</)
    await decideFeedback(changes, kept?.id ?? "", "rejected")
    expect((await get(PATH)).html).toMatch(/<span class="pill block" title="[^"]+ UTC">rejected</)
  })

  test.each([
    ["", "business", "", "Enter a domain or an address."],
    ["..", "business", "", "no domain that can be corrected"],
    ["a@b@c.com", "business", "", "no domain that can be corrected"],
    ["jane@mailkind.test", "business", "", "no domain that can be corrected"],
    [`${"a".repeat(300)}.com`, "business", "", "no domain that can be corrected"],
    ["a\u0000b.com", "business", "", "no domain that can be corrected"],
    ["granite.com", "", "", "Choose what it should be."],
    ["granite.com", "unknown", "", "Choose what it should be."],
    ["granite.com", "__proto__", "", "Choose what it should be."],
    ["granite.com", "business", "x".repeat(LIMITS.commentLengthMax + 1), "Use at most 1000 characters"],
  ])("of %j as %j is refused in words, and what was typed is kept", async (subject, expected, comment, description) => {
    const { report, sent } = await opened()
    const { status, html } = await report(subject, expected, comment)
    expect([status, html.includes(description)]).toEqual([400, true])
    if (/^[ -~]+$/.test(subject)) expect(html).toContain(`value="${subject}"`)
    if (comment !== "") expect(html).toContain(comment)
    expect(repeatedIds(html)).toEqual([])
    expect(await sent()).toEqual([])
  })

  test("with several faults is told all of them at once", async () => {
    const { html } = await (await opened()).report("..", "", "x".repeat(LIMITS.commentLengthMax + 1))
    expect(["subject", "expected", "comment"].map(field => errorAt(html, field))).toEqual([
      "This has no domain that can be corrected.",
      "Choose what it should be.",
      `Use at most ${LIMITS.commentLengthMax} characters.`,
    ])
  })

  test("of what the verdict says already is refused beside the field, and costs the unit of its check", async () => {
    const { report, sent, ask } = await opened()
    const { status, html } = await report("mailinator.com", "disposable", "It is")
    expect(status).toBe(400)
    expect(errorAt(html, "expected")).toBe(
      "The verdict for mailinator.com is already disposable. Choose what it should be instead.",
    )
    expect(html).toContain('value="mailinator.com"')
    expect(await sent()).toEqual([])
    expect((await ask("GET /v1/usage")).body["today"]).toMatchObject({ used: 1 })
    // The API takes it.
    const { status: taken } = await ask("POST /v1/feedback", {
      body: { domain: "mailinator.com", expected_category: "disposable" },
    })
    expect(taken).toBe(202)
  })

  test("is filled in by a link with the domain and the category, also after the sign-in", async () => {
    const { app, get } = await opened()
    const path = `${PATH}?domain=granite-link.com&category=business`
    const { html } = await get(path)
    expect(html).toMatch(/name="subject"[^>]*value="granite-link\.com"|value="granite-link\.com"[^>]*name="subject"/)
    expect(html).toMatch(/<option value="business" selected|<option selected value="business"/)
    const { headers } = await app(new Request(`http://localhost${path}`))
    expect(headers.get("location")).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    expect(safeNextPath(path)).toBe(path)
    const evil = await get(`${PATH}?domain=${encodeURIComponent('"><script>')}&category=__proto__`)
    expect([evil.status, evil.html.includes("<script>")]).toEqual([200, false])
    expect(evil.html).toMatch(/<option value(?:="")? selected|<option selected value/)
  })

  test("has a comment as long as may be, its line ends counted as one character", async () => {
    const { report, sent } = await opened()
    await report("granite-long.com", "business", `${"x\r\n".repeat(LIMITS.commentLengthMax / 2 - 1)}xx`)
    expect(await sent()).toHaveLength(1)
  })

  test("can be of every category that the API takes", async () => {
    const { report, get, sent } = await opened()
    for (const category of REPORTABLE_CATEGORIES) {
      expect((await report("granite-all.com", category)).status).toBe(303)
      expect((await get(PATH)).html).toContain(`<option value="${category}"`)
    }
    expect((await sent()).map(({ reportedCategory }) => reportedCategory)).toEqual(REPORTABLE_CATEGORIES.toReversed())
  })

  test("costs a unit of the account, as one of the API does, and is one of its reports of the day", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=-/-/3" })
    const { post } = await signedInBrowser(harness)
    const send = async (at: number) => {
      await harness.time.tick(1000)
      return await post(PATH, { subject: `granite-${at}.com`, expected: "business" })
    }
    const body = { domain: "granite-api.com", expected_category: "business" }
    expect((await send(1)).status).toBe(303)
    expect((await harness.ask("POST /v1/feedback", { body })).status).toBe(202)
    expect((await harness.ask("GET /v1/usage")).body["today"]).toMatchObject({ used: 2, remaining: 1 })
    expect((await send(2)).status).toBe(303)
    const refused = await send(3)
    expect(refused.status).toBe(429)
    expect(refused.text).toContain("The request needs 1 unit. Today 0 of 3 are left.")
    expect(refused.html).toContain('value="granite-3.com"')
    const subject = unitSubject(harness.accountId, "reports")
    expect(await harness.customers.units.readRemaining(subject, LIMITS.feedbackPerDay)).toBe(LIMITS.feedbackPerDay - 3)
  })

  test("comes no faster than people send them", async () => {
    const { post, time, sent } = await opened()
    const send = (at: number) => post(PATH, { subject: `granite-${at}.com`, expected: "business" })
    expect([(await send(1)).status, (await send(2)).status]).toEqual([303, 303])
    const { status, headers, html } = await send(3)
    expect([status, headers.get("retry-after")]).toEqual([429, "1"])
    expect(html).toContain("You sent too many reports at once.")
    expect(html).toContain('value="granite-3.com"')
    await time.tick(1000)
    expect((await send(3)).status).toBe(303)
    expect(await sent()).toHaveLength(3)
  })
})

test("reports come page by page, the newest first, each once", async () => {
  const { store, accountId, get, clock } = await opened()
  for (let at = 0; at < 120; at++)
    await store.run(
      `INSERT INTO feedback (id, account_id, domain, role_word, current_category, reported_category, comment, status, created_at_ms)
       VALUES ($1, $2, $3, NULL, 'unknown', 'business', NULL, 'received', $4)`,
      [`fb_${String(at).padStart(20, "0")}`, accountId, `d${at}.com`, clock() + Math.floor(at / 10)],
    )
  const seen: string[] = []
  let path: string | undefined = PATH
  while (path !== undefined) {
    const { html } = await get(path)
    seen.push(...[...html.matchAll(/<bdi>(d\d+\.com)</g)].map(([, name = ""]) => name))
    path = /href="([^"]*)">Next page/.exec(html)?.[1]
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, at) => `d${119 - at}.com`))
})

test("nobody sees the reports of another account, nor by the place of one of them", async () => {
  const harness = await opened()
  const other = await anotherAccount(harness.changes)
  await harness.ask("POST /v1/feedback", { key: other.key, body: { domain: "theirs.com", expected_category: "relay" } })
  const [theirs] = await harness.sent(other.accountId)
  for (const path of [PATH, `${PATH}?after=${harness.clock() + 1}-${theirs?.id}`])
    expect((await harness.get(path)).html).not.toContain("theirs.com")
  expect((await (await signedInBrowser(harness, other.accountId)).get(PATH)).html).toContain("theirs.com")
})

test("what stands in the URL or in a report is shown as text", async () => {
  const { get, report, store } = await opened()
  const evil = '"><script>alert(1)</script>'
  expect(
    (await get(`${PATH}?domain=${encodeURIComponent(evil)}&after=${encodeURIComponent(evil)}&done=constructor`)).html,
  ).not.toContain("<script>")
  await report("granite-evil.com", "business", evil)
  await store.run("UPDATE feedback SET domain = $1", [evil])
  const { html } = await get(PATH)
  expect(html).not.toContain("<script>")
  expect(html).toContain("&lt;script>")
})

test("a form of another origin, and one of nobody, report nothing", async () => {
  const { post, app, sent } = await opened()
  const fields = { subject: "granite.com", expected: "business" }
  expect((await post(PATH, fields, { Origin: "https://evil.example" })).status).toBe(403)
  const body = new URLSearchParams(fields)
  const request = new Request(`http://localhost${PATH}`, {
    method: "POST",
    headers: { Origin: "http://localhost" },
    body,
  })
  expect((await app(request)).headers.get("location")).toStartWith("/sign-in")
  expect(await sent()).toEqual([])
})
