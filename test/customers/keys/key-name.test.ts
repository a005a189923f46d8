import { expect, test } from "bun:test"
import { normalizeKeyName } from "../../../src/customers/keys/keys.ts"

test("a name is kept as written, without the white space around it", () => {
  expect(normalizeKeyName("  CI – Zürich 🇨🇭 ", "secret")).toBe("CI – Zürich 🇨🇭")
  expect(normalizeKeyName("Zu\u0308rich", "secret")).toBe("Zürich")
})

test("no name and a blank one are the default of the kind", () => {
  expect(normalizeKeyName(null, "secret")).toBe("Secret key")
  expect(normalizeKeyName("", "publishable")).toBe("Publishable key")
  expect(normalizeKeyName("   ", "secret")).toBe("Secret key")
})

test("a name has at most 60 characters, whatever they take in memory", () => {
  expect(normalizeKeyName("a".repeat(60), "secret")).toHaveLength(60)
  expect(normalizeKeyName("a".repeat(61), "secret")).toBeNull()
  expect(normalizeKeyName("😀".repeat(60), "secret")).not.toBeNull()
  expect(normalizeKeyName("😀".repeat(61), "secret")).toBeNull()
  expect(normalizeKeyName("a".repeat(1_000_000), "secret")).toBeNull()
})

for (const character of [
  "\0",
  "\t",
  "\n",
  "\r",
  "\x1B",
  "\x7F",
  "\x85",
  "\u2028",
  "\u2029",
  "\u202E",
  "\u2066",
  "\uD800",
])
  test(`a name with ${JSON.stringify(character)} is refused`, () => {
    expect(normalizeKeyName(`a${character}b`, "secret")).toBeNull()
    expect(normalizeKeyName(character, "secret")).toBeNull()
  })
