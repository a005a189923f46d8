import { expect, test } from "bun:test"
import { join } from "node:path"
import { BUDGETS } from "../../bench/budgets.ts"
import type { PackManifest } from "../../src/check/lists/manifest.ts"
import { SET_NAMES, SETS } from "../../src/check/lists/sets.ts"
import { SETTINGS } from "../../src/config/settings.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { OWNER_TIER, TIER_MAX, TIERS } from "../../src/contract/tiers.ts"
import { ROOT } from "./source.ts"

const README = join(ROOT, "README.md")
const manifest: PackManifest = await Bun.file(join(ROOT, "data/manifest.json")).json() // written by our build
const scripts: Readonly<Record<string, string>> = (await Bun.file(join(ROOT, "package.json")).json()).scripts // ours

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`).join("\n")

/** What stands between two marks of the README, made from the tables that the code reads. */
const BLOCKS: Readonly<Record<string, string>> = {
  settings: table(
    ["name", "default", "meaning"],
    Object.entries(SETTINGS).map(([name, { defaultText, description, isEffective }]) => [
      `\`${name}\``,
      defaultText,
      isEffective ? description : `${description} Accepted; not acted on yet.`,
    ]),
  ),
  lists: table(
    ["set", "entries", "holds"],
    SET_NAMES.map(set => [set, manifest.entries[set].toLocaleString("en"), SETS[set].description]),
  ),
}

test("what the README tells of settings and lists is what the tables say", async () => {
  const text = await Bun.file(README).text()
  let made = text
  for (const [name, block] of Object.entries(BLOCKS)) {
    made = made.replace(
      new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- /${name} -->`),
      () => `<!-- ${name} -->\n${block}\n<!-- /${name} -->`,
    )
  }
  if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(README, made)
  expect(made).toBe(await Bun.file(README).text())
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

test("the Bun that the README and the tools name is the one that is pinned", async () => {
  const { packageManager, engines } = await Bun.file(join(ROOT, "package.json")).json()
  const named = new Set(
    [...(await Bun.file(README).text()).matchAll(/bun@([\d.]+)|Bun ([\d]+\.[\d.]*\d)/g)].map(([, a, b]) => a ?? b),
  )
  expect([...named]).toEqual([Bun.version])
  expect({ packageManager, engines }).toEqual({ packageManager: `bun@${Bun.version}`, engines: { bun: Bun.version } })
})

test("the README tells of every budget", async () => {
  const text = await Bun.file(README).text()
  for (const name of Object.keys(BUDGETS)) expect(text).toContain(`bench ${name.split("_")[0]}`)
})

test("tiers that other tables name exist", () => {
  expect(TIERS[OWNER_TIER].requestsPerSecond).toBeNull()
  expect(SETTINGS.MAILKIND_DEFAULT_TIER.parse(String(TIER_MAX)).ok).toBe(true)
  expect(SETTINGS.MAILKIND_DEFAULT_TIER.parse(String(TIER_MAX + 1)).ok).toBe(false)
})
