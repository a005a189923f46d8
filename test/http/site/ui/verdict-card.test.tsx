/** @jsxImportSource preact */
import { describe, expect, test } from "bun:test"
import { render } from "preact-render-to-string"
import { REASONS } from "../../../../src/contract/reasons.ts"
import type { CheckResult } from "../../../../src/contract/result-schema.ts"
import { TEST_ADDRESSES } from "../../../../src/contract/test-addresses.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import type { DisplayedVerdict } from "../../../../src/http/site/ui/verdict/reason-words.ts"
import { VerdictCard } from "../../../../src/http/site/ui/verdict/verdict-card.tsx"
import { sureness, verdictHeadline } from "../../../../src/http/site/ui/verdict/verdict-words.ts"
import { HOSTILE, unescapeHtml } from "../../../support/open-site.ts"

const shown = (result: CheckResult, more: Partial<DisplayedVerdict> = {}): string =>
  render(<VerdictCard verdict={{ result, imitates: null, isDnsOff: false, ...more }} />)

/** The words of a part of a page. */
const words = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ")

const business = exampleResult("business", "mailkind.test")

test.each(Object.keys(TEST_ADDRESSES))("of the test address %s all reasons are told in words", localPart => {
  const result = exampleResult(localPart, "mailkind.test")
  const text = words(shown(result))
  expect(text).toContain(`${localPart}@mailkind.test`)
  expect(text).toContain(verdictHeadline({ result, imitates: null, isDnsOff: false }))
  expect(text).toContain(sureness({ result, imitates: null, isDnsOff: false })?.label ?? "")
  for (const reason of result.reasons)
    expect(text).toContain(words(REASONS[reason].description.replaceAll("`", " ")).trim())
})

test("what decided stands first, and what made the recommendation another than the category's is marked", () => {
  const rows = (result: CheckResult): readonly string[] =>
    (shown(result).match(/<tr>.*?<\/tr>/gs) ?? []).map(words).filter(row => row.includes("_"))
  const blocked: CheckResult = {
    ...business,
    recommendation: "block",
    reasons: ["suite_a_mail", "blocklisted", "dmarc_enforced"],
  }
  expect(rows(blocked)[0]).toContain("suite_a_mail")
  expect(rows(blocked)[0]).toContain("Deciding reason")
  expect(words(shown(blocked))).toContain("Changed the recommendation to block")
  expect(words(shown({ ...blocked, recommendation: "allow" }))).not.toContain("Changed the recommendation")
  const allowed: CheckResult = { ...business, category: "personal", reasons: ["free_provider", "allowlisted"] }
  expect(words(shown({ ...allowed, recommendation: "allow" }))).toContain("Changed the recommendation to allow")
  // A learned mail host asks for a look by itself; what comes after it is evidence.
  const learned: CheckResult = { ...business, category: "disposable", reasons: ["disposable_mx", "spf_missing"] }
  expect(words(shown({ ...learned, recommendation: "review" }))).not.toContain("Changed the recommendation")
})

test("a listing that no independent list confirms is told as a doubt, and changes its recommendation by itself", () => {
  const weak = exampleResult("weak-listing", "mailkind.test")
  expect(words(shown(weak))).not.toContain("It stops working soon")
  const real: CheckResult = { ...weak, reasons: ["weak_listing", "disposable_domain", "mx_found"] }
  expect(words(shown(real))).not.toContain("Changed the recommendation")
})

describe("what comes from outside", () => {
  test("stands in a page as text", () => {
    const html = shown({
      ...business,
      email: HOSTILE,
      normalized_email: HOSTILE,
      canonical_email: `${HOSTILE}@`,
      domain: HOSTILE,
      did_you_mean: HOSTILE,
      mail: { ...business.mail, spf: HOSTILE, has_mx: true, mx: [{ priority: 1, host: HOSTILE, provider: HOSTILE }] },
      workspace: {
        ...business.workspace,
        suite_a: { detected: true, evidence: [HOSTILE] },
        other_suite: HOSTILE,
      },
    })
    expect(html).not.toContain("<script")
    expect(words(html).split("https://elsewhere.example/").length).toBeGreaterThan(8)
  })

  test("is told where it is missing", () => {
    const nothing = exampleResult("invalid", "mailkind.test")
    const missing = { ...nothing, email: null, normalized_email: null, domain: null, degraded: true }
    const text = words(shown(missing))
    expect(text).toContain("Your input")
    expect(text).toContain("not readable")
    expect(text).toContain("DNS did not answer")
    expect(words(shown(missing, { isDnsOff: true }))).toContain("DNS lookups are switched off on this server")
  })
})

test("the fold holds the result as the API answers it", () => {
  const json = shown(business).match(/<pre[^>]*><code>(.*)<\/code><\/pre>/s)?.[1] ?? ""
  expect(JSON.parse(unescapeHtml(json))).toEqual(business)
})

describe("warnings come before the verdict", () => {
  const before = (html: string): string => words(html.slice(0, html.indexOf('<p class="asked"')))

  const real: CheckResult = { ...business, reasons: ["mx_found"] }

  test("an imitation is named, and the meaning does not vouch for it", () => {
    const html = shown(
      { ...real, is_lookalike: true, reasons: ["mx_found", "lookalike_domain"] },
      { imitates: "paypal.com" },
    )
    expect(before(html)).toContain("Do not trust links or emails from this name.")
    expect(words(html)).not.toContain("An organisation uses this domain")
  })

  test("a suggested correction is the first of them", () => {
    const html = shown({ ...real, did_you_mean: "gmail.com", is_lookalike: true })
    expect(before(html).trim()).toMatch(/^Did you mean gmail\.com ?\?.*Do not trust links or emails from this name\.$/)
  })

  test("a test address says that its verdict is made up", () => {
    expect(before(shown(business))).toContain("This is a test address. The verdict is made up.")
    expect(shown(business)).not.toContain("Report a mistake")
  })

  test("there is none without a cause", () => {
    expect(before(shown(real)).trim()).toBe("")
  })
})

test("an unreadable input shows neither a domain nor a reason beside the deciding one", () => {
  const html = shown({
    ...exampleResult("invalid", "mailkind.test"),
    email: "jane@@stripe.com",
    domain: "stripe.com",
    reasons: ["invalid_syntax", "known_organisation"],
  })
  const visible = words(html.slice(0, html.lastIndexOf("<details>")))
  expect(visible).toContain("This is not a valid address: it has more than one @.")
  expect(visible).not.toContain("well-known organisation")
  expect(visible.replaceAll("jane@@stripe.com", "")).not.toContain("stripe.com")
  expect(html).not.toContain("domain=stripe.com")
})

test("suites and providers have the names that people know, while the JSON keeps its keys", () => {
  const html = shown(exampleResult("suite-b", "mailkind.test"))
  const visible = words(html.slice(0, html.lastIndexOf("<details>")))
  expect(visible).toContain("Microsoft 365")
  expect(html.slice(html.lastIndexOf("<details>"))).toContain("suite_b")
})
