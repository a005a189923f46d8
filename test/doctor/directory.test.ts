import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { diagnoseDirectory, diagnoseDisk } from "../../src/doctor/directory.ts"
import { tempPath } from "../customers/temp-store.ts"

const directory = (mode = 0o700): string => {
  const path = tempPath("data")
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

test("a directory for its owner alone is well, and is left as it was", () => {
  const path = directory()
  expect(diagnoseDirectory(path, "1")).toMatchObject({ verdict: "ok", remedy: null })
  expect(readdirSync(path)).toEqual([])
})

test("a directory that others may look into is told with its mode", () => {
  const path = directory(0o750)
  expect(diagnoseDirectory(path, "1")).toEqual({
    verdict: "warning",
    seen: `${path} has mode 0750: others may look into it.`,
    remedy: `Run \`chmod 700 ${path}\`.`,
  })
})

test("one that is missing is a warning where it can be made, and a failure where it cannot", () => {
  const path = tempPath("data")
  expect(diagnoseDirectory(join(path, "deep"), "1")).toMatchObject({ verdict: "warning" })
  expect(readdirSync(dirname(path))).toEqual([])
  const file = tempPath("file")
  writeFileSync(file, "")
  expect(diagnoseDirectory(file, "1")).toMatchObject({ verdict: "failed", seen: `${file} is no directory.` })
  expect(diagnoseDirectory(join(file, "data"), "1")).toMatchObject({
    verdict: "failed",
    seen: expect.stringContaining("ENOTDIR"),
  })
})

test("one in which no file can be written has failed, for root too", () => {
  expect(diagnoseDirectory("/proc", "1")).toMatchObject({
    verdict: "failed",
    seen: expect.stringContaining("cannot be written"),
  })
})

// Root may look into everything.
test.skipIf(process.getuid?.() === 0)("one that is somebody else's has failed", () => {
  const path = directory(0o500)
  expect(diagnoseDirectory(path, "1")).toMatchObject({ verdict: "failed", seen: expect.stringContaining("EACCES") })
})

test("room is told in whole mebibytes, and a file system without any has failed", () => {
  expect(diagnoseDisk(join(directory(), "not", "there")).seen).toMatch(/^[\d,]+ MiB are free\./)
  expect(diagnoseDisk("/proc")).toMatchObject({ verdict: "failed", seen: expect.stringContaining("0 MiB are free.") })
})
