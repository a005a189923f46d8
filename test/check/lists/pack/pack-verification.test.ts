import { expect, test } from "bun:test"
import { openPack } from "../../../../src/check/lists/pack/pack.ts"
import { HEADER_OFFSETS, PACK_SECTIONS, type PackSectionName } from "../../../../src/check/lists/pack/pack-format.ts"
import { sealed, smallPack } from "./small-pack.ts"

const bytes = smallPack({
  "aaa.com": ["disposable"],
  "bbb.com": ["personal"],
  "ccc.com": ["relay"],
  "*.bremen.de": ["government_suffix"],
})

const offsetOf = (name: PackSectionName): number =>
  new DataView(bytes.buffer).getUint32(HEADER_OFFSETS.sections + PACK_SECTIONS.indexOf(name) * 8, true)

/** The pack with one byte changed and both checksums recomputed, as a faulty writer would leave it. */
const resealed = (at: number, byte: number): Uint8Array => sealed(bytes.with(at, byte))

function fault(changed: Uint8Array): string {
  const found = openPack(changed)
  if (found.kind === "refused") return found.message
  const verified = found.pack.verify()
  return verified.ok ? "none" : verified.message
}

test("an intact pack has no fault", () => {
  expect(fault(bytes)).toBe("none")
  expect(fault(resealed(bytes.length - 1, bytes.at(-1) ?? 0))).toBe("none")
})

test("a row that is not a name or has no class is a fault, even if the checksum matches", () => {
  const rows = offsetOf("rows")
  expect(fault(resealed(rows, 0x41))).toMatch(/^Row 0 of length 7 is not a name\.$/)
  expect(fault(resealed(rows + 7, 0xf0))).toMatch(/has no class\.$/)
})

test("a row in another's bucket is a fault", () => {
  const many = smallPack(Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`n${at + 10}.com`, ["disposable"]])))
  const rows = new DataView(many.buffer).getUint32(HEADER_OFFSETS.sections + PACK_SECTIONS.indexOf("rows") * 8, true)
  const moved = ["a", "b", "c", "d"].map(first => fault(sealed(many.with(rows, first.charCodeAt(0)))))
  expect(moved.some(description => / cannot be found\.$/.test(description))).toBe(true)
})

test("rows out of order are a fault", () => {
  const rows = offsetOf("rows")
  expect(fault(resealed(rows, "z".charCodeAt(0)))).toMatch(/^Row \d of length 7 (cannot be found|is out of order)\.$/)
})

test("a table that points elsewhere is a fault", () => {
  const entry = offsetOf("lengths") + 6 * 12
  expect(fault(resealed(entry + 4, 0xff))).toMatch(/are not in their place/)
  expect(fault(resealed(entry + 8, 0xff))).toMatch(/are not in their place/)
  expect(fault(resealed(offsetOf("buckets") + 5, 0xff))).not.toBe("none")
})

test("listings and patterns that mean nothing are a fault", () => {
  expect(fault(resealed(offsetOf("listings"), 0xee))).toMatch(/listings that mean nothing/)
  expect(fault(resealed(offsetOf("patterns"), 0x7b))).toBe("The suffix patterns are damaged.")
  expect(fault(resealed(offsetOf("texts"), 0x5b))).toBe("The words or targets are damaged.")
  expect(fault(resealed(offsetOf("meta"), 0x5b))).toBe("The pack does not describe itself.")
})
