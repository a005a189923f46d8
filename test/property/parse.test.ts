import { expect, test } from "bun:test"
import fc from "fast-check"
import { detectSubjectKind, inputRefusal, parseSubject } from "../../src/check/address/parse-subject.ts"
import type { Subject, SubjectKind } from "../../src/check/address/subject.ts"

const KINDS = ["email", "domain", "url"] as const
const TEST_DOMAIN = "mailkind.test"
const parse = (kind: SubjectKind, sent: string): Subject => parseSubject(kind, sent, TEST_DOMAIN)

/** Well-formed texts to be spoilt. */
const SEEDS = [
  ...["jane.doe+news@mail.acme.co.uk", '"a@\\"b"@acme.com', "jürgen@büßchen.de", "x@[IPv6:2001:db8::1]", "x@192.0.2.1"],
  ...["xn--fa-hia.de", "日本．co．jp", "www.ck", "a.foo.kawasaki.jp", "localhost", "co.uk", "a.mailkind.test", "नी.क्‍ष"],
  ...[
    "https://www.acme.com:443/x?y=a@b#c",
    "http://[::1]:80/",
    "0x7f.1",
    "acme.com:8080",
    `${"a".repeat(64)}@acme.com`,
  ],
]
/** Pieces that parsers trip over. */
const PIECES = [
  ...[
    "@",
    ".",
    "..",
    "-",
    "--",
    "xn--",
    "+",
    '"',
    "\\",
    "[",
    "]",
    ":",
    "/",
    "//",
    "?",
    "#",
    "%",
    "%00",
    " ",
    "\t",
    "\n",
    "\0",
    "www.",
  ],
  ...[
    "\ud800",
    "\udfff",
    "\u200d",
    "\u00ad",
    "\u0301",
    "\u202e",
    "\u037e",
    "\ufeff",
    "\u00a0",
    "\u2800",
    "\ue000",
    "\ufdd0",
    "。",
    "／",
    "＠",
    "é",
    "ß",
    "İ",
    "Σ",
    "א",
    "💩",
    "_",
  ],
  ...["0x", "1", "255", "com", "test", "a".repeat(63), "é".repeat(60), "http", "IPv6", "(", ")", "<", ">", ",", ";"],
]

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map(units => String.fromCharCode(...units)),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map(pieces => pieces.join("")),
  fc
    .tuple(fc.constantFrom(...SEEDS), fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...PIECES, "")), { maxLength: 4 }))
    .map(([seed, edits]) =>
      edits.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at + (piece === "" ? 1 : 0)), seed),
    ),
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 12 })
const localPart = fc.oneof(
  fc
    .array(fc.string({ unit: fc.constantFrom(...letters, ..."ABCÉéİΣß用_-+!"), minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 3,
    })
    .map(atoms => atoms.join(".")),
  fc.string({ unit: fc.constantFrom(...letters, ..."AB .@+()é"), maxLength: 20 }).map(content => `"${content}"`),
)

/** Local parts near their bound whose normal form is longer, and domains whose A-labels are. */
const growingLocalPart = fc
  .tuple(
    fc.array(fc.constantFrom("İ", "\u0958", "\u037e", "\ufb1d", "a", "A"), { maxLength: 34 }),
    fc.nat(64),
    fc.boolean(),
  )
  .map(([grown, fill, isTagged]) => `${grown.join("")}${"a".repeat(fill)}`.slice(0, 60) + (isTagged ? ".+" : "x"))
const growingDomain = fc
  .array(fc.constantFrom("éa", "Ü", "中国", "ﬁ", "㌀", "ẞ", "abc"), { minLength: 1, maxLength: 9 })
  .map(parts => `${parts.join(".é")}.${"é".repeat(20)}.${"中b".repeat(9)}.com`)

/** What holds of every Subject. */
function expectSound(subject: Subject, kind: SubjectKind, sent: string) {
  const { fault, domain, registrable, localPart: local, normalized, hasSubaddress, isTest } = subject
  expect([subject.kind, subject.sent]).toEqual([kind, sent])
  expect(registrable === null).toBe(domain === null)
  expect(local === null).toBe(normalized === null)
  if (domain !== null) {
    expect(domain).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/)
    expect([kind === "email" && domain.includes("_"), registrable?.includes("_")]).toEqual([false, false])
    expect(domain.length).toBeLessThanOrEqual(253)
    expect(`.${domain}`.endsWith(`.${registrable}`)).toBe(true)
  }
  if (normalized !== null) {
    const host = normalized.slice(normalized.lastIndexOf("@") + 1)
    expect([normalized, parse("domain", host).domain]).toEqual([`${local}@${host}`, domain])
  }
  if (kind !== "email") expect([normalized, hasSubaddress]).toEqual([null, false])
  if (fault === null) expect([domain === null, kind === "email" && normalized === null]).toEqual([false, false])
  if (isTest) expect([fault, `.${domain}`.endsWith(`.${TEST_DOMAIN}`)]).toEqual([null, true])
}

