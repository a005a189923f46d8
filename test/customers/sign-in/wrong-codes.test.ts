import { describe, expect } from "bun:test"
import fc from "fast-check"
import { utcDay } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import {
  openSignIn,
  proveByCode,
  proveByLink,
  type SignInProof,
} from "../../../src/customers/sign-in/pending-sign-ins.ts"
import { areCodesLocked, mailboxOf, pruneWrongCodes } from "../../../src/customers/sign-in/wrong-codes.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { random, tempStore } from "../temp-store.ts"

const EMAIL = "jane@example.com"
const DAY_MS = 86_400_000
const MIDNIGHT = Date.UTC(2026, 5, 1)
const MAX = LIMITS.wrongCodesPerAddressAndDay

/** A store, a time, and how codes are guessed there. */
async function opened(nowMs = MIDNIGHT) {
  const store = await tempStore()
  const state = { nowMs }
  const clock = () => state.nowMs
  const open = (email = EMAIL) => openSignIn(store, clock, random, email)
  const byCode = (browser: string, code: string): Promise<SignInProof> =>
    store.transaction(inner => proveByCode(inner, { nowMs: clock(), day: utcDay(clock()) }, browser, code))
  const byLink = (link: string): Promise<SignInProof> => store.transaction(inner => proveByLink(inner, clock(), link))
  /** Guesses as often as sign-ins of the address allow, and gives how many wrong codes were compared. */
  const guess = async (count: number, email = EMAIL): Promise<number> => {
    let compared = 0
    let sign = await open(email)
    for (let at = 0; at < count; at++) {
      const end = await byCode(sign.browser, wrongFor(sign.code))
      if (end.kind === "wrong_code") compared++
      if (end.kind === "gone" || (end.kind === "wrong_code" && end.triesLeft === 0)) sign = await open(email)
    }
    return compared
  }
  return { store, state, clock, open, byCode, byLink, guess }
}

const wrongFor = (code: string): string => (code === "000000" ? "000001" : "000000")

describe("wrong codes for an address", () => {
  test("are compared ten times a day, and no more however many sign-ins are asked for", async () => {
    const { guess, state } = await opened()
    expect(await guess(50)).toBe(MAX)
    state.nowMs = MIDNIGHT + DAY_MS - 1
    expect(await guess(50)).toBe(0)
    state.nowMs = MIDNIGHT + DAY_MS
    expect(await guess(50)).toBe(MAX)
  })

  test("lock the right code too, and leave the link as good as before", async () => {
    const { guess, open, byCode, byLink, clock, store } = await opened()
    await guess(MAX)
    expect(await areCodesLocked(store, utcDay(clock()), EMAIL)).toBe(true)
    const { browser, code, link } = await open()
    for (let at = 0; at < 2 * LIMITS.signInTriesMax; at++)
      expect(await byCode(browser, code)).toEqual({ kind: "codes_locked" })
    expect(await byLink(link)).toEqual({ kind: "proved", email: EMAIL })
  })

  test("below ten, on the same day or the next, keep no right code from signing in, and right ones are not counted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(MAX - 1), fc.nat(3), async (wrong, right) => {
        const { guess, open, byCode, clock, store } = await opened()
        for (let at = 0; at < right + 10; at++) {
          const sign = await open()
          expect(await byCode(sign.browser, sign.code)).toEqual({ kind: "proved", email: EMAIL })
        }
        expect(await guess(wrong)).toBe(wrong)
        const { browser, code } = await open()
        expect(await areCodesLocked(store, utcDay(clock()), EMAIL)).toBe(false)
        expect(await byCode(browser, code)).toEqual({ kind: "proved", email: EMAIL })
      }),
      { numRuns: 5 },
    )
  })

  test("count for the mailbox, whatever the tag, and for no other one", async () => {
    const { guess, clock, store } = await opened()
    let compared = 0
    for (let at = 0; at < 20; at++) compared += await guess(5, `jane+${at}@example.com`)
    expect(compared).toBe(MAX)
    for (const locked of ["jane@example.com", "jane+new@example.com"])
      expect([locked, await areCodesLocked(store, utcDay(clock()), locked)]).toEqual([locked, true])
    for (const free of ["joe@example.com", "jane@example.org", "+jane@example.com", "jan@example.com"])
      expect([free, await areCodesLocked(store, utcDay(clock()), free)]).toEqual([free, false])
  })

  test("that come at one moment are not compared more often", async () => {
    const { open, byCode } = await opened()
    const signs = await Promise.all(Array.from({ length: 8 }, () => open()))
    const tries = signs.flatMap(sign => Array.from({ length: 4 }, () => byCode(sign.browser, wrongFor(sign.code))))
    const kinds = (await Promise.all(tries)).map(({ kind }) => kind)
    expect(kinds.filter(kind => kind === "wrong_code")).toHaveLength(MAX)
    expect(new Set(kinds)).toEqual(new Set(["wrong_code", "codes_locked"]))
  })

  test("are in a row that tells no address, another one each day, and are forgotten", async () => {
    const { guess, store, state, clock } = await opened()
    const rows = () => store.all<{ mailbox_hash: string }>("SELECT * FROM sign_in_wrong_codes ORDER BY day")
    await guess(1)
    state.nowMs += DAY_MS
    await guess(1)
    const [first, second] = await rows()
    expect(first?.mailbox_hash).not.toBe(second?.mailbox_hash ?? "")
    expect(JSON.stringify(await rows())).not.toMatch(/jane|example/)
    state.nowMs += DAY_MS
    expect([await pruneWrongCodes(store, trustedAt(clock()), 10), (await rows()).length]).toEqual([1, 1])
    state.nowMs += DAY_MS
    expect([await pruneWrongCodes(store, trustedAt(clock()), 10), await rows()]).toEqual([1, []])
  })
})

test("the mailbox of an address is the address without its tag", () => {
  for (const [email, mailbox] of [
    ["jane@example.com", "jane@example.com"],
    ["jane+x@example.com", "jane@example.com"],
    ["jane+x+y@example.com", "jane@example.com"],
    ["jane+@example.com", "jane@example.com"],
    ["+x@example.com", "+x@example.com"],
    ["jane.doe@example.com", "jane.doe@example.com"],
  ] as const)
    expect(mailboxOf(email)).toBe(mailbox)
})
