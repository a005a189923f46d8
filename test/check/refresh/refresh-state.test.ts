import { expect, test } from "bun:test"
import {
  BUILT_IN,
  decodeRefreshState,
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  manifestFileName,
  packFileName,
  type RefreshState,
  SOURCE_OUTCOMES,
} from "../../../src/check/refresh/refresh-state.ts"

const SHA256 = "0123456789abcdef".repeat(4)

const STATE: RefreshState = {
  format: 1,
  stock: "s",
  refreshed_at_ms: 5,
  sources: Object.fromEntries(
    SOURCE_OUTCOMES.map((outcome, at) => [
      outcome,
      { url: "https://a.example/", outcome, says: "", checked_at_ms: 5, changed_at_ms: at === 0 ? null : 4 },
    ]),
  ),
  packs: [{ sha256: SHA256, version: "v", made_at_ms: 5 }],
  in_use: SHA256,
  pinned: "v",
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test("a state is parsed as it was written", () => {
  for (const state of [STATE, INITIAL_REFRESH_STATE])
    expect(decodeRefreshState(bytesOf(formatRefreshState(state)))).toEqual(state)
})

test("a missing and a truncated file are the initial state", () => {
  expect(decodeRefreshState(null)).toBe(INITIAL_REFRESH_STATE)
  const text = formatRefreshState(STATE)
  // Only without its last line feed it is still complete.
  for (let end = 0; end < text.length - 1; end++)
    expect(decodeRefreshState(bytesOf(text.slice(0, end)))).toBe(INITIAL_REFRESH_STATE)
  expect(decodeRefreshState(new Uint8Array([0xff, 0x00]))).toBe(INITIAL_REFRESH_STATE)
})

test.each([
  ["another format", { format: 2 }],
  ["a time that is none", { refreshed_at_ms: -1 }],
  ["a time that is no number", { refreshed_at_ms: "5" }],
  ["an outcome that nobody knows", { sources: { a: { ...STATE.sources["taken"], outcome: "lost" } } }],
  ["packs that are none", { packs: [{ sha256: SHA256 }] }],
  ["a pin that is none", { pinned: 1, is_paused: true }],
])("a state with %s is the initial state", (_, change) => {
  expect(decodeRefreshState(bytesOf(JSON.stringify({ ...STATE, is_paused: true, ...change })))).toBe(
    INITIAL_REFRESH_STATE,
  )
})

test("a version before has rolled back: what it went back to is pinned", () => {
  const former = (change: object) => {
    const { pinned: _, ...state } = { ...STATE, is_paused: true, ...change }
    return decodeRefreshState(bytesOf(JSON.stringify(state))).pinned
  }
  expect([former({}), former({ in_use: null }), former({ is_paused: false })]).toEqual(["v", BUILT_IN, null])
})

test("a version before reads whether a version is pinned as a pause", () => {
  expect([STATE, INITIAL_REFRESH_STATE].map(state => JSON.parse(formatRefreshState(state)).is_paused)).toEqual([
    true,
    false,
  ])
})

test("a pack and its manifest have matching file names", () => {
  expect([packFileName(SHA256), manifestFileName(SHA256)]).toEqual(["0123456789abcdef.pack", "0123456789abcdef.json"])
})
