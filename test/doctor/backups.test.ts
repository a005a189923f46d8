import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync } from "node:fs"
import { diagnoseBackups } from "../../src/doctor/backups.ts"
import { tempPath } from "../customers/temp-store.ts"

const HOUR_MS = 3_600_000
const NOW_MS = 1000 * HOUR_MS

const made = (mode = 0o700): string => {
  const directory = tempPath("backups")
  mkdirSync(directory)
  chmodSync(directory, mode)
  return directory
}

const look = (directory: string | null, newestAtMs: number | null = NOW_MS - HOUR_MS) =>
  diagnoseBackups({ directory, everyHours: 24, newestAtMs, nowMs: NOW_MS }, "token")

test("backups are examined where the settings want some", () => {
  expect(look(null).verdict).toBe("skipped")
  const directory = made()
  expect(look(directory)).toMatchObject({ verdict: "ok", seen: `The newest backup in ${directory} is 1 hours old.` })
  expect(readdirSync(directory)).toEqual([])
})

test("a directory that is missing has failed, and one that others can read is a warning", () => {
  expect(look(tempPath("nowhere"))).toMatchObject({ verdict: "failed" })
  expect(look(made(0o755))).toMatchObject({ verdict: "warning", remedy: expect.stringContaining("chmod 700") })
})

test("no backup, and one that is older than two intervals, are warnings", () => {
  expect(look(made(), null).verdict).toBe("warning")
  expect(look(made(), NOW_MS - 48 * HOUR_MS).verdict).toBe("ok")
  expect(look(made(), NOW_MS - 49 * HOUR_MS)).toMatchObject({
    verdict: "warning",
    seen: expect.stringContaining("every 24 hours"),
  })
})
