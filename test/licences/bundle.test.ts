import { expect, test } from "bun:test"
import { join } from "node:path"
import { loadInventory } from "../../src/assemble/licences.ts"
import { createSystem } from "../../src/system/system.ts"
import { ROOT } from "../architecture/source-files.ts"

/** The names of the packages whose code the executable has, as the bundler tells them. */
async function bundled(): Promise<ReadonlySet<string>> {
  const { metafile } = await Bun.build({ entrypoints: [join(ROOT, "src/main.ts")], target: "bun", metafile: true })
  const paths = Object.keys(metafile?.inputs ?? {})
  return new Set(paths.flatMap(path => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
}

test("every package whose code is in the executable is in the inventory as the server's", async () => {
  const { packages } = await loadInventory(createSystem())
  const known = new Set(packages.filter(({ use }) => use === "server").map(({ name }) => name))
  const names = [...(await bundled())]
  expect(names).toContain("elysia")
  expect(names.filter(name => !known.has(name))).toEqual([])
})
