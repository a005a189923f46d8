import { expect, test } from "bun:test"
import { ListsInUse, openLists } from "../../src/check/lists.ts"
import { lists } from "../world/app.ts"

const bytes = await Bun.file("data/build/lists.pack").bytes()

const flipped = (at: number): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 1)

test("lists that are refused leave the lists in use, and say why and what to do", () => {
  const inUse = new ListsInUse(lists)
  for (const bad of [
    new Uint8Array(),
    new Uint8Array(100),
    bytes.subarray(0, -1),
    flipped(bytes.length - 1),
    flipped(100),
  ]) {
    const offered = inUse.offer(bad)
    expect(offered).toMatchObject({
      kind: "refused",
      says: expect.stringMatching(/\w{3}/),
      remedy: expect.stringMatching(/\w{3}/),
    })
    expect(inUse.now()).toBe(lists)
  }
  expect(inUse.offer(bytes)).toEqual({ kind: "taken", version: lists.pack.version })
  expect(inUse.now()).not.toBe(lists)
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
    expect(lists.reputeOf(name, name)).toMatchObject({ suggestion: null, imitated: null })
  }
})
