import { expect, test } from "bun:test"
import fc from "fast-check"
import { cutOut, RecurringTextCache } from "../../src/base/recurring-text-cache.ts"

test("a text is cached from its second sight on, and found wherever a longer one ends with it", () => {
  const recurring = new RecurringTextCache<number>(8)
  expect(recurring.offer("acme.com", 1)).toBe(false)
  expect(recurring.get("acme.com")).toBeUndefined()
  expect(recurring.offer("acme.com", 2)).toBe(true)
  expect(recurring.get("acme.com")).toBe(2)
  expect(recurring.get("jane@acme.com", 5)).toBe(2)
  expect(recurring.get("jane@acme.com", 6)).toBeUndefined()
  expect(recurring.get("jane@acme.com")).toBeUndefined()
})

test("a value is never that of another text, whatever was offered before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3, unit: fc.constantFrom("a", "b", "c", "é") }), { maxLength: 200 }),
      texts => {
        const recurring = new RecurringTextCache<string>(4)
        for (const text of texts) {
          const value = recurring.get(text)
          expect(value ?? text).toBe(text)
          if (value === undefined) recurring.offer(text, text)
        }
      },
    ),
  )
})

test("of two texts in one place the one that was asked for last stays when a third comes", () => {
  // Two places are all that there is.
  const recurring = new RecurringTextCache<string>(2)
  const cache = (text: string) => [recurring.offer(text, text), recurring.offer(text, text)]
  for (const text of ["a", "b"]) cache(text)
  expect(recurring.get("a")).toBe("a")
  cache("c")
  expect(["a", "b", "c"].map(text => recurring.get(text))).toEqual(["a", undefined, "c"])
})

test("a text is found by itself and as the end of others, in whatever order they are asked for", () => {
  const names = Array.from({ length: 40 }, (_, number) => `n${number}.example`)
  const recurring = new RecurringTextCache<string>(1024)
  const [first, second] = [new RecurringTextCache<string>(1024), new RecurringTextCache<string>(1024)]
  for (const name of [...names, ...names]) {
    const address = `jane@${name}`
    recurring.get(address, 5)
    recurring.offer(cutOut(address, 5), name)
    // Other caches are asked in between.
    for (const other of [first, second]) if (other.get(name) === undefined) other.offer(name, name)
  }
  for (const name of names)
    expect([recurring.get(name), recurring.get(`jo@${name}`, 3), first.get(`jo@${name}`, 3), second.get(name)]).toEqual(
      Array(4).fill(name),
    )
})
