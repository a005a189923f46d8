import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { parseTable } from "../../../src/base/text-table.ts"
import { canonicalEmail } from "../../../src/check/address/canonical-email.ts"
import { loadMailboxRules, parseMailboxRules } from "../../../src/check/address/mailbox-rules.ts"
import { parseSubject } from "../../../src/check/address/parse-subject.ts"

const TABLE = await Bun.file(join(import.meta.dir, "canonical-addresses.txt")).text()
const ROWS = parseTable(TABLE, ["key", "address", "operatedBy", "mailbox"])

const parsed = (address: string) => parseSubject("email", address, "t.test")
const canonical = (address: string, operatedBy: string | null = null): string | null =>
  canonicalEmail(parsed(address), operatedBy)

describe("the mailbox behind an address", () => {
  test("is the one that its provider documents, for 300 addresses of all providers with a rule", () => {
    const wrong = ROWS.map(({ key, address, operatedBy, mailbox }) => {
      const found = canonical(address, operatedBy === "" ? null : operatedBy)
      return found === mailbox ? null : `${key}: ${address} is ${found}, not ${mailbox}`
    })
    expect(wrong.filter(each => each !== null)).toEqual([])
    expect(ROWS.length).toBeGreaterThanOrEqual(300)
    const { byDomain, bySuite } = loadMailboxRules()
    const keys = new Set([...byDomain.values(), ...bySuite.values()].map(({ key }) => key))
    expect(keys.difference(new Set(ROWS.map(({ key }) => key)))).toEqual(new Set())
  })

  test("is null for what is no email, has a fault, or would be longer than an address may be", () => {
    expect(canonicalEmail(parseSubject("domain", "gmail.com", "t.test"), null)).toBeNull()
    expect(canonicalEmail(parseSubject("url", "https://gmail.com/jane", "t.test"), null)).toBeNull()
    for (const address of ["a@b@c", "jane@[1.2.3.4]", "jane@localhost", "jane@acme.invalid"])
      expect(canonical(address)).toBeNull()
    // 64 octets in their composed form are 80 in the normal one.
    const long = "\u{1d15e}".repeat(16)
    expect([parsed(`${long}@acme.com`).fault, canonical(`${long}@acme.com`)]).toEqual([null, null])
    const names = `${"a".repeat(63)}.`.repeat(2)
    const below = `${names}${"a".repeat(58)}`
    expect(canonical(`${"x".repeat(64)}@${below}.de`)).toBe(`${"x".repeat(64)}@${below}.de`)
  })

  test("keeps the tag at a domain of one's own until a suite is known to run its mail", () => {
    expect(
      ["suite_a", "suite_b", "other_suite", "gateway", null].map(by => canonical("Jane.D+x@Acme.com", by)),
    ).toEqual(["jane.d@acme.com", "jane.d@acme.com", "jane.d+x@acme.com", "jane.d+x@acme.com", "jane.d+x@acme.com"])
    expect(canonical("jane+x@tuta.com", "suite_a")).toBe("jane+x@tuta.com")
  })
})

describe("for any address, whoever runs its mail,", () => {
  const random = seeded(46)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const { byDomain } = loadMailboxRules()
  const listed = [...byDomain.keys()]
  const pieces = [
    ..."aAbz09.-_+.-_+",
    "..",
    "\u00e9",
    "e\u0301",
    "\u0301",
    "\u{1d15e}",
    "+news",
    ".+x",
    "-word",
    '"',
    " ",
    "\\",
    "ÿ",
  ]
  const domains = () =>
    pick([
      pick(listed),
      pick(listed),
      `user.${pick(listed)}`,
      `a.user.${pick(listed)}`,
      "acme.com",
      "müller.de",
      "x.github.io",
    ])
  const address = () => {
    const text = Array.from({ length: 1 + Math.floor(random() * pick([4, 12, 40])) }, () => pick(pieces)).join("")
    return `${random() < 0.15 ? `"${text}"` : text}@${domains()}`
  }
  const operators = ["suite_a", "suite_b", null]
  /** The row of a domain or of the one above it; else the domain itself. */
  const joined = (domain: string | null): string => {
    if (domain === null) return "none"
    const rule = byDomain.get(domain)
    const above = domain.slice(domain.indexOf(".") + 1)
    const parent = byDomain.get(above)
    if (rule !== undefined) return rule.one ?? domain
    return parent?.hasSubdomains === true ? above : domain
  }

  test("it parses, is its own canonical form, and names a domain that a row joins with that of the address", () => {
    let seen = 0
    for (let round = 0; round < 40_000; round++) {
      const sent = address()
      const operatedBy = pick(operators)
      const subject = parsed(sent)
      const found = canonicalEmail(subject, operatedBy)
      if (found === null) continue
      seen++
      const again = parsed(found)
      const facts = [again.fault, canonicalEmail(again, operatedBy), joined(again.domain)]
      if (!Bun.deepEquals(facts, [null, found, joined(subject.domain)])) throw new Error(`${sent}: ${found}: ${facts}`)
    }
    expect(seen).toBeGreaterThan(5_000)
  })
})

describe("the table of rules", () => {
  const row = (...fields: readonly string[]): string => fields.join("\t")

  test("names a source for each provider, and no domain twice", () => {
    const source = "Help <https://example.com/help>"
    expect(parseMailboxRules(row("a", "A", "a.com b.com", "a.com", "tag dots", source)).byDomain.size).toBe(2)
    for (const wrong of [
      row("a", "A", "a.com", "-", "tag", "somebody said so"),
      row("a", "A", "a.com", "b.com", "tag", source),
      row("a", "A", "a.com a.com", "-", "tag", source),
      row("a", "A", "a.com", "-", "comments", source),
      row("a", "A", "a.com", "-", "dots dot_is_hyphen", source),
    ])
      expect(() => parseMailboxRules(wrong)).toThrow()
  })
})
