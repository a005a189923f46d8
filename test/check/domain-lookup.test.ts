import { expect, test } from "bun:test"
import { openLists } from "../../src/check/domain-lookup.ts"
import { lists } from "../support/app.ts"

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