test("every text of every kind gives a sound Subject, and never an error", () => {
  fc.assert(
    fc.property(hostile, sent => {
      for (const kind of KINDS) {
        const subject = parse(kind, sent)
        expectSound(subject, kind, sent)
        inputRefusal(subject)
      }
      expect(KINDS).toContain(detectSubjectKind(sent))
    }),
    { numRuns: 10_000 },
  )
}, 300_000)

test("a normalized address parses to itself, within the lengths of addresses", () => {
  const address = fc.oneof(
    hostile,
    fc
      .tuple(localPart, fc.constantFrom("acme.com", "büßchen.de", "a.co.uk", "b.local", "co.uk"))
      .map(parts => parts.join("@")),
    fc.tuple(growingLocalPart, growingDomain).map(parts => parts.join("@")),
  )
  fc.assert(
    fc.property(address, sent => {
      const { normalized, domain, registrable, localPart: local, mailbox, tagged, fault } = parse("email", sent)
      if (normalized === null || local === null) return
      // Lower case, composition, quotes and A-labels can take more octets than what was sent: `İ` becomes two characters.
      expect([Buffer.byteLength(normalized) <= 254, Buffer.byteLength(local) <= 64]).toEqual([true, true])
      const again = parse("email", normalized)
      expect(again).toMatchObject({ normalized, domain, registrable, localPart: local, mailbox, fault })
      expect(again.tagged).toBe(again.hasSubaddress ? tagged : null)
    }),
    { numRuns: 6_000 },
  )
}, 300_000)

test("white space at the ends changes nothing but the text as sent", () => {
  const space = fc.string({
    unit: fc.constantFrom(" ", "\t", "\n", "\r", "\f", "\u00a0", "\u3000", "\u200b", "\ufeff"),
    maxLength: 5,
  })
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), hostile, space, space, (kind, text, before, after) => {
      const sent = before + text + after
      expect(parse(kind, sent)).toEqual({ ...parse(kind, text), sent })
    }),
    { numRuns: 10_000 },
  )
}, 300_000)

test("case, composition, and U-labels or A-labels make no difference to a domain", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abzäöüßéñçøλя中国"), minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), labels => {
      const name = `${labels.join(".")}.com`
      const { domain, fault, registrable } = parse("domain", name)
      expect(fault).toBeNull()
      for (const other of [
        domain ?? "",
        (domain ?? "").toUpperCase(),
        name.normalize("NFD"),
        name.replaceAll(".", "。"),
        `${name}.`,
      ]) {
        expect(parse("domain", other)).toMatchObject({ domain, registrable, fault: null })
      }
      expect(parse("email", `jane@${name}`)).toMatchObject({ domain, normalized: `jane@${domain}` })
      expect(parse("url", `https://www.${name}/`)).toMatchObject({ domain })
    }),
    { numRuns: 5_000 },
  )
}, 300_000)

test("addresses that differ in case and tag alone are one", () => {
  fc.assert(
    fc.property(word, word, word, (name, tag, host) => {
      const { normalized } = parse("email", `${name}@a${host}.com`)
      expect(normalized).toBe(`${name}@a${host}.com`)
      for (const other of [
        `${name}+${tag}@a${host}.com`,
        `"${name}"@A${host}.COM`,
        `${name.toUpperCase()}+@a${host}.com`,
      ]) {
        expect(parse("email", other)).toMatchObject({ normalized, mailbox: normalized })
      }
      expect(parse("email", `${name}+${tag.toUpperCase()}@a${host}.com`).tagged).toBe(`${name}+${tag}@a${host}.com`)
    }),
    { numRuns: 5_000 },
  )
}, 300_000)

test("a text of a million characters is read or refused like a short one", () => {
  const million = 1_000_000
  for (const piece of [
    "a",
    "@",
    ".",
    '"',
    "\\",
    "é",
    "a@",
    ".a",
    "xn--a.",
    "💩",
    "\ud800",
    " a",
    "1.",
    "[:",
    "a:",
    "http://",
    "\u00ad",
    "-",
  ]) {
    const long = piece.repeat(million / piece.length)
    for (const kind of KINDS) {
      for (const sent of [
        long,
        `a@${long}`,
        `${long}@acme.com`,
        `"${long}"@acme.com`,
        `https://${long}`,
        `https://acme.com/${long}`,
      ]) {
        const { fault } = parse(kind, sent)
        expect([piece, kind, fault]).toEqual([piece, kind, "too_long"])
      }
    }
  }
}, 300_000)
