import { expect, test } from "bun:test"
import { parseRetryAfter } from "../../../src/check/fetch/request.ts"

const NOW = Date.UTC(2026, 0, 1)

test("Retry-After may be seconds", () => {
  expect(parseRetryAfter("0", NOW)).toBe(0)
  expect(parseRetryAfter("120", NOW)).toBe(120_000)
})

test("Retry-After may be a date, and one in the past is now", () => {
  expect(parseRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", NOW)).toBe(30_000)
  expect(parseRetryAfter("Wed, 31 Dec 2025 23:59:59 GMT", NOW)).toBe(0)
})

test("a Retry-After that is neither seconds nor a date is ignored", () => {
  for (const value of [
    null,
    "",
    "-1",
    "1.5",
    "1e3",
    "9".repeat(10),
    "soon",
    "2026-01-01",
    "Foo, 99 Bar 2026 00:00:00 GMT",
  ]) {
    expect(parseRetryAfter(value, NOW)).toBeNull()
  }
})
