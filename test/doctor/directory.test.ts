import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import {
  accessOfOthers,
  dataDirectoryAccess,
  diagnoseDirectory,
  diagnoseDisk,
  ownerNote,
} from "../../src/doctor/directory.ts"
import { createFolder } from "../../src/system/files.ts"
import { tempPath } from "../customers/temp-store.ts"
import { outcomeOf } from "../support/outcome-of.ts"

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
    seen: `${path} has mode 0750. Others can read it.`,
    remedy: `Run \`chmod 700 ${path}\`.`,
  })
})

test.each(["772", "702", "777", "1777", "2777"])("one of mode %s that others may write has failed", octal => {
  const mode = Number.parseInt(octal, 8)
  const path = directory(mode)
  expect(diagnoseDirectory(path, "1")).toEqual({
    verdict: "failed",
    seen: `${path} has mode 0${(mode & 0o777).toString(8)}. Others can write to it.`,
    remedy: `Run \`chmod 700 ${path}\`, or set MAILKIND_DATA_DIR.`,
  })
})

test("a directory is refused, warned of or fine by its owner and the bits of its mode alone", () => {
  const [own, other] = [1000, 1001]
  for (let rights = 0; rights <= 0o777; rights++) {
    const mode = 0o040000 | rights
    const expected = (rights & 0o002) !== 0 ? "refused" : (rights & 0o077) !== 0 ? "warned" : "none"
    expect([rights, accessOfOthers("/data", { mode, uid: own }, own).kind]).toEqual([rights, expected])
    // Root may do everything anyway.
    expect(accessOfOthers("/data", { mode, uid: 0 }, own).kind).toBe(expected)
    expect(accessOfOthers("/data", { mode, uid: other }, own).kind).toBe("refused")
    expect(accessOfOthers("/data", { mode, uid: other }, 0).kind).toBe(expected === "refused" ? "refused" : "warned")
  }
  expect(accessOfOthers("/data", { mode: 0o040700, uid: other }, own)).toEqual({
    kind: "refused",
    seen: "/data belongs to the user 1001, who can write to it. This process runs as 1000.",
    remedy: "Run it as that user, or as root run `chown -R 1000 /data`, or set MAILKIND_DATA_DIR.",
  })
  expect(accessOfOthers("/data", { mode: 0o040777, uid: other }, own)).toEqual({
    kind: "refused",
    seen: "/data has mode 0777 and belongs to the user 1001; this process runs as 1000. Others can write to it.",
    remedy: "As root, run `chown -R 1000 /data && chmod 700 /data`, or set MAILKIND_DATA_DIR.",
  })
  expect(accessOfOthers("/data", { mode: 0o040700, uid: other }, 0)).toMatchObject({
    remedy: expect.stringContaining("If the server runs as that user, run commands as that user too"),
  })
  expect(accessOfOthers("/data", { mode: 0o040770, uid: own }, own)).toMatchObject({
    seen: "/data has mode 0770. Its group can write to it.",
  })
})

test("nobody may do anything with a directory that is missing, and a link is followed", () => {
  expect(dataDirectoryAccess(tempPath("missing"))).toEqual({ kind: "none" })
  const link = tempPath("link")
  symlinkSync(directory(0o777), link)
  expect(dataDirectoryAccess(link)).toMatchObject({ kind: "refused" })
})

test.each(["data", "data/deep", "link/data"])(
  "a parent that others may write is told, for %s, but not one with the sticky bit",
  name => {
    const parent = directory(0o700)
    symlinkSync(directory(0o700), join(parent, "link"))
    const path = join(parent, name)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    expect(dataDirectoryAccess(path)).toEqual({ kind: "none" })
    for (const place of [parent, name === "data" ? parent : dirname(realpathSync(path))]) {
      chmodSync(place, 0o703)
      const seen = `${place} has mode 0703. Others can replace the directories in it.`
      const remedy = `Run \`chmod o-w ${place}\`, or set MAILKIND_DATA_DIR.`
      expect(dataDirectoryAccess(path)).toEqual({ kind: "warned", seen, remedy })
      expect(dataDirectoryAccess(join(dirname(path), "missing"))).toEqual({ kind: "warned", seen, remedy })
      expect(diagnoseDirectory(path, "1")).toEqual({ verdict: "warning", seen, remedy })
      chmodSync(place, 0o1703)
      expect(dataDirectoryAccess(path)).toEqual({ kind: "none" })
    }
  },
)

test("one that is missing is a warning where it can be made, and a failure where it cannot", () => {
  const path = tempPath("data")
  expect(diagnoseDirectory(join(path, "deep"), "1")).toMatchObject({ verdict: "warning" })
  expect(readdirSync(dirname(path))).toEqual([])
  const file = tempPath("file")
  writeFileSync(file, "")
  expect(diagnoseDirectory(file, "1")).toMatchObject({ verdict: "failed", seen: `${file} is not a directory.` })
  expect(diagnoseDirectory(join(file, "data"), "1")).toMatchObject({
    verdict: "failed",
    seen: expect.stringContaining("ENOTDIR"),
  })
})

test("one that is a link to nothing has failed, and a start says the same", async () => {
  const [link, target] = [tempPath("link"), tempPath("nothing")]
  symlinkSync(target, link)
  expect(diagnoseDirectory(link, "1")).toMatchObject({
    verdict: "failed",
    seen: `${link} is a link to ${target}, which is missing.`,
  })
  expect(await outcomeOf(createFolder(link).writeAtomic("state.json", "{}"))).toThrow(`a link to ${target}`)
  expect(await outcomeOf(openSqlite(join(link, "mailkind.sqlite"), () => 1))).toThrow(`a link to ${target}`)
})

test("one in which no file can be written has failed, for root too", () => {
  expect(diagnoseDirectory("/proc", "1")).toMatchObject({
    verdict: "failed",
    seen: expect.stringContaining("cannot be written"),
  })
})

test("one that cannot be written is told with its owner and its mode, and who this process is", () => {
  expect(ownerNote("/proc/none")).toBe(
    ` /proc belongs to the user 0 and has mode 0555; this process runs as the user ${process.geteuid?.()}.`,
  )
})

// Root may look into everything.
test.skipIf(process.getuid?.() === 0)("one that is somebody else's has failed", () => {
  const path = directory(0o500)
  expect(diagnoseDirectory(path, "1")).toMatchObject({
    ...{ verdict: "failed", seen: expect.stringMatching(/EACCES.* belongs to the user \d+ and has mode 0500/) },
  })
})

test("room is told in whole mebibytes, and a file system without any has failed", () => {
  expect(diagnoseDisk(join(directory(), "not", "there")).seen).toMatch(/^[\d,]+ MiB are free\./)
  expect(diagnoseDisk("/proc")).toMatchObject({ verdict: "failed", seen: expect.stringContaining("0 MiB are free.") })
})
