import { join } from "node:path"

export const ROOT = join(import.meta.dir, "../..")

/** Ends the build if the command fails. Gives what it printed. */
export function runCommand(command: readonly string[], directory: string): string {
  const { exitCode, stdout } = Bun.spawnSync([...command], { cwd: directory, stderr: "inherit" })
  if (exitCode === 0) return stdout.toString()
  process.stderr.write(stdout)
  process.exit(exitCode)
}

/** Packs a folder with its `package.json` and our licence as `npm pack` does, and gives the path of the packed file. */
export async function packFolder(
  folder: string,
  manifest: { readonly name: string; readonly version: string },
  outside: string,
): Promise<string> {
  await Bun.write(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  await Bun.write(join(folder, "LICENSE"), Bun.file(join(ROOT, "LICENSE")))
  runCommand([process.execPath, "pm", "pack", "--quiet", "--destination", outside], folder)
  return join(outside, `${manifest.name}-${manifest.version}.tgz`)
}
