import { describe, expect, test } from "bun:test"
import {
  changeByAct,
  chooseLists,
  inForce,
  type ListsAct,
  stateInUse,
  waitingLists,
  withActivePack,
} from "../../../src/check/refresh/lists-in-force.ts"
import { BUILT_IN, INITIAL_REFRESH_STATE, type RefreshState } from "../../../src/check/refresh/refresh-state.ts"

const HOUR_MS = 3_600_000
const SHA256 = { a: "a".repeat(64), b: "b".repeat(64), c: "c".repeat(64) } as const
const packs = (["c", "b", "a"] as const).map((version, at) => ({
  ...{ sha256: SHA256[version], version, stock: "s" },
  made_at_ms: (10 - at) * HOUR_MS,
}))
const THREE: RefreshState = { ...INITIAL_REFRESH_STATE, stock: "s", refreshed_at_ms: 9, packs, in_use: SHA256.c }

const act = (what: ListsAct, state: RefreshState, others: readonly RefreshState[] = []) =>
  changeByAct(what, state, others, "v0")
const own = (what: ListsAct, state: RefreshState): RefreshState | null => act(what, state)?.(state) ?? null
const ROLL_BACK = { kind: "roll_back" } as const
const UNPIN = { kind: "unpin" } as const

describe("a roll-back", () => {
  test("pins pack by pack back to the built-in lists, and then goes no further", () => {
    const first = own(ROLL_BACK, THREE)
    expect(first).toEqual({ ...THREE, in_use: SHA256.b, pinned: "b" })
    const second = own(ROLL_BACK, first ?? THREE)
    expect(second).toEqual({ ...THREE, in_use: SHA256.a, pinned: "a" })
    const third = own(ROLL_BACK, second ?? THREE)
    expect(third).toEqual({ ...THREE, in_use: null, pinned: BUILT_IN })
    expect(own(ROLL_BACK, third ?? THREE)).toBeNull()
  })

  test("finds nothing without a refresh, after one of another version of the program, or where the pack is not kept", () => {
    for (const state of [INITIAL_REFRESH_STATE, stateInUse(THREE, "t"), { ...THREE, in_use: "d".repeat(64) }])
      expect(act(ROLL_BACK, state)).toBeNull()
  })
})

describe("a pin", () => {
  test("holds a kept version or the built-in lists, and of a version that nobody has is refused", () => {
    expect(own({ kind: "pin", version: "a" }, THREE)).toEqual({ ...THREE, in_use: SHA256.a, pinned: "a" })
    for (const version of [BUILT_IN, "v0"])
      expect(own({ kind: "pin", version }, THREE)).toEqual({ ...THREE, in_use: null, pinned: BUILT_IN })
    expect(act({ kind: "pin", version: "d" }, THREE)).toBeNull()
  })

  test("is that of all versions of the program, and goes back to the newest lists of each", () => {
    const other = {
      ...THREE,
      stock: "t",
      packs: [{ ...packs[0], sha256: "d".repeat(64), version: "d", stock: "t" }],
    } as RefreshState
    const pinned = act({ kind: "pin", version: "d" }, THREE, [other])
    const ours = pinned?.(THREE)
    expect(ours).toMatchObject({ stock: "s", in_use: "d".repeat(64), pinned: "d" })
    const theirs = pinned?.(other)
    expect(theirs).toEqual({ ...other, in_use: "d".repeat(64), pinned: "d" })
    const unpinned = act(UNPIN, ours ?? THREE, [theirs ?? other])
    expect(unpinned?.(ours ?? THREE)).toMatchObject({ in_use: SHA256.c, pinned: null })
    expect(unpinned?.(theirs ?? other)).toMatchObject({ in_use: "d".repeat(64), pinned: null })
  })

  test("outlives a change of the version of the program, and an unpinned pack of another version does not", () => {
    expect(stateInUse({ ...THREE, pinned: "c" }, "t").in_use).toBe(SHA256.c)
    expect(stateInUse(THREE, "t").in_use).toBeNull()
    expect(own(UNPIN, { ...THREE, stock: "t", pinned: "c" })).toMatchObject({ in_use: null, pinned: null })
  })
})

