import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { diagnoseBackups } from "../../src/doctor/backups.ts"
import { diagnoseLitestream } from "../../src/doctor/litestream.ts"
import { tempPath } from "../customers/temp-store.ts"

const HOUR_MS = 3_600_000
const NOW_MS = 1000 * HOUR_MS

const made = (mode = 0o700): string => {
  const directory = tempPath("backups")
  mkdirSync(directory)
  chmodSync(directory, mode)
  return directory
}

const look = (directory: string | null, newestAtMs: number | null = NOW_MS - HOUR_MS, database = tempPath("none")) =>
  diagnoseBackups(
    { directory, everyHours: 24, newestAtMs, nowMs: NOW_MS, litestream: diagnoseLitestream(database) },
    "token",
  )

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

/** A database whose log was written at noon, and the copies that Litestream has of it. */
function replicated(copiedAtS: readonly number[]): string {
  const path = tempPath("mailkind.sqlite")
  const folder = join(dirname(path), ".mailkind.sqlite-litestream/generations/0123456789abcdef/wal")
  mkdirSync(folder, { recursive: true })
  const write = (file: string, atS: number): void => {
    writeFileSync(file, "")
    utimesSync(file, atS, atS)
  }
  write(`${path}-wal`, NOON_S)
  for (const [index, atS] of copiedAtS.entries()) write(join(folder, `0000000${index}.wal`), atS)
  return path
}
const NOON_S = 12 * 3600

test("a Litestream that has left changes for more than five minutes, or has files that wait for its replica, is a warning", () => {
  const seen = (copiedAtS: readonly number[]) => {
    const { verdict, remedy } = look(null, null, replicated(copiedAtS))
    return [verdict, remedy]
  }
  expect(seen([NOON_S - 900, NOON_S - 300])).toEqual(["ok", null])
  expect(seen([NOON_S - 900, NOON_S - 301])).toEqual([
    "warning",
    expect.stringMatching(/^Start or restart it\. .*-litestream\.$/),
  ])
  const waiting = Array.from({ length: 5 }, () => NOON_S)
  expect(seen(waiting)).toEqual(["ok", null])
  expect(seen([...waiting, NOON_S])).toEqual(["warning", expect.stringContaining("restart Litestream")])
})

test("a Litestream is told beside the newest backup, and hides no fault of the schedule", () => {
  const path = replicated([0])
  expect(look(made(), undefined, path)).toMatchObject({
    verdict: "warning",
    seen: expect.stringMatching(/ 1 hours old\. Litestream does not copy/),
  })
  expect(look(tempPath("nowhere"), undefined, path).verdict).toBe("failed")
})
