import { chmod, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { loadSbom } from "./assemble/licences.ts"
import { BUILD_TARGETS, type BuildTargetName, executableName, parseTargets } from "./system/build-targets.ts"
import { checkedOutCommit } from "./system/commit.ts"
import { digestLine } from "./system/digest-line.ts"
import { BUNDLED_FILES, COMPRESSED_FILES } from "./system/files.ts"
import { createSystem } from "./system/system.ts"

/*
 * Builds executables from a checkout whose lists are built: `bun run build` for this machine, as `dist/mailkind`, and `bun run build
 * --target NAME[,NAME]|all` for others, with the version and the target in their names and with their digests in `dist/SHA256SUMS`. Each of
 * `BUNDLED_FILES` is embedded under its name there, so they are copied first, and compressed if they are among `COMPRESSED_FILES`. The
 * inventory with all licence texts is embedded too, and the SBOM is written beside each executable. A licence that the policy does not
 * allow stops the build.
 */
const ROOT = join(import.meta.dir, "..")
const DIST = join(ROOT, "dist")
const EMBEDDED_FOLDER = "data/build/embedded"

/** The directory that the executable is run in may belong to somebody else: no file there may set or run anything. */
const OBEYS_NO_FILES = ["dotenv", "bunfig", "tsconfig", "package-json"].map(file => `--no-compile-autoload-${file}`)
const COMPILE = [
  // Which commit an executable was built from is in its metrics, its health and its version.
  "--define",
  `MAILKIND_COMMIT=${JSON.stringify(checkedOutCommit(ROOT) ?? "")}`,
  "--compile",
  "--splitting",
  "--format=esm",
  "--minify",
  "--bytecode",
  ...OBEYS_NO_FILES,
  "--asset-naming=[name].[ext]",
]

process.exit(await main(process.argv.slice(2)))

async function main(words: readonly string[]): Promise<number> {
  const [flag, given, ...rest] = words
  if (flag === undefined) return await buildForThisMachine()
  if (flag !== "--target" || given === undefined || rest.length > 0)
    return wrongUse("Use --target NAME[,NAME], or --target all.")
  const parsed = parseTargets(given)
  if (parsed.kind === "unknown") return wrongUse(`${parsed.name} is no target.`)
  return await buildFor(parsed.names)
}

function wrongUse(message: string): number {
  console.error(`${message} The targets are ${Object.keys(BUILD_TARGETS).join(", ")}.`)
  return 2
}

async function buildForThisMachine(): Promise<number> {
  const { embedded, bill } = await prepare()
  await Bun.write(join(DIST, "mailkind.cdx.json"), bill)
  return compile([], "dist/mailkind", embedded)
}

async function buildFor(names: readonly BuildTargetName[]): Promise<number> {
  const { embedded, bill } = await prepare()
  const built: string[] = []
  for (const name of names) {
    const file = join(DIST, executableName(manifest.version, name))
    await rm(file, { force: true })
    const exitCode = compile([`--target=${BUILD_TARGETS[name].bun}`], file, embedded)
    if (exitCode !== 0) {
      console.error(
        `The executable for ${name} was not built. Bun needs the registry of packages for it, or its cache.`,
      )
      return 1
    }
    await chmod(file, 0o755)
    await Bun.write(`${file}.cdx.json`, bill)
    built.push(file)
  }
  await Bun.write(join(DIST, "SHA256SUMS"), (await Promise.all(built.map(digestLine))).join(""))
  return 0
}

/** Writes what is embedded. */
async function prepare(): Promise<{ readonly embedded: readonly string[]; readonly bill: string }> {
  await mkdir(join(ROOT, EMBEDDED_FOLDER), { recursive: true })
  const embedded: string[] = []
  for (const [name, path] of Object.entries(BUNDLED_FILES)) {
    const copy = join(EMBEDDED_FOLDER, name)
    const bytes = await Bun.file(join(ROOT, path)).bytes()
    await Bun.write(join(ROOT, copy), COMPRESSED_FILES.has(name) ? Bun.gzipSync(bytes, { level: 9 }) : bytes)
    embedded.push(copy)
  }
  return { embedded, bill: await loadSbom(createSystem()) }
}

function compile(flags: readonly string[], outfile: string, embedded: readonly string[]): number {
  const command = [process.execPath, "build", ...COMPILE, ...flags, "--outfile", outfile]
  const { exitCode } = Bun.spawnSync([...command, "src/assemble/executable.ts", ...embedded], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
  })
  return exitCode
}
