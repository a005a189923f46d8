import { expect, test } from "bun:test"
import { cacheBounds } from "../../../src/assemble/check/caches.ts"

const MB = 1_048_576
const TENANT_BYTES = 500

const sumOf = (bytesMax: number, memoryBytes: number): number => {
  const { tenantsMax, evidenceBytesMax, evidenceApartBytesMax, dnsBytesMax } = cacheBounds(bytesMax, memoryBytes)
  return evidenceBytesMax + evidenceApartBytesMax + dnsBytesMax + tenantsMax * TENANT_BYTES
}

test("all caches together take no more than the one bound", () => {
  for (const bytesMax of [MB, 32 * MB, 64 * MB, 1024 * MB]) {
    expect(sumOf(bytesMax, 64_000 * MB)).toBeLessThanOrEqual(bytesMax)
    expect(sumOf(bytesMax, 64_000 * MB)).toBeGreaterThan(bytesMax * 0.8)
  }
})

test("caches take no more than an eighth of the memory that the process may use", () => {
  expect(sumOf(64 * MB, 256 * MB)).toBeLessThanOrEqual(32 * MB)
  expect(sumOf(64 * MB, 256 * MB)).toBeGreaterThan(25 * MB)
})
