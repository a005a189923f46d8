import { copyFile, mkdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { BunPlugin } from "bun"
import { writeApiTypes } from "../../src/client/packing/api-types-text.ts"
import { NODE_BUN } from "../../src/in-process/packing/bun.ts"
import { LISTS_FILE, PACKAGE, packageManifest } from "../../src/in-process/packing/package-files.ts"
import { packageId, type ShippedPackage } from "../../src/licences/inventory.ts"
import { BUNDLED_FILES } from "../../src/system/files.ts"
import { createSystem } from "../../src/system/system.ts"
import { scanInventory } from "../licences/inventory-scan.ts"
import { packFolder, ROOT, runCommand } from "./package-folder.ts"

/*
 * Makes the npm package `mailkind`, which checks inside another program on Node.js and Bun: `bun run build:package [FOLDER]`, `dist` if
 * none is named. The lists must be built. The same sources always give the same bytes.
 */
const SOURCES = join(ROOT, "src/in-process")
const PACKING = join(SOURCES, "packing")

/** Names that every module of `src` has from here, in place of the globals. */
const REPLACED = [
  `import { Bun } from ${JSON.stringify(join(PACKING, "bun.ts"))}`,
  `import { Array, Map, Promise, RegExp, URL } from ${JSON.stringify(join(PACKING, "language.ts"))}`,
].join(";")

const replaceForNode: BunPlugin = {
  name: "replace-for-node",
  setup: build => {
    build.onResolve({ filter: /^node:url$/ }, ({ importer }) =>
      importer.startsWith(PACKING) ? undefined : { path: join(PACKING, "url.ts") },
    )
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const isOwn = path.startsWith(join(ROOT, "src")) && !path.startsWith(PACKING)
      return { contents: isOwn ? `${REPLACED};${text}` : text, loader: "ts" }
    })
  },
}

/** Compiles the program into one file. Returns the names of the packages whose code it has. */
async function bundleProgram(folder: string): Promise<ReadonlySet<string>> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(SOURCES, "open-mailkind.ts")],
    target: "node",
    outdir: folder,
    naming: `${PACKAGE}.js`,
    metafile: true,
    plugins: [replaceForNode],
    define: { MAILKIND_COMMIT: '""', MAILKIND_LISTS: JSON.stringify(`./${LISTS_FILE}`) },
  })
  const faults = bunFaults((await outputs[0]?.text()) ?? "")
  if (faults.length > 0) throw new Error(`Node.js has none of these: ${faults.join(", ")}`)
  const paths = Object.keys(metafile?.inputs ?? {})
  return new Set(paths.flatMap(path => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
}

/** What a compiled program uses of Bun and is not in the package. */
function bunFaults(program: string): readonly string[] {
  const modules = [...program.matchAll(/"(bun(?::[\w-]+)?)"/g)].flatMap(([, name = ""]) => (name === "bun" ? [] : name))
  const members = [...program.matchAll(/\bruntimeBun\d*\.(\w+)/g)].flatMap(([, name = ""]) =>
    Object.hasOwn(NODE_BUN, name) ? [] : `Bun.${name}`,
  )
  return [...new Set([...modules, ...members])]
}

async function writeTypes(folder: string): Promise<void> {
  await writeApiTypes()
  const types = join(folder, "types")
  const declaration = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--ignoreConfig"]
  const modules = ["--target", "esnext", "--module", "preserve", "--allowImportingTsExtensions", "--types", ""]
  const from = join(ROOT, "src/client/api-types.ts")
  runCommand([join(ROOT, "node_modules/.bin/tsc"), ...declaration, ...modules, "--outDir", types, from], ROOT)
  const text = await Bun.file(join(SOURCES, "public-types.d.ts")).text()
  await Bun.write(join(types, `${PACKAGE}.d.ts`), text.replaceAll('"../client/api-types.ts"', '"./api-types.js"'))
}

/** The licences and notices of the packages whose code or names are in the package. */
function licenceTexts(bundled: ReadonlySet<string>): string {
  const { checkout } = createSystem()
  const scan = checkout === null ? null : scanInventory(checkout)
  if (scan?.kind !== "inventory")
    throw new Error("the licences of this checkout are not in order: `bun run build:licences` says why")
  const { packages, allTexts } = scan.inventory
  const isContained = ({ name, use }: ShippedPackage): boolean => use === "lists" || bundled.has(name)
  return packages
    .filter(isContained)
    .map(each => [`${packageId(each)} (${each.licence})`, ...each.texts.map(at => allTexts[at] ?? "")].join("\n\n"))
    .join("\n\n----\n\n")
}

/** Makes the package, and gives the path of the packed file. */
export async function buildInProcess(outside: string): Promise<string> {
  const folder = join(outside, PACKAGE)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const bundled = await bundleProgram(folder)
  await writeTypes(folder)
  await copyFile(join(ROOT, BUNDLED_FILES["lists.pack"]), join(folder, LISTS_FILE))
  await copyFile(join(ROOT, "data/NOTICE.md"), join(folder, "NOTICE.md"))
  await copyFile(join(PACKING, "package-readme.md"), join(folder, "README.md"))
  await Bun.write(join(folder, "LICENCES.txt"), `${licenceTexts(bundled)}\n`)
  return packFolder(folder, packageManifest(), outside)
}

if (import.meta.main) process.stdout.write(`${await buildInProcess(resolve(process.argv[2] ?? "dist"))}\n`)
