import { expect, test } from "bun:test"
import { COUNTED_BYTES, cacheBounds } from "../../../src/assemble/check/caches.ts"

const MB = 1_048_576

const sumOf = (bytesMax: number, memoryBytes: number): number => {
  const bounds = cacheBounds(bytesMax, memoryBytes)
  const { evidenceBytesMax, evidenceApartBytesMax, dnsBytesMax, tenantsMax, verdictsMax, factsMax } = bounds
  const { tenant, verdict, fact } = COUNTED_BYTES
  return (
    evidenceBytesMax +
    evidenceApartBytesMax +
    dnsBytesMax +
    tenantsMax * tenant +
    verdictsMax * verdict +
    factsMax * fact
  )
}

test("all caches together take no more than the one bound", () => {
  for (const bytesMax of [MB, 32 * MB, 64 * MB, 1024 * MB]) {
    expect(sumOf(bytesMax, 64_000 * MB)).toBeLessThanOrEqual(bytesMax)
    expect(sumOf(bytesMax, 64_000 * MB)).toBeGreaterThan(bytesMax * 0.8)
  }
})

test("caches take no more than a sixteenth of the memory that the process may use", () => {
  expect(sumOf(64 * MB, 256 * MB)).toBeLessThanOrEqual(16 * MB)
  expect(sumOf(64 * MB, 256 * MB)).toBeGreaterThan(12 * MB)
})
