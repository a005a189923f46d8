import { expect, test } from "bun:test"
import { InvariantError } from "../../../src/base/errors.ts"
import { SETTINGS } from "../../../src/config/settings.ts"
import { TIER_MAX, TIERS } from "../../../src/contract/tiers.ts"
import { tierLimits } from "../../../src/customers/quota/tier-limits.ts"

const builtIn = TIERS.map(({ name: _, ...limits }) => limits)

function isTierOverride(text: string): boolean {
  try {
    tierLimits([text])
    return true
  } catch (error) {
    if (error instanceof InvariantError) return false
    throw error
  }
}

test("without overrides every tier has its built-in limits", () => {
  expect(tierLimits([])).toEqual(builtIn)
})

test("an override sets all limits of its tier and of no other", () => {
  expect(tierLimits(["0=10/11/2000", "3=-/500/-"])).toEqual([
    { requestsPerSecond: 10, inFlight: 11, unitsPerDay: 2000 },
    ...builtIn.slice(1, 3),
    { requestsPerSecond: null, inFlight: 500, unitsPerDay: null },
    ...builtIn.slice(4),
  ])
})

test("the last override of a tier counts", () => {
  expect(tierLimits(["1=1/1/1", "1=2/2/2"])[1]).toEqual({ requestsPerSecond: 2, inFlight: 2, unitsPerDay: 2 })
})

test("every tier can be overridden, and no other number", () => {
  for (let tier = 0; tier <= TIER_MAX; tier++) expect(isTierOverride(`${tier}=-/-/-`)).toBe(true)
  for (const tier of [`${TIER_MAX + 1}`, "-1", "00", ""]) expect(isTierOverride(`${tier}=-/-/-`)).toBe(false)
})

const FORMS: readonly (readonly [text: string, isOverride: boolean])[] = [
  ["0=1/1/1", true],
  ["0=999999999/999999999/999999999999", true],
  ["0=1000000000/1/1", false],
  ["0=1/1000000000/1", false],
  ["0=1/1/1000000000000", false],
  ["0=0/1/1", false],
  ["0=1/0/1", false],
  ["0=1/1/0", false],
  ["0=01/1/1", false],
  ["0=1.5/1/1", false],
  ["0=-1/1/1", false],
  ["0=1e3/1/1", false],
  ["0=1/1", false],
  ["0=1/1/1/1", false],
  ["0=//", false],
  ["0=1/1/1 ", false],
  ["0=1/1/1\n", false],
  ["0 = 1/1/1", false],
  ["0:1/1/1", false],
  ["0=∞/1/1", false],
  ["", false],
]

test.each(FORMS)("%j is an override: %p", (text, isOverride) => {
  expect(isTierOverride(text)).toBe(isOverride)
})

test("the setting accepts overrides and nothing else", () => {
  for (const [text, isOverride] of FORMS)
    expect(SETTINGS.MAILKIND_TIERS.parse(text).ok).toBe(isTierOverride(text.trim()) || isOverride)
})

test("a malformed override is an invariant error, since the settings were validated before", () => {
  expect(() => tierLimits(["5=1/1/1"])).toThrow("an override was validated before")
})
