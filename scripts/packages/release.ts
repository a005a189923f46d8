import { createPrivateKey, type KeyObject, sign } from "node:crypto"
import { join } from "node:path"
import { parseArgs } from "node:util"
import manifest from "../../package.json" with { type: "json" }
import { type BuildTargetName, executableName, parseTargets } from "../../src/system/build-targets.ts"
import { digestLine } from "../../src/system/digest-line.ts"
import { buildDeb, DEB_ARCHITECTURES, type DebTarget } from "./deb.ts"
import { ROOT, runCommand } from "./package-folder.ts"

/*
 * Makes what is given to others: `bun run build:release [--target NAME[,NAME]] [--sign KEY]`. The executables, of all targets if none is
 * named, a package for Debian of those for Linux with glibc, and `SHA256SUMS` with the digests of them all. KEY is a file with a private
 * Ed25519 key in PEM: `SHA256SUMS.sig` is its signature of the digests. All of it stands in `dist`.
 */
/** Packs the executables in a folder, writes the digests of all that is given to others, and signs them if there is a key. */
export async function release(
  folder: string,
  targets: readonly BuildTargetName[],
  key: KeyObject | null,
): Promise<void> {
  const pathOf = (name: BuildTargetName): string => join(folder, executableName(manifest.version, name))
  const writtenAtS = Number(runCommand(["git", "log", "-1", "--format=%ct"], ROOT))
  const given = targets.map(pathOf)
  for (const name of targets.filter(isDebTarget)) given.push(await buildDeb(pathOf(name), name, writtenAtS))
  const digests = (await Promise.all(given.map(digestLine))).join("")
  await Bun.write(join(folder, "SHA256SUMS"), digests)
  if (key !== null) await Bun.write(join(folder, "SHA256SUMS.sig"), sign(null, Buffer.from(digests), key))
}

const isDebTarget = (name: BuildTargetName): name is DebTarget => Object.hasOwn(DEB_ARCHITECTURES, name)

async function readKey(path: string): Promise<KeyObject> {
  const key = createPrivateKey(await Bun.file(path).text())
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is no Ed25519 key")
  return key
}

if (import.meta.main) {
  const options = { target: { type: "string", default: "all" }, sign: { type: "string" } } as const
  const { target, sign: keyFile } = parseArgs({ options, strict: true }).values
  const parsed = parseTargets(target)
  if (parsed.kind === "unknown") throw new Error(`${parsed.name} is no target`)
  // Before the build, which takes minutes.
  const key = keyFile === undefined ? null : await readKey(keyFile)
  runCommand([process.execPath, "run", "build", "--target", parsed.names.join(",")], ROOT)
  await release(join(ROOT, "dist"), parsed.names, key)
}
