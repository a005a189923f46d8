import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { scanInventory, THIRD_PARTY_FILES } from "../../scripts/licences/inventory-scan.ts"
import { parseLockFile, resolvePackage } from "../../scripts/licences/lock-file.ts"
import { LICENCES } from "../../src/licences/inventory.ts"
import { createSystem } from "../../src/system/system.ts"
import { ROOT } from "./source-files.ts"

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8")
const own: Readonly<Record<string, Record<string, string>>> = JSON.parse(textOf("package.json")) // ours
const { checkout } = createSystem()
const taken = checkout === null ? null : scanInventory(checkout)

test("every dependency is pinned to one version", () => {
  const pinned = { ...own["dependencies"], ...own["devDependencies"] }
  expect(Object.entries(pinned).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([])
  for (const kind of ["optionalDependencies", "peerDependencies", "overrides", "resolutions", "patchedDependencies"])
    expect(own[kind]).toBeUndefined()
})

test("the lock file names packages of the registry alone, each by its digest, and the pinned ones among them", () => {
  const read = parseLockFile(textOf("bun.lock"))
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  for (const kind of ["dependencies", "devDependencies"] as const) {
    expect(Object.keys(own[kind] ?? {}).sort()).toEqual([...read.lock[kind]].sort())
    for (const [name, version] of Object.entries(own[kind] ?? {}))
      expect({ name, version }).toEqual({ name, version: resolvePackage(read.lock, [], name)?.version ?? "not locked" })
  }
})

test("nothing runs when packages are installed, and what is installed is what is locked", () => {
  const read = parseLockFile(textOf("bun.lock"))
  expect(read.kind === "lock" ? read.lock.trustedDependencies : read.faults).toEqual([])
  expect(own["trustedDependencies"]).toEqual(Object.assign([]))
  expect(textOf("bunfig.toml")).toMatch(/^\[install\]\nexact = true\nignoreScripts = true$/m)
  const scripts = own["scripts"] ?? {}
  expect(Object.keys(scripts).filter(name => /^(?:pre|post)?(?:install|prepare|pack)/.test(name))).toEqual([])
  for (const [name, script] of Object.entries(scripts))
    expect({ name, loose: /bun install(?! --frozen-lockfile)/.test(script) }).toEqual({ name, loose: false })
})

test("every package and source of the program has a licence that the policy allows, and its text", () => {
  expect(taken?.kind === "refused" ? taken.faults : taken?.kind).toBe("inventory")
})

test("every licence of the policy is that of something in the program", () => {
  if (taken?.kind !== "inventory") throw new Error("there is no inventory")
  const { packages, sources, runtime } = taken.inventory
  const used = new Set([
    ...packages.flatMap(({ chosen }) => chosen),
    ...sources.map(({ licence }) => licence),
    ...runtime.licence.split(" AND "),
  ])
  expect(Object.keys(LICENCES).filter(id => !used.has(id))).toEqual([])
})

test("every notice is that of a file, and every file of others' work has one", () => {
  const headings = [...textOf("data/NOTICE.md").matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings.sort()).toEqual(Object.keys(THIRD_PARTY_FILES).sort())
})

test("the runtime is the one that is pinned", () => {
  expect(taken?.kind === "inventory" ? taken.inventory.runtime.version : null).toBe(Bun.version)
})
