import { mkdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { writeApiTypes } from "./api-types-text.ts"
import { CLIENT_PACKAGE, clientManifest } from "./package-files.ts"

/*
 * Makes the npm package of the client: `bun run build:client [FOLDER]`. The folder, `dist` if none is named, gets the files of the
 * package and the packed file that `npm install` and `npm publish` take.
 */
const ROOT = join(import.meta.dir, "../../..")
const outside = resolve(process.argv[2] ?? join(ROOT, "dist"))
const folder = join(outside, CLIENT_PACKAGE)

await writeApiTypes()
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })

/** Ends the build if the command fails. Gives what it printed. */
function run(command: readonly string[], directory: string): string {
  const { exitCode, stdout } = Bun.spawnSync([...command], { cwd: directory, stderr: "inherit" })
  if (exitCode === 0) return stdout.toString()
  process.stderr.write(stdout)
  process.exit(exitCode)
}

run([join(ROOT, "node_modules/.bin/tsc"), "-p", import.meta.dir, "--outDir", join(folder, "types")], ROOT)
for (const name of new Bun.Glob("*.d.ts").scanSync(join(folder, "types"))) {
  const file = Bun.file(join(folder, "types", name))
  await file.write((await file.text()).replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'))
}
const bundle = ["build", "--target=browser", "--format=esm", `--outfile=${join(folder, `${CLIENT_PACKAGE}.js`)}`]
run([process.execPath, ...bundle, join(ROOT, "src/client/mailkind-client.ts")], ROOT)
await Bun.write(join(folder, "package.json"), `${JSON.stringify(clientManifest(), null, 2)}\n`)
await Bun.write(join(folder, "README.md"), Bun.file(join(import.meta.dir, "package-readme.md")))
await Bun.write(join(folder, "LICENSE"), Bun.file(join(ROOT, "LICENSE")))
run([process.execPath, "pm", "pack", "--quiet", "--destination", outside], folder)
process.stdout.write(`${join(outside, `${CLIENT_PACKAGE}-${clientManifest().version}.tgz`)}\n`)
