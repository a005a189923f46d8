import { expect, test } from "bun:test"
import { explainLevels } from "../../src/check/explain-domain.ts"
import { openedPack, smallPack } from "./lists/pack/small-pack.ts"

const pack = openedPack(
  smallPack({
    "mailinator.com": ["disposable"],
    "a.mailinator.com": ["!disposable"],
    "edu.pl": ["!disposable", "education_suffix"],
    "ci.*.*.us": ["government_suffix"],
  }),
)

test("every level has its kept and dropped listings, and one level decides", () => {
  const levels = explainLevels(pack, "x.a.mailinator.com", "mailinator.com")
  expect(levels.map(({ name, asks, sets, decides }) => [name, asks, sets, decides])).toEqual([
    ["x.a.mailinator.com", "name", [], false],
    ["a.mailinator.com", "name", [], false],
    ["mailinator.com", "name", ["disposable"], true],
    ["com", "suffix", [], false],
  ])
  expect(levels[1]?.listings).toEqual([{ set: "disposable", source: "here", outcome: "never_list", since: null }])
})

test("suffixes and patterns decide at their level", () => {
  const deciding = (domain: string, registrable: string | null) =>
    explainLevels(pack, domain, registrable).find(({ decides }) => decides)
  expect(deciding("pw.edu.pl", "pw.edu.pl")).toMatchObject({ name: "edu.pl", sets: ["education_suffix"] })
  expect(deciding("www.ci.austin.tx.us", "austin.tx.us")).toMatchObject({
    name: "ci.austin.tx.us",
    patterns: [
      { pattern: "ci.*.*.us", listings: [{ set: "government_suffix", source: "here", outcome: "kept", since: null }] },
    ],
  })
  expect(deciding("acme.com", "acme.com")).toBeUndefined()
})

test("the deciding level is the entry that a lookup returns", () => {
  for (const [domain, registrable] of [
    ["a.mailinator.com", "mailinator.com"],
    ["x.edu.pl", "x.edu.pl"],
    ["mailinator.com", null],
  ] as const) {
    const deciding = explainLevels(pack, domain, registrable).find(({ decides }) => decides)
    const listed = pack.match(domain, registrable)
    expect([deciding?.name ?? null, deciding?.sets ?? []]).toEqual([listed.entry, [...listed.sets]])
  }
})
