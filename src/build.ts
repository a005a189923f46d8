import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { loadInventory } from "./assemble/licences.ts"
import { createSbom, sbomText } from "./licences/sbom.ts"
import { BUNDLED_FILES } from "./system/files.ts"
import { createSystem } from "./system/system.ts"

/*
 * Makes the executable from a checkout whose lists are built: `bun run build`. Each of `OWN_FILES` is carried under its own
 * name, for which it is copied where its name differs. What it is made of is taken stock of first: the executable carries that
 * with all licence texts, and its bill of materials lies beside it. A licence that is not allowed ends the build.
 */
const ROOT = join(import.meta.dir, "..")
const BUILT = "data/build"

const inventory = await loadInventory(createSystem())
await mkdir(join(ROOT, BUILT), { recursive: true })
await Bun.write(join(ROOT, BUNDLED_FILES["inventory.json.asset"]), JSON.stringify(inventory))
await Bun.write(join(ROOT, "dist/mailkind.cdx.json"), sbomText(createSbom(inventory)))
const carried: string[] = []
for (const [name, path] of Object.entries(BUNDLED_FILES)) {
  const copy = join(BUILT, name)
  if (path !== copy) await Bun.write(join(ROOT, copy), Bun.file(join(ROOT, path)))
  carried.push(copy)
}

const COMPILE = ["--compile", "--minify", "--bytecode", "--asset-naming=[name].[ext]", "--outfile", "dist/mailkind"]
const { exitCode } = Bun.spawnSync([process.execPath, "build", ...COMPILE, "src/main.ts", ...carried], {
  cwd: ROOT,
  stdio: ["ignore", "inherit", "inherit"],
})
process.exit(exitCode)
