import { describe, expect, test } from "bun:test"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { hashedAddress, parseEntry } from "../../../src/customers/own-lists/entries.ts"
import { EntryIndex, isOnList, mayListAddress } from "../../../src/customers/own-lists/own-list-cache.ts"
import type { OwnList } from "../../../src/customers/own-lists/own-lists.ts"

function tableOf(entries: { readonly [L in OwnList]?: readonly string[] }): EntryIndex {
  const rows = (["block", "allow"] as const).flatMap(list =>
    (entries[list] ?? []).map(text => ({ list, entry: parseEntry(text, parseAddressOrDomain)?.storedText ?? "" })),
  )
  return new EntryIndex(rows)
}

const isBlocked = (entry: string, domain: string) => isOnList(tableOf({ block: [entry] }).domainBits(domain), "block")

describe("a domain", () => {
  test.each([
    ["acme.com", "acme.com", true],
    ["acme.com", "mail.acme.com", true],
    ["acme.com", "a.b.c.d.acme.com", true],
    ["acme.com", "xacme.com", false],
    ["acme.com", "acme.com.evil.org", false],
    ["acme.com", "acme.co", false],
    ["acme.com", "com", false],
    ["mail.acme.com", "acme.com", false],
    ["mail.acme.com", "mail.acme.com", true],
    ["mail.acme.com", "webmail.acme.com", false],
    ["*.acme.com", "acme.com", false],
    ["*.acme.com", "mail.acme.com", true],
    ["*.acme.com", "a.b.acme.com", true],
    ["*.acme.com", "x-acme.com", false],
    ["*.mail.acme.com", "mail.acme.com", false],
    ["*.zip", "acme.zip", true],
    ["*.zip", "zip", false],
    ["*.zip", "unzip", false],
    ["co.uk", "acme.co.uk", true],
    ["github.io", "jane.github.io", true],
    ["bücher.example", "xn--bcher-kva.example", true],
    ["bücher.example", "shop.xn--bcher-kva.example", true],
    ["*.bücher.example", "xn--bcher-kva.example", false],
    ["jane@acme.com", "acme.com", false],
    ["jane@acme.com", "mail.acme.com", false],
  ])("an entry %s says of %s: %p", (entry, domain, expected) => {
    expect(isBlocked(entry, domain)).toBe(expected)
  })

  test("each list answers for itself, and every parent counts", () => {
    const table = tableOf({ block: ["acme.com", "*.shop.example"], allow: ["mail.acme.com", "shop.example"] })
    const description = (domain: string) => [
      isOnList(table.domainBits(domain), "block"),
      isOnList(table.domainBits(domain), "allow"),
    ]
    expect(description("acme.com")).toEqual([true, false])
    expect(description("x.mail.acme.com")).toEqual([true, true])
    expect(description("shop.example")).toEqual([false, true])
    expect(description("x.shop.example")).toEqual([true, true])
    expect(description("other.example")).toEqual([false, false])
  })

  test("a name and what is below it can be two entries of one list", () => {
    const table = tableOf({ block: ["acme.com", "*.acme.com"] })
    expect(["acme.com", "x.acme.com"].map(domain => isOnList(table.domainBits(domain), "block"))).toEqual([true, true])
    expect(table.entryCount).toBe(2)
  })
})

describe("an address", () => {
  test("is found by its kept form, on the list that has it", () => {
    const table = tableOf({ block: ["jane@acme.com", "both@acme.com"], allow: ["Joan@acme.com", "both@acme.com"] })
    const description = (normalized: string) => {
      const coverage = table.addressBits(hashedAddress(normalized, "acme.com"))
      return [isOnList(coverage, "block"), isOnList(coverage, "allow")]
    }
    expect(description("jane@acme.com")).toEqual([true, false])
    expect(description("joan@acme.com")).toEqual([false, true])
    expect(description("both@acme.com")).toEqual([true, true])
    expect(description("other@acme.com")).toEqual([false, false])
  })

  test("has to be looked for only at a domain of which there is an address, and not below that", () => {
    const table = tableOf({ block: ["jane@acme.com", "other.com"], allow: ["*.acme.com"] })
    const requests = ["acme.com", "mail.acme.com", "com", "other.com", "third.com"]
    expect(requests.filter(domain => mayListAddress(table.domainBits(domain)))).toEqual(["acme.com"])
    expect(mayListAddress(tableOf({ allow: ["jane@acme.com"] }).domainBits("acme.com"))).toBe(true)
  })
})

test("of a name that no list has, nothing is said, whatever stands below or above it", () => {
  const table = tableOf({ block: ["*.acme.com", "mail.other.com", "jane@third.com"] })
  const requests = ["acme.com", "other.com", "com", "mail.third.com"]
  expect(requests.map(domain => table.domainBits(domain))).toEqual([0, 0, 0, 0])
})

test("a table without entries says nothing of anything", () => {
  const table = tableOf({})
  expect([table.domainBits("acme.com"), table.addressBits(hashedAddress("jane@acme.com", "acme.com"))]).toEqual([0, 0])
})
