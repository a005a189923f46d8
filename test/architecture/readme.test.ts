import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { BUDGETS } from "../../bench/budgets.ts"
import { RESULTS_FILE } from "../../bench/report/results.ts"
import { SETTINGS } from "../../src/config/settings.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { OWNER_TIER, TIER_MAX, TIERS } from "../../src/contract/tiers.ts"
import { ROOT, sourceFiles } from "./source-files.ts"

const README = join(ROOT, "README.md")
const scripts: Readonly<Record<string, string>> = (await Bun.file(join(ROOT, "package.json")).json()).scripts // ours

test("the README is a page for a newcomer: under 200 lines, and no list of settings or figures that stands elsewhere", async () => {
  const lines = (await Bun.file(README).text()).trimEnd().split("\n")
  expect(lines.length).toBeLessThan(200)
})

test("every command, picture and page that the README names is there", async () => {
  const text = await Bun.file(README).text()
  for (const [, script = ""] of text.matchAll(/bun(?:@[\d.]+)? run ([a-z:]+)/g))
    expect(Object.keys(scripts)).toContain(script)
  for (const [, picture = ""] of text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g))
    expect(await Bun.file(join(ROOT, picture)).exists()).toBe(true)
  const pages = new Set<string>(Object.values(ROUTES).map(({ path }) => path))
  for (const [, page = ""] of text.matchAll(/`(\/(?:docs|v1)[a-z/-]*)`/g)) expect(pages).toContain(page)
})

test("every file that the README of a folder names is there", () => {
  const stray = [...new Bun.Glob("src/**/README.md").scanSync(ROOT)].flatMap(readme => {
    const folder = dirname(readme)
    const names = readFileSync(join(ROOT, readme), "utf8").matchAll(/`([a-z0-9/-]+\.tsx?)`/g)
    return [...names].map(([, name = ""]) => name).filter(name => !isBelow(folder, name) && !isBelow("src", name))
  })
  expect(stray).toEqual([])
})

const isBelow = (folder: string, name: string): boolean =>
  sourceFiles(folder).some(({ path }) => path === name || path.endsWith(`/${name}`))

test("the Bun that the README and the tools name is the one that is pinned", async () => {
  const { packageManager, engines } = await Bun.file(join(ROOT, "package.json")).json()
  const named = new Set(
    [...(await Bun.file(README).text()).matchAll(/bun@([\d.]+)|Bun ([\d]+\.[\d.]*\d)/g)].map(([, a, b]) => a ?? b),
  )
  expect([...named]).toEqual([Bun.version])
  expect({ packageManager, engines }).toEqual({ packageManager: `bun@${Bun.version}`, engines: { bun: Bun.version } })
})

test("every budget has its figure in the results file", async () => {
  const results = await Bun.file(join(ROOT, RESULTS_FILE)).text()
  const benches = [...results.matchAll(/^## (.*)$/gm)].map(([, name = ""]) => `${name.replaceAll("-", "_")}_`)
  const names = Object.keys(BUDGETS).map(name => `${name}_`)
  expect(names.filter(name => !benches.some(bench => name.startsWith(bench)))).toEqual([])
})

test("tiers that other tables name exist", () => {
  expect(TIERS[OWNER_TIER].requestsPerSecond).toBeNull()
  expect(SETTINGS.MAILKIND_DEFAULT_TIER.parse(String(TIER_MAX)).ok).toBe(true)
  expect(SETTINGS.MAILKIND_DEFAULT_TIER.parse(String(TIER_MAX + 1)).ok).toBe(false)
})
