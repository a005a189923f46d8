import { expect, test } from "bun:test"
import { keyName } from "../../../src/customers/keys/key-name.ts"

test("a name is kept as written, without the white space around it", () => {
  expect(keyName("  CI – Zürich 🇨🇭 ", "secret")).toBe("CI – Zürich 🇨🇭")
  expect(keyName("Zu\u0308rich", "secret")).toBe("Zürich")
})

test("no name and a blank one are the default of the kind", () => {
  expect(keyName(null, "secret")).toBe("Secret key")
  expect(keyName("", "publishable")).toBe("Publishable key")
  expect(keyName("   ", "secret")).toBe("Secret key")
})

test("a name has at most 60 characters, whatever they take in memory", () => {
  expect(keyName("a".repeat(60), "secret")).toHaveLength(60)
  expect(keyName("a".repeat(61), "secret")).toBeNull()
  expect(keyName("😀".repeat(60), "secret")).not.toBeNull()
  expect(keyName("😀".repeat(61), "secret")).toBeNull()
  expect(keyName("a".repeat(1_000_000), "secret")).toBeNull()
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
    expect(keyName(`a${character}b`, "secret")).toBeNull()
    expect(keyName(character, "secret")).toBeNull()
  })
