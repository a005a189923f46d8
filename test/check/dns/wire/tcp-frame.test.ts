import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createMessageAssembler, frameMessage } from "../../../../src/check/dns/wire/tcp-exchange.ts"

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => at % 251)

test("a frame is the length in two bytes and the message", () => {
  expect(frameMessage(Uint8Array.of(7, 8, 9))).toEqual(Uint8Array.of(0, 3, 7, 8, 9))
  expect(frameMessage(bytesOf(258)).subarray(0, 2)).toEqual(Uint8Array.of(1, 2))
})

describe("a message", () => {
  test("is complete with its last byte, however it was split", () => {
    const lengths = fc.constantFrom(1, 2, 3, 40, 600)
    fc.assert(
      fc.property(lengths, fc.array(fc.integer({ min: 0, max: 602 }), { maxLength: 12 }), (length, cuts) => {
        const message = bytesOf(length)
        const frame = frameMessage(message)
        const borders = [0, ...cuts.map(cut => Math.min(cut, frame.length)), frame.length].toSorted((a, b) => a - b)
        const gather = createMessageAssembler()
        const got = borders.map((border, at) => gather(frame.subarray(borders[at - 1] ?? 0, border)))
        const whole = borders.indexOf(frame.length)
        expect(got.slice(0, whole)).toEqual(got.slice(0, whole).map(() => null))
        expect(got[whole]).toEqual(message)
      }),
    )
  })

  test("of 65 535 bytes can arrive one byte at a time", () => {
    const message = bytesOf(65_535)
    const gather = createMessageAssembler()
    const got = Array.from(frameMessage(message), octet => gather(Uint8Array.of(octet)))
    expect(got.findIndex(one => one !== null)).toBe(65_536)
    expect(got.at(-1)).toEqual(message)
  })

  test("ends where its length says; later bytes are ignored", () => {
    expect(createMessageAssembler()(Uint8Array.of(0, 2, 7, 8, 9, 10))).toEqual(Uint8Array.of(7, 8))
    const gather = createMessageAssembler()
    expect(gather(Uint8Array.of(0, 2, 7))).toBeNull()
    expect(gather(Uint8Array.of(8, 9, 10))).toEqual(Uint8Array.of(7, 8))
  })

  test("may be empty", () => {
    const gather = createMessageAssembler()
    expect(gather(Uint8Array.of(0))).toBeNull()
    expect(gather(Uint8Array.of(0))).toEqual(new Uint8Array(0))
  })
})
