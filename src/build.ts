import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { loadInventory } from "./assemble/licences.ts"
import { createSbom, sbomText } from "./licences/sbom.ts"
import { BUNDLED_FILES, COMPRESSED_FILES } from "./system/files.ts"
import { createSystem } from "./system/system.ts"

/*
 * Builds the executable from a checkout whose lists are built: `bun run build`. Each of `BUNDLED_FILES` is embedded under its name
 * there, so they are copied first, and compressed if they are among `COMPRESSED_FILES`. The inventory with all licence texts is embedded too, and the SBOM is
 * written beside the executable. A licence that the policy does not allow stops the build.
 */
const ROOT = join(import.meta.dir, "..")
const EMBEDDED_FOLDER = "data/build/embedded"

const inventory = await loadInventory(createSystem())
await mkdir(join(ROOT, EMBEDDED_FOLDER), { recursive: true })
await Bun.write(join(ROOT, BUNDLED_FILES["inventory.json.asset"]), JSON.stringify(inventory))
await Bun.write(join(ROOT, "dist/mailkind.cdx.json"), sbomText(createSbom(inventory)))
const embedded: string[] = []
for (const [name, path] of Object.entries(BUNDLED_FILES)) {
  const copy = join(EMBEDDED_FOLDER, name)
  const bytes = await Bun.file(join(ROOT, path)).bytes()
  await Bun.write(join(ROOT, copy), COMPRESSED_FILES.has(name) ? Bun.gzipSync(bytes, { level: 9 }) : bytes)
  embedded.push(copy)
}

/** The directory that the executable is run in may belong to somebody else: no file there may set or run anything. */
const OBEYS_NO_FILES = ["dotenv", "bunfig", "tsconfig", "package-json"].map(file => `--no-compile-autoload-${file}`)
const COMPILE = [
  "--compile",
  "--splitting",
  "--format=esm",
  "--minify",
  "--bytecode",
  ...OBEYS_NO_FILES,
  "--asset-naming=[name].[ext]",
  "--outfile",
  "dist/mailkind",
]
const { exitCode } = Bun.spawnSync([process.execPath, "build", ...COMPILE, "src/assemble/executable.ts", ...embedded], {
  cwd: ROOT,
  stdio: ["ignore", "inherit", "inherit"],
})
process.exit(exitCode)
