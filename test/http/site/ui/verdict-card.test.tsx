/** @jsxImportSource preact */
import { describe, expect, test } from "bun:test"
import { render } from "preact-render-to-string"
import type { CheckResult } from "../../../../src/contract/result-schema.ts"
import { TEST_ADDRESSES } from "../../../../src/contract/test-addresses.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import { curlRequest } from "../../../../src/http/site/ui/format.ts"
import { type CheckedVerdict, VerdictCard } from "../../../../src/http/site/ui/verdict/verdict-card.tsx"
import {
  sureness,
  verdictHeadline,
  verdictMeaning,
  verdictSentences,
} from "../../../../src/http/site/ui/verdict/verdict-words.ts"
import { HOSTILE, unescapeHtml } from "../../../support/open-site.ts"

const FORM = { path: "/#verdict", field: "input" }

const shown = (result: CheckResult, more: Partial<CheckedVerdict> = {}): string =>
  render(<VerdictCard verdict={{ result, imitates: null, isDnsOff: false, ...more }} form={FORM} />)

/** The words of a part of a page. */
const words = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ")

/** The evidence beside the verdict, by name. */
const evidence = (html: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, name = "", value = ""]) => [
      words(name).trim(),
      words(value).trim(),
    ]),
  )

const stepsIn = (html: string): number => html.split('<i class="on">').length - 1

const business = exampleResult("business", "mailkind.test")

/** What is visible before anything is unfolded. */
const unfolded = (html: string): string =>
  words(html.slice(0, html.indexOf("<details")) + html.slice(html.indexOf("</details>")))

test.each(Object.keys(TEST_ADDRESSES))("the card of the test address %s tells all that is known of it", localPart => {
  const result = exampleResult(localPart, "mailkind.test")
  const verdict = { result, imitates: null, isDnsOff: false }
  const html = shown(result)
  const text = unfolded(html)
  expect(text).toContain(`${localPart}@mailkind.test ${verdictHeadline(verdict)} ${result.recommendation} `)
  expect(text).toContain(verdictMeaning(verdict))
  for (const line of verdictSentences(verdict)) expect(text).toContain(line.text)
  expect(text).toContain(sureness(verdict)?.label ?? "")
  for (const reason of result.reasons) expect(html).toContain(`href="/docs/reasons#${reason}"`)
})

test("sureness stands in ten steps, and only what is certain fills them all", () => {
  const ofConfidence = (confidence: number): number => stepsIn(shown({ ...business, confidence }))
  expect([0.3, 0.6, 0.7, 0.85, 0.95, 0.99, 1].map(ofConfidence)).toEqual([3, 6, 7, 8, 9, 9, 10])
  expect(stepsIn(shown({ ...business, is_lookalike: true }))).toBe(10)
})

describe("the evidence", () => {
  const known: CheckResult = {
    ...business,
    domain_age_days: 4212,
    canonical_email: "jane@acme.com",
    mail: { ...business.mail, has_mx: true, provider: "suite_b", spf: "v=spf1 include:x -all", dmarc_policy: "reject" },
    workspace: { ...business.workspace, suite_a: { detected: true, evidence: [] } },
  }

  test("is told in a word or two each, with names that people know", () => {
    expect(evidence(shown(known, { lists: { named: 0, all: 59 } }))).toEqual({
      Mail: "Microsoft 365",
      Suite: "Google Workspace",
      SPF: "strict",
      DMARC: "reject",
      "Domain age": "11 years",
      "Shared inbox": "no",
      "Same mailbox": "jane@acme.com",
      "Free mailbox": "no",
      "Named by": "none of 59 lists",
      Policy: "b2b",
    })
  })

  test("names another mailbox only where it is another one, in the letters of its language", () => {
    const mailboxOf = (email: string, canonical: string) =>
      evidence(shown({ ...known, email, canonical_email: canonical }))["Same mailbox"]
    expect(mailboxOf("Anna@bücher.de", "anna@xn--bcher-kva.de")).toBeUndefined()
    expect(mailboxOf("anna+x@bücher.de", "anna@xn--bcher-kva.de")).toBe("anna@bücher.de")
  })

  test.each([
    ["v=spf1 -all", "strict"],
    ["v=spf1 mx ~all ", "soft"],
    ["v=spf1 ?ALL", "neutral"],
    ["v=spf1 all", "open"],
    ["v=spf1 redirect=_spf.example.com", "published"],
    ["v=spf1 include:small-all.example", "published"],
  ])("of the SPF record %j is %s", (spf, label) => {
    expect(evidence(shown({ ...known, mail: { ...known.mail, spf } }))["SPF"]).toBe(label)
  })

  test("tells what is missing apart from what was not looked up", () => {
    const nothing = { ...business.mail, has_mx: null, spf: null, dmarc_policy: null, mx: [] }
    const missing: CheckResult = { ...business, reasons: ["no_evidence", "spf_missing"], mail: nothing }
    expect(evidence(shown(missing))).toMatchObject({ Mail: "not looked up", SPF: "missing" })
    expect(evidence(shown(missing))["DMARC"]).toBeUndefined()
    expect(evidence(shown({ ...missing, domain: null }))["Mail"]).toBeUndefined()
  })
})

