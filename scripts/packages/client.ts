import { copyFile, mkdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { writeApiTypes } from "../../src/client/packing/api-types-text.ts"
import { CLIENT_PACKAGE, clientManifest } from "../../src/client/packing/package-files.ts"
import { pythonClient } from "../../src/http/site/docs/python-client.ts"
import { pythonWheel, WHEEL_NAME } from "../../src/http/site/docs/python-wheel.ts"
import { BUNDLED_FILES } from "../../src/system/files.ts"
import { packFolder, ROOT, runCommand } from "./package-folder.ts"

/*
 * Makes the npm package of the client, which a server sends and the executable carries: `bun scripts/packages/client.ts`. With a folder
 * it writes there what `npm publish` and `twine upload` take too: `bun run build:client [FOLDER]`, `dist` if none is named. The same
 * sources always give the same bytes.
 */
const SERVED = join(ROOT, BUNDLED_FILES["mailkind-client.tgz.asset"])

/** Writes the package that a server sends, and gives its path. */
export async function buildServedClient(outside = join(SERVED, "..")): Promise<string> {
  const folder = join(outside, CLIENT_PACKAGE)
  await writeApiTypes()
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  runCommand([join(ROOT, "node_modules/.bin/tsc"), "-p", "src/client/packing", "--outDir", join(folder, "types")], ROOT)
  for (const name of new Bun.Glob("*.d.ts").scanSync(join(folder, "types"))) {
    const file = Bun.file(join(folder, "types", name))
    await file.write((await file.text()).replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'))
  }
  const bundle = ["build", "--target=browser", "--format=esm", `--outfile=${join(folder, `${CLIENT_PACKAGE}.js`)}`]
  runCommand([process.execPath, ...bundle, join(ROOT, "src/client/mailkind-client.ts")], ROOT)
  await Bun.write(join(folder, "README.md"), Bun.file(join(ROOT, "src/client/packing/package-readme.md")))
  const packed = await packFolder(folder, clientManifest(), outside)
  if (packed !== SERVED) await copyFile(packed, SERVED)
  return packed
}

/** Writes the packages for the registries of npm and of Python. */
async function buildForRegistries(outside: string): Promise<void> {
  const packed = await buildServedClient(outside)
  const wheel = join(outside, WHEEL_NAME)
  await Bun.write(wheel, pythonWheel(pythonClient(null)))
  process.stdout.write(`${packed}\n${wheel}\n`)
}

if (import.meta.main) {
  const outside = process.argv.at(2) === undefined ? null : resolve(process.argv.at(-1) ?? "")
  await (outside === null ? buildServedClient() : buildForRegistries(outside))
}
