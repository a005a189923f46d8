import { describe, expect, test } from "bun:test"
import { namedIn } from "../../../src/check/address/named-in.ts"
import { EntryTable, isOn, mayHaveAddress } from "../../../src/customers/own-lists/entry-table.ts"
import { keptAddress, parseEntry } from "../../../src/customers/own-lists/own-list-entry.ts"
import type { OwnList } from "../../../src/customers/own-lists/own-lists.ts"

function tableOf(entries: { readonly [L in OwnList]?: readonly string[] }): EntryTable {
  const rows = (["block", "allow"] as const).flatMap(list =>
    (entries[list] ?? []).map(text => ({ list, entry: parseEntry(text, namedIn)?.kept ?? "" })),
  )
  return new EntryTable(rows)
}

const isBlocked = (entry: string, domain: string) => isOn(tableOf({ block: [entry] }).ofDomain(domain), "block")

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
    const says = (domain: string) => [isOn(table.ofDomain(domain), "block"), isOn(table.ofDomain(domain), "allow")]
    expect(says("acme.com")).toEqual([true, false])
    expect(says("x.mail.acme.com")).toEqual([true, true])
    expect(says("shop.example")).toEqual([false, true])
    expect(says("x.shop.example")).toEqual([true, true])
    expect(says("other.example")).toEqual([false, false])
  })

  test("a name and what is below it can be two entries of one list", () => {
    const table = tableOf({ block: ["acme.com", "*.acme.com"] })
    expect(["acme.com", "x.acme.com"].map(domain => isOn(table.ofDomain(domain), "block"))).toEqual([true, true])
    expect(table.entryCount).toBe(2)
  })
})

describe("an address", () => {
  test("is found by its kept form, on the list that has it", () => {
    const table = tableOf({ block: ["jane@acme.com", "both@acme.com"], allow: ["Joan+x@acme.com", "both@acme.com"] })
    const says = (normalized: string) => {
      const coverage = table.ofAddress(keptAddress(normalized, "acme.com"))
      return [isOn(coverage, "block"), isOn(coverage, "allow")]
    }
    expect(says("jane@acme.com")).toEqual([true, false])
    expect(says("joan@acme.com")).toEqual([false, true])
    expect(says("both@acme.com")).toEqual([true, true])
    expect(says("other@acme.com")).toEqual([false, false])
  })

  test("has to be looked for only at a domain of which there is an address, and not below that", () => {
    const table = tableOf({ block: ["jane@acme.com", "other.com"], allow: ["*.acme.com"] })
    const asked = ["acme.com", "mail.acme.com", "com", "other.com", "third.com"]
    expect(asked.filter(domain => mayHaveAddress(table.ofDomain(domain)))).toEqual(["acme.com"])
    expect(mayHaveAddress(tableOf({ allow: ["jane@acme.com"] }).ofDomain("acme.com"))).toBe(true)
  })
})

test("of a name that no list has, nothing is said, whatever stands below or above it", () => {
  const table = tableOf({ block: ["*.acme.com", "mail.other.com", "jane@third.com"] })
  const asked = ["acme.com", "other.com", "com", "mail.third.com"]
  expect(asked.map(domain => table.ofDomain(domain))).toEqual([0, 0, 0, 0])
})

test("a table without entries says nothing of anything", () => {
  const table = tableOf({})
  expect([table.ofDomain("acme.com"), table.ofAddress(keptAddress("jane@acme.com", "acme.com"))]).toEqual([0, 0])
})
