import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"

/** Builds the executable as a user does, and returns its path. Rejects with what the build printed when it fails. */
export async function buildExecutable(): Promise<string> {
  const child = Bun.spawn([process.execPath, "run", "build"], { cwd: ROOT, stdout: "pipe", stderr: "pipe" })
  const printed = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`
  if ((await child.exited) !== 0) throw new Error(printed)
  return join(ROOT, "dist", "mailkind")
}
