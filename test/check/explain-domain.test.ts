import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import { createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import { openLists } from "../../src/check/domain-lookup.ts"
import { type DomainExplanation, explainDomain, listingsOfLevel, sinceLabel } from "../../src/check/explain-domain.ts"
import { LISTING_RULES } from "../../src/check/lists/listing-rules.ts"
import { offlineNetworkProbe } from "../../src/check/network-evidence.ts"
import { knownLists, lists } from "../support/app.ts"
import { knownSmall } from "./known-small.ts"
import { buildPackFromFiles } from "./lists/build/build-pack-from-files.ts"
import { fakeSourceFiles } from "./lists/sources/fake-source-files.ts"

const known = knownSmall({
  "new.com": [{ set: "disposable", source: "here", outcome: "kept", since: "2026-11-21" }],
  "old.com": [
    { set: "personal", source: "elsewhere", outcome: "disposable_beats_long_tail", since: null },
    { set: "disposable", source: "here", outcome: "kept", since: null },
  ],
  "edu.pl": [{ set: "education_suffix", source: "here", outcome: "kept", since: null }],
  "ci.*.*.us": [{ set: "government_suffix", source: "here", outcome: "kept", since: null }],
})

/** The explanation of a text that must name a domain. */
function found(text: string, of = known): DomainExplanation {
  const answer = explainDomain(of, text)
  if (answer.kind !== "domain") throw new Error(`${text} names no domain`)
  return answer
}

describe("a listing", () => {
  test("has the day on which it was added, or a day on which it was already listed, and the origin of its source", () => {
    expect(found("new.com").levels.flatMap(listingsOfLevel)).toEqual([
      {
        ...{ entry: "new.com", set: "disposable", source: "here", outcome: "kept", dropReason: null, basis: null },
        ...{ since: "2026-11-21", onOrBefore: null, licence: "MIT", origin: "our garden" },
      },
    ])
    const [elsewhere, here] = found("old.com").levels.flatMap(listingsOfLevel)
    expect(here).toMatchObject({ since: null, onOrBefore: "2026-11-20", licence: "MIT" })
    expect(elsewhere).toMatchObject({
      onOrBefore: null,
      licence: "ISC",
      dropReason: LISTING_RULES.disposable_beats_long_tail,
    })
    const days = ["new.com", "old.com"].map(name => found(name).levels.flatMap(listingsOfLevel).map(sinceLabel))
    expect(days).toEqual([["2026-11-21"], ["not known", "on or before 2026-11-20"]])
  })

  test("of a source without a description is returned without one", () => {
    const bare = { ...known, manifest: { ...known.manifest, sources: {} } }
    expect(found("new.com", bare).levels[0]?.listings[0]).toMatchObject({ source: "here", licence: "", origin: "" })
    expect(found("old.com", bare).levels.flatMap(listingsOfLevel).map(sinceLabel)).toEqual(["not known", "not known"])
  })

  test("of a pattern is at the level that the pattern matches", () => {
    const { entry, sets, levels } = found("www.ci.austin.tx.us")
    expect({ entry, sets }).toEqual({ entry: "ci.*.*.us", sets: ["government_suffix"] })
    expect(levels.filter(level => listingsOfLevel(level).length > 0)).toMatchObject([
      {
        name: "ci.austin.tx.us",
        decides: true,
        patterns: [{ pattern: "ci.*.*.us", listings: [{ entry: "ci.*.*.us" }] }],
      },
    ])
  })
})

describe("the verdict", () => {
  test.each([
    ["new.com", "disposable", "disposable_domain", "disposable list"],
    ["a.new.com", "disposable", "disposable_domain", "disposable list"],
    ["pw.edu.pl", "education", "education_suffix", "suffix for education"],
    ["edu.pl", "education", "education_suffix", "suffix for education"],
    ["acme.com", "unknown", "no_evidence", "on no list"],
    ["co.uk", "invalid", "public_suffix", "public suffix"],
    ["com", "invalid", "public_suffix", "single label"],
    ["acme.cmo", "invalid", "unknown_tld", "does not exist"],
    ["server.local", "invalid", "reserved_tld", "special-use"],
  ])("of %s is %s, by %s", (text, category, reason, words) => {
    expect(found(text)).toMatchObject({ category, reason, message: expect.stringContaining(words) })
  })

  test.each([
    ["www.cityofspringvale.us", "government"],
    ["gymnasium-springvale.de", "education"],
  ])("of %s on no list says that a check may know it by its name", (text, category) => {
    const { message } = found(text)
    expect(message).toContain(`${category} names`)
    expect(message).toContain("`name_pattern`")
  })

  test.each(["cityofspringvale.com.us", "springvale.us", "xn--gymnasium-springvle-wwb.de"])(
    "of %s says nothing of names",
    text => {
      expect(found(text).message).not.toContain("name_pattern")
    },
  )

  test("of a known organisation says that DNS takes precedence", () => {
    expect(found("stripe.com", knownLists)).toMatchObject({
      category: "business",
      message: expect.stringContaining("DNS"),
    })
  })

  test("equals that of a check without the network", () => {
    const check = createCheck({
      activeLists: () => lists,
      networkProbe: offlineNetworkProbe,
      deepProbe: OFFLINE_DEEP_PROBE,
      corrections: NO_CORRECTIONS,
      clock: () => 0,
      stopwatch: () => 0,
    })
    for (const domain of [
      "gmail.com",
      "duck.com",
      "mailinator.com",
      "gov.uk",
      "mit.edu",
      "stripe.com",
      "acme.com",
      "a.b",
    ]) {
      const subject = parseSubject("domain", domain, "")
      const outcome = check({
        subject,
        policy: "b2b",
        isDeep: false,
        includeTenant: false,
        ownListMatch: NO_OWN_LIST_MATCH,
      })
      if (outcome instanceof Promise) throw new Error("somebody was asked")
      const { category, reasons } = outcome.judged.verdict
      expect([domain, category, reasons[0]]).toEqual([
        domain,
        found(domain, knownLists).category,
        found(domain, knownLists).reason,
      ])
    }
  })
})

describe("of a text", () => {
  test.each([
    ["an address", "jane.doe@new.com", "new.com"],
    ["an address with a space", "jane doe@new.com", "new.com"],
    ["an address that is too long", `${"jane".repeat(100)}@new.com`, "new.com"],
    ["a name as people write it", " NEW.com. ", "new.com"],
    ["a website", "https://www.new.com/jobs?q=jane", "new.com"],
    ["a name in other letters", "bücher.de", "xn--bcher-kva.de"],
  ])("that is %s only the domain is used", (_, text, domain) => {
    expect(found(text).domain).toBe(domain)
    expect(JSON.stringify(found(text))).not.toContain("jane")
  })

  test.each([
    ["nothing", "", "parse"],
    ["words", "jane doe", "parse"],
    ["an address that is encoded twice", "jane%40new.com", "parse"],
    ["a control character", "new.com\u0000", "parse"],
    ["an address without a domain", "jane@", "parse"],
    ["an IP address", "192.0.2.1", "IP address"],
    ["an address at an IP address", "jane@[192.0.2.1]", "IP address"],
    ["a name of 255 octets", `${"a.".repeat(126)}com`, "longer"],
    ["a book", "x".repeat(100_000), "longer"],
  ])("that is %s the message says why it names no domain and does not repeat it", (_, text, words) => {
    const answer = explainDomain(known, text)
    expect(answer).toEqual({ kind: "no_domain", message: expect.stringContaining(words) })
    expect(JSON.stringify(answer)).not.toContain("jane")
  })

  test("a domain of 253 bytes is looked up, and one of 254 is too long", () => {
    const longest = `${"a.".repeat(123)}new.com`
    expect(longest).toHaveLength(253)
    expect(found(longest)).toMatchObject({ entry: "new.com", category: "disposable" })
    expect(explainDomain(known, `a${longest}`).kind).toBe("no_domain")
  })

  test("the returned domain has only letters, digits, hyphens and dots", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.emailAddress()), text => {
        const answer = explainDomain(knownLists, text)
        if (answer.kind === "domain") expect(answer.domain).toMatch(/^[a-z0-9.-]+$/)
      }),
    )
  })
})

test("a rolled-up listing, a weak one, and an open suffix say what they rest on", () => {
  const { catalogue, shelf } = fakeSourceFiles({
    a: { set: "disposable", trust: "low", witness: "aggregator", names: ["x.acme.com", "y.acme.com", "z.acme.com"] },
    b: { set: "open_education_suffix", trust: "curated", names: ["edu.kg"] },
  })
  const built = buildPackFromFiles(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  const opened = openLists(built.bytes, true)
  if (opened.kind === "refused") throw new Error(opened.message)
  const bundled = { ...known, lists: opened.lists, manifest: built.manifest }
  const rolledUp = found("any.acme.com", bundled)
  expect([rolledUp.reason, rolledUp.category]).toEqual(["weak_listing", "disposable"])
  expect(rolledUp.message).toContain("Only lists that are compiled from other lists")
  expect(rolledUp.levels.flatMap(listingsOfLevel).map(({ basis }) => basis)).toEqual([
    "3 or more names below it are listed",
  ])
  expect(found("school.edu.kg", bundled).message).toContain("Anyone can register there")
})
