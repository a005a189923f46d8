import { expect, test } from "bun:test"
import fc from "fast-check"
import { openLists } from "../../src/check/domain-lookup.ts"
import { HEADER_BYTES, HEADER_OFFSETS, PACK_SECTIONS } from "../../src/check/lists/pack/pack-format.ts"
import { lists } from "../support/app.ts"
import { sealed, smallPack } from "./lists/pack/small-pack.ts"

const bytes = await Bun.file("data/build/lists.pack").bytes()

const flipped = (at: number): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 1)

test("bytes that are not an intact pack are refused with a message and a remedy", () => {
  for (const bad of [
    new Uint8Array(),
    new Uint8Array(100),
    bytes.subarray(0, -1),
    flipped(bytes.length - 1),
    flipped(100),
  ]) {
    expect(openLists(bad, false)).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/\w{3}/),
      remedy: expect.stringMatching(/\w{3}/),
    })
  }
  expect(openLists(bytes, false).kind).toBe("open")
})

test("a fast start also detects a changed byte", () => {
  expect(openLists(flipped(bytes.length >> 1), true).kind).toBe("refused")
  expect(openLists(bytes, true).kind).toBe("open")
})

const small = smallPack({ "aaa.com": ["disposable"], "bbb.com": ["personal"], "*.bremen.de": ["government_suffix"] })

/** Where a section of the small pack starts and ends. */
function boundsOf(name: (typeof PACK_SECTIONS)[number]): readonly [start: number, end: number] {
  const at = HEADER_OFFSETS.sections + PACK_SECTIONS.indexOf(name) * 8
  const view = new DataView(small.buffer)
  return [view.getUint32(at, true), view.getUint32(at, true) + view.getUint32(at + 4, true)]
}

/** Opens bytes, and uses the lists if they are open. */
function openAndUse(changed: Uint8Array, isOurs: boolean): string {
  const opened = openLists(changed, isOurs)
  if (opened.kind === "refused") return opened.message
  const { pack, lookupDomain } = opened.lists
  for (const domain of ["aaa.com", "x.bremen.de", "gmial.com"]) lookupDomain(domain, domain)
  expect(pack.targets.length + pack.groupDomains.length + pack.matchingPatterns("x.bremen.de").length).toBeGreaterThan(
    -1,
  )
  return "open"
}

test("a pack with the right checksum whose texts cannot be decoded is refused, whoever has written it", () => {
  for (const isOurs of [true, false])
    for (const section of ["texts", "patterns", "meta"] as const) {
      const [start, end] = boundsOf(section)
      for (const garbage of [0x00, 0x20, 0x7b, 0xff]) {
        const message = openAndUse(sealed(small.slice().fill(garbage, start, end)), isOurs)
        expect([section, garbage, message]).toEqual([
          section,
          garbage,
          expect.stringMatching(/damaged|does not describe/),
        ])
      }
    }
  const undated = Buffer.from(small)
  undated.write("2026-99-99", undated.indexOf('"built_at":"') + '"built_at":"'.length)
  expect(openAndUse(sealed(new Uint8Array(undated)), true)).toContain("does not describe")
})

test("no changed byte makes an opening or a lookup throw, even if the checksum is right", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (changes, isOurs) => {
        const changed = small.slice()
        for (const [at, byte] of changes) changed[HEADER_BYTES + (at % (small.length - HEADER_BYTES))] = byte
        openAndUse(sealed(changed), isOurs)
      },
    ),
    { numRuns: 3000 },
  )
})

test("names in sets of real names have no suggestion and are no look-alikes", () => {
  for (const name of [
    "gmail.com",
    "mit.edu",
    "gov.uk",
    "stripe.com",
    "duck.com",
    "uw.edu.pl",
    "gmx.net",
    "ymail.com",
  ]) {
    expect(lists.lookupDomain(name, name)).toMatchObject({ suggestion: null, lookalikeOf: null })
  }
})

test("a subdomain of a provider is looked at for a dot in the label of a household name, and for nothing else", () => {
  const names = [
    ["g.mail.com", "mail.com"],
    ["paypal.com.gmx.net", "gmx.net"],
    ["jane.gmx.net", "gmx.net"],
  ] as const
  const found = names.map(([name, registrable]) => lists.lookupDomain(name, registrable))
  expect(found.map(({ suggestion, lookalikeOf }) => [suggestion, lookalikeOf])).toEqual([
    ["gmail.com", null],
    [null, null],
    [null, null],
  ])
  const listed = openLists(smallPack({ "mail.com": ["personal"], "g.mail.com": ["personal"] }), true)
  if (listed.kind === "refused") throw new Error(listed.message)
  expect(listed.lists.lookupDomain("g.mail.com", "mail.com").suggestion).toBeNull()
})
