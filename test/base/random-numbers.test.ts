import { expect, test } from "bun:test"
import { createRandomUint16s } from "../../src/base/random-numbers.ts"

test("random numbers are two bytes each of the random source, in order and each byte once", () => {
  const rows = [Uint8Array.of(0, 1, 0xff, 0xfe), Uint8Array.of(0x12, 0x34)]
  const next = createRandomUint16s(() => rows.shift() ?? new Uint8Array(2))
  expect([next(), next(), next(), next()]).toEqual([1, 0xfffe, 0x1234, 0])
})