test("what the card offers sends the form of the page, keeps the input, and is nowhere where there is none", () => {
  const result: CheckResult = {
    ...business,
    email: "o'brien@gmial.com",
    policy: "strict",
    did_you_mean: "gmail.com",
    degraded: true,
  }
  const html = unescapeHtml(shown(result))
  expect(html.match(/<button type="submit" class="small" form="check">[^<]*/g)?.map(words)).toEqual([" Check again"])
  expect(html).toContain('name="input" value="o\'brien@gmail.com"')
  expect(html).toContain('name="policy" value="strict"')
  const alone = render(<VerdictCard verdict={{ result, imitates: null, isDnsOff: false }} />)
  expect(alone).not.toMatch(/<button|<select|<form/)
  expect(evidence(alone)["Policy"]).toBe("strict")
})

test("the command to copy passes whatever was checked as one argument to the shell", async () => {
  const email = "o'brien'; echo $(id) \"x\\@acme.com"
  const command = curlRequest({
    ...{ method: "POST", url: "https://mail.example/v1/check", key: "KEY" },
    body: { json: { email, policy: "strict" } },
  })
  const shell = Bun.spawn(["sh", "-c", `curl() { printf '%s\\n' "$@"; }\n${command}`])
  const args = (await new Response(shell.stdout).text()).trim().split("\n")
  expect(args.slice(0, -1)).toEqual([
    "-s",
    "https://mail.example/v1/check",
    "-H",
    "Authorization: Bearer KEY",
    "-H",
    "Content-Type: application/json",
    "-d",
  ])
  expect(JSON.parse(args.at(-1) ?? "")).toEqual({ email, policy: "strict" })
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

  test("that turns texts around is told by its number, and what is very long is cut in its middle", () => {
    expect(words(shown({ ...business, email: "ana\u202emoc@acme.com" }))).toContain("ana[U+202E]moc@acme.com")
    const long = `https://acme.com/${"x".repeat(2000)}end`
    const subject = words(
      shown({ ...business, email: null, url: long }).match(/<p class="v-subject">.*?<\/p>/s)?.[0] ?? "",
    )
    expect(subject.length).toBeLessThan(400)
    expect(subject).toMatch(/^ *https:\/\/acme\.com\/x+ … x+end *$/)
  })

  test("is told where it is missing", () => {
    const nothing = exampleResult("invalid", "mailkind.test")
    const missing = { ...nothing, email: null, normalized_email: null, domain: null, degraded: true }
    const text = words(shown(missing))
    expect(text).toContain("Your input")
    expect(text).toContain("DNS did not answer")
    expect(words(shown(missing, { isDnsOff: true }))).toContain("DNS lookups are switched off on this server")
    expect(shown(missing, { isDnsOff: true })).not.toContain("Check again")
  })
})

test("the fold holds the result as the API answers it", () => {
  const json = shown(business).match(/<pre[^>]*id="verdict-json"[^>]*><code>(.*?)<\/code>/s)?.[1] ?? ""
  expect(JSON.parse(unescapeHtml(json))).toEqual(business)
})

describe("warnings come before the verdict", () => {
  const before = (html: string): string => words(html.slice(0, html.indexOf('<div class="verdict"')))

  const real: CheckResult = { ...business, reasons: ["mx_found"] }

  test("an imitation is named, and the meaning does not vouch for it", () => {
    const html = shown(
      { ...real, is_lookalike: true, reasons: ["mx_found", "lookalike_domain"] },
      { imitates: "paypal.com" },
    )
    expect(words(html)).toContain("Look-alike of paypal.com allow This domain imitates paypal.com.")
    expect(words(html)).toContain("Do not trust links or emails from it.")
    expect(words(html)).not.toContain("A company or organisation uses this domain")
  })

  test("a suggested correction is one of them", () => {
    const html = shown({ ...real, did_you_mean: "gmail.com", is_lookalike: true })
    expect(before(html)).toMatch(/Did you mean gmail\.com ?\?/)
  })

  test("a test address says that its verdict is made up", () => {
    expect(before(shown(business))).toContain("This is a test address. The verdict is made up.")
    expect(shown(business)).not.toContain("Wrong? Tell us")
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
  const visible = unfolded(html)
  expect(evidence(html)).toEqual({})
  expect(visible).toContain("This is not a valid address: it has more than one @.")
  expect(visible).not.toContain("well-known organisation")
  expect(visible.replaceAll("jane@@stripe.com", "")).not.toContain("stripe.com")
  expect(html).not.toContain("domain=stripe.com")
})
