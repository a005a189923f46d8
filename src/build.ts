import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { loadInventory } from "./assemble/licences.ts"
import { createSbom, sbomText } from "./licences/sbom.ts"
import { BUNDLED_FILES } from "./system/files.ts"
import { createSystem } from "./system/system.ts"

/*
 * Builds the executable from a checkout whose lists are built: `bun run build`. Each of `BUNDLED_FILES` is embedded under its name
 * there, so files with another name are copied first. The inventory with all licence texts is embedded too, and the SBOM is
 * written beside the executable. A licence that the policy does not allow stops the build.
 */
const ROOT = join(import.meta.dir, "..")
const BUILD_FOLDER = "data/build"

const inventory = await loadInventory(createSystem())
await mkdir(join(ROOT, BUILD_FOLDER), { recursive: true })
await Bun.write(join(ROOT, BUNDLED_FILES["inventory.json.asset"]), JSON.stringify(inventory))
await Bun.write(join(ROOT, "dist/mailkind.cdx.json"), sbomText(createSbom(inventory)))
const embedded: string[] = []
for (const [name, path] of Object.entries(BUNDLED_FILES)) {
  const copy = join(BUILD_FOLDER, name)
  if (path !== copy) await Bun.write(join(ROOT, copy), Bun.file(join(ROOT, path)))
  embedded.push(copy)
}

/** The directory that the executable is run in may belong to somebody else: no file there may set or run anything. */
const OBEYS_NO_FILES = ["dotenv", "bunfig", "tsconfig", "package-json"].map(file => `--no-compile-autoload-${file}`)
const COMPILE = [
  "--compile",
  "--minify",
  "--bytecode",
  ...OBEYS_NO_FILES,
  "--asset-naming=[name].[ext]",
  "--outfile",
  "dist/mailkind",
]
const { exitCode } = Bun.spawnSync([process.execPath, "build", ...COMPILE, "src/main.ts", ...embedded], {
  cwd: ROOT,
  stdio: ["ignore", "inherit", "inherit"],
})
process.exit(exitCode)
