import { describe, expect, test } from "bun:test"
import { classifySuffix } from "../../../src/check/address/public-suffix.ts"
import { KnownNameMatcher } from "../../../src/check/lookalike/known-name-matcher.ts"
import { HONEST, LOOKALIKES, NO_SLIPS, SLIPS } from "./lookalike-cases.ts"
import { TARGETS } from "./targets.ts"

const imitations = new KnownNameMatcher(TARGETS)
const suggestion = (domain: string) => imitations.match(domain, classifySuffix(domain).registrable).suggestion
const imitated = (domain: string) => imitations.match(domain, classifySuffix(domain).registrable).lookalikeOf

describe("a domain with one likely typo of a provider gets that provider as its suggestion", () => {
  test.each([...SLIPS])("%s means %s", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })
})

describe("a name that is probably real gets no suggestion", () => {
  test.each([...NO_SLIPS])("%s", domain => {
    expect(suggestion(domain)).toBeNull()
  })
})

describe("a domain that imitates a known name is its look-alike", () => {
  test.each([...LOOKALIKES])("%s imitates %s", (domain, meant) => {
    expect(imitated(domain)).toBe(meant)
  })
})

describe("a real name is not a look-alike", () => {
  test.each([...HONEST])("%s", domain => {
    expect(imitated(domain)).toBeNull()
  })
})

test("an organisation can be imitated, but is never suggested", () => {
  const only = new KnownNameMatcher([{ name: "paypal.com", kind: "organisation" }])
  expect(only.match("paypla.com", "paypla.com").suggestion).toBeNull()
  expect(only.match("paypa1.com", "paypa1.com").lookalikeOf).toBe("paypal.com")
})

test("a subdomain of a target is neither a typo nor a look-alike", () => {
  expect(imitated("paypal-login.google.com")).toBeNull()
  expect(suggestion("gmail.com.mail.ru")).toBeNull()
})

test("one typo is corrected, two only under a top-level domain that does not exist", () => {
  expect(suggestion("gmial.com")).toBe("gmail.com")
  expect(suggestion("gmiall.com")).toBeNull()
  expect(suggestion("gmial.con")).toBe("gmail.com")
  expect(suggestion("gmiall.con")).toBe("gmail.com")
})

test("combosquatting is detected in names of eight parts, but not of nine", () => {
  expect(imitated("paypal-login-1-2-3-4-5-6.com")).toBe("paypal.com")
  expect(imitated("paypal-login-1-2-3-4-5-6-7.com")).toBeNull()
})

test("a domain whose punctuation was put right is the provider that it names or mistypes, and imitates nobody", () => {
  const mended = (domain: string) => imitations.matchMended(domain)
  const gmail = { suggestion: "gmail.com", isHouseholdSlip: true, lookalikeOf: null }
  expect(["gmail.com", "gmial.com", "gma1l.com"].map(mended)).toEqual([gmail, gmail, gmail])
  expect(mended("acme.com").suggestion).toBeNull()
})

test("without targets there are no suggestions and no look-alikes", () => {
  const none = new KnownNameMatcher([])
  expect(none.match("gmial.com", "gmial.com").suggestion).toBeNull()
  expect(none.match("paypal-login.com", "paypal-login.com").lookalikeOf).toBeNull()
})
