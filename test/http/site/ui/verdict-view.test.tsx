/** @jsxImportSource preact */
import { describe, expect, test } from "bun:test"
import { render } from "preact-render-to-string"
import { CATEGORIES, CATEGORY_NAMES } from "../../../../src/contract/categories.ts"
import { REASONS } from "../../../../src/contract/reasons.ts"
import type { CheckResult } from "../../../../src/contract/schemas.ts"
import { TEST_ADDRESSES } from "../../../../src/contract/test-addresses.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import { VerdictView } from "../../../../src/http/site/ui/verdict-view.tsx"
import { HOSTILE, unescapeHtml } from "../../../support/open-site.ts"

const shown = (result: CheckResult): string => render(<VerdictView result={result} />)

/** The words of a part of a page. */
const words = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ")

const business = exampleResult("business", "mailkind.test")

test.each(Object.keys(TEST_ADDRESSES))("of the test address %s all reasons are told in words", localPart => {
  const result = exampleResult(localPart, "mailkind.test")
  const text = words(shown(result))
  expect(text).toContain(`${localPart}@mailkind.test`)
  expect(text).toContain(CATEGORIES[result.category].description)
  expect(text).toContain(`${Math.round(result.confidence * 100)} % sure`)
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
  expect(rows(blocked)[0]).toContain("This decided")
  expect(words(shown(blocked))).toContain("This made it “block”")
  expect(words(shown({ ...blocked, recommendation: "allow" }))).not.toContain("This made it")
  const allowed: CheckResult = { ...business, category: "personal", reasons: ["free_provider", "allowlisted"] }
  expect(words(shown({ ...allowed, recommendation: "allow" }))).toContain("This made it “allow”")
  // A learned mail host asks for a look by itself; what comes after it is evidence.
  const learned: CheckResult = { ...business, category: "disposable", reasons: ["disposable_mx", "spf_missing"] }
  expect(words(shown({ ...learned, recommendation: "review" }))).not.toContain("This made it")
})

describe("what comes from outside", () => {
  test("stands in a page as text", () => {
    const html = shown({
      ...business,
      email: HOSTILE,
      normalized_email: HOSTILE,
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
    const text = words(shown({ ...nothing, email: null, normalized_email: null, domain: null, degraded: true }))
    expect(text).toContain("What you sent")
    expect(text).toContain("could not be read")
    expect(text).toContain("DNS did not answer")
  })
})

test("the fold holds the result as the API answers it", () => {
  const json = shown(business).match(/<pre[^>]*><code>(.*)<\/code><\/pre>/s)?.[1] ?? ""
  expect(JSON.parse(unescapeHtml(json))).toEqual(business)
})

test.each(CATEGORY_NAMES)("%s has a headline of its own", category => {
  const headlines = CATEGORY_NAMES.map(
    name => words(shown({ ...business, category: name })).match(/test (\w+ ?\w*)/)?.[0] ?? "",
  )
  expect(headlines.filter(headline => headline === headlines[CATEGORY_NAMES.indexOf(category)])).toHaveLength(1)
})
