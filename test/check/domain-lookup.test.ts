import { expect, test } from "bun:test"
import { openLists } from "../../src/check/domain-lookup.ts"
import { lists } from "../support/app.ts"

const bytes = await Bun.file("data/build/lists.pack").bytes()

const flipped = (at: number): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 1)

test("bytes that are no whole pack are refused, and it is said why and what to do", () => {
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

test("a changed byte is found at the start too", () => {
  expect(openLists(flipped(bytes.length >> 1), true).kind).toBe("refused")
  expect(openLists(bytes, true).kind).toBe("open")
})

test("names of real providers, schools, governments and organisations have no suggestion and imitate nobody", () => {
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
