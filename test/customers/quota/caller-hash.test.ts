import { expect, test } from "bun:test"
import { createCallerHash } from "../../../src/customers/quota/caller-hash.ts"

const places = (seed: number): string[] => {
  const hash = createCallerHash(seed)
  return Array.from({ length: 100_000 }, (_, at) => {
    const { fingerprint: mark, bucket } = hash(`2001:db8:${at.toString(16)}::/64`)
    return `${mark} ${bucket}`
  })
}

test("callers have different hashes, which depend on the seed", () => {
  const one = places(1)
  expect(new Set(one).size).toBe(100_000)
  expect(places(1)).toEqual(one)
  expect(new Set([...one, ...places(4_294_967_295)]).size).toBe(200_000)
})

test("fingerprints are 32 bits and never zero, buckets 20 bits, and both are distributed evenly", () => {
  const hash = createCallerHash(7)
  const low = new Map<number, number>()
  for (let at = 0; at < 100_000; at++) {
    const { fingerprint: mark, bucket } = hash(`caller ${at}`)
    if (mark === 0 || mark !== (mark | 0) || bucket < 0 || bucket >= 2 ** 20) throw new Error(`${mark} ${bucket}`)
    for (const part of [mark & 15, 16 + (bucket & 15)]) low.set(part, (low.get(part) ?? 0) + 1)
  }
  expect(low.size).toBe(32)
  for (const count of low.values()) expect(Math.abs(count - 6250)).toBeLessThan(500)
})
