import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { OWN_FILES } from "./world.ts"

/*
 * Makes the executable from a checkout whose lists are built: `bun run build`. Each of `OWN_FILES` is carried under its own
 * name, for which it is copied where its name differs.
 */
const ROOT = join(import.meta.dir, "..")
const BUILT = "data/build"

await mkdir(join(ROOT, BUILT), { recursive: true })
const carried: string[] = []
for (const [name, path] of Object.entries(OWN_FILES)) {
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