test("what is in force is told with the versions that there are", () => {
  expect(inForce({ ...THREE, pinned: "c", released: SHA256.c }, [], "v0", null)).toEqual({
    ...{ inUse: "c", pinned: "c", newest: "c", isReleased: true, waiting: null, builtIn: "v0" },
    packs,
  })
  expect(inForce(INITIAL_REFRESH_STATE, [], "v0", null)).toMatchObject({ inUse: BUILT_IN, newest: null, packs: [] })
})

describe("a node that waits before it uses new lists", () => {
  const choose = (state: RefreshState, delayHours: number, hour: number, currentInUse: string | null = SHA256.b) =>
    chooseLists(state, { delayMs: delayHours * HOUR_MS, nowMs: hour * HOUR_MS, currentInUse })

  test("uses them when so much time has passed since they were built, and the ones before until then", () => {
    expect(choose(THREE, 4, 13)).toEqual({ inUse: SHA256.b, nextAtMs: 14 * HOUR_MS })
    expect(choose(THREE, 4, 14)).toEqual({ inUse: SHA256.c, nextAtMs: null })
    expect(choose(THREE, 0, 10)).toEqual({ inUse: SHA256.c, nextAtMs: null })
  })

  test("waits for nothing without a delay, also if the clock was ahead when they were built", () => {
    expect(choose(THREE, 0, 1)).toEqual({ inUse: SHA256.c, nextAtMs: null })
  })

  test("does not wait for the time that the clock was ahead once the same lists are built again", () => {
    const again = withActivePack(THREE, { sha256: SHA256.c, version: "c" }, HOUR_MS)
    expect(choose(again, 4, 4)).toEqual({ inUse: SHA256.b, nextAtMs: 5 * HOUR_MS })
    expect(withActivePack(THREE, { sha256: SHA256.c, version: "c" }, 90 * HOUR_MS).packs).toEqual(packs)
  })

  test("uses them at once when they are released or pinned, and what is pinned instead", () => {
    const released = own({ kind: "release" }, THREE)
    expect(choose(released ?? THREE, 4, 10).inUse).toBe(SHA256.c)
    expect(choose({ ...THREE, pinned: "c" }, 4, 10).inUse).toBe(SHA256.c)
    expect(choose({ ...THREE, in_use: SHA256.a, pinned: "a" }, 4, 20).inUse).toBe(SHA256.a)
  })

  test("keeps what it has while all kept lists are too new, and a new node takes the oldest of them", () => {
    expect(choose(THREE, 12, 11, "e".repeat(64))).toEqual({ inUse: "e".repeat(64), nextAtMs: 20 * HOUR_MS })
    expect(choose(THREE, 12, 11, null).inUse).toBe(SHA256.a)
  })

  test("tells until when it waits and what it uses meanwhile, and nothing once it uses the newest or what is pinned", () => {
    const waits = (state: RefreshState, delayHours: number, hour: number, currentInUse: string | null = SHA256.b) =>
      waitingLists(state, { delayMs: delayHours * HOUR_MS, nowMs: hour * HOUR_MS, currentInUse })
    const waiting = { version: "c", untilMs: 14 * HOUR_MS, inUse: "b" }
    expect(waits(THREE, 4, 13)).toEqual(waiting)
    expect(waits({ ...THREE, in_use: SHA256.b }, 4, 13)).toEqual(waiting)
    expect(waits({ ...THREE, packs: packs.slice(0, 1) }, 4, 13, null)).toEqual({ ...waiting, inUse: BUILT_IN })
    expect([
      waits(THREE, 4, 14),
      waits(THREE, 0, 1),
      waits({ ...THREE, released: SHA256.c }, 4, 13),
      waits({ ...THREE, pinned: "b", in_use: SHA256.b }, 4, 13),
      waits({ ...THREE, packs: packs.slice(0, 1) }, 4, 13, SHA256.c),
      waits(INITIAL_REFRESH_STATE, 4, 13),
    ]).toEqual([null, null, null, null, null, null])
  })

  test("there is nothing to release before a refresh", () => {
    expect(act({ kind: "release" }, INITIAL_REFRESH_STATE)).toBeNull()
  })
})
