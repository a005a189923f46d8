import { expect, test } from "bun:test"
import {
  decodeRefreshState,
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  type RefreshState,
  rollBack,
  STATE_FILE,
} from "../../../src/check/refresh/refresh-state.ts"
import { memoryFolder } from "../../support/memory-folder.ts"

const packs = ["c", "b", "a"].map((version, at) => ({ sha256: version.repeat(64), version, made_at_ms: 9 - at }))
const THREE: RefreshState = {
  ...INITIAL_REFRESH_STATE,
  stock: "s",
  refreshed_at_ms: 9,
  packs,
  in_use: packs[0]?.sha256 ?? null,
}

function folderWith(state: RefreshState) {
  const folder = memoryFolder()
  folder.put(STATE_FILE, formatRefreshState(state))
  return { folder, state: () => decodeRefreshState(folder.held.get(STATE_FILE) ?? null) }
}

test("roll-backs go back pack by pack to the bundled one, and then no further", async () => {
  const { folder, state } = folderWith(THREE)
  expect(await rollBack(folder, "s")).toEqual({ version: "b" })
  expect(state()).toEqual({ ...THREE, in_use: "b".repeat(64), is_paused: true })
  expect(await rollBack(folder, "s")).toEqual({ version: "a" })
  expect(await rollBack(folder, "s")).toBe("built_in")
  expect(state()).toEqual({ ...THREE, in_use: null, is_paused: true })
  expect(await rollBack(folder, "s")).toBeNull()
})

test("without a refresh there is nothing to roll back to, and nothing is written", async () => {
  const folder = memoryFolder()
  expect(await rollBack(folder, "s")).toBeNull()
  expect(folder.held.size).toBe(0)
})

test("packs of another source bundle are not in use and cannot be rolled back", async () => {
  const { folder, state } = folderWith(THREE)
  expect(await rollBack(folder, "t")).toBeNull()
  expect(state()).toEqual(THREE)
})

test("a pack that is not kept cannot be rolled back", async () => {
  const { folder } = folderWith({ ...THREE, in_use: "d".repeat(64) })
  expect(await rollBack(folder, "s")).toBeNull()
})
