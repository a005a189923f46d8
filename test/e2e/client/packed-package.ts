import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

export const ROOT = join(import.meta.dir, "../../..")

export const environment = (home: string) => ({ PATH: process.env["PATH"], HOME: home })

/** A directory of its own, which is removed when the test ends. */
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-client-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** What a program prints that succeeds. */
export async function ran(command: readonly string[], directory: string, home = directory): Promise<string> {
  const ended = await startProgram(command, directory, environment(home)).ended()
  if (ended.code !== 0) throw new Error(`${command.join(" ")}: ${ended.out}${ended.err}`)
  return ended.out
}

/** Packs the client into a directory, and gives the path of the packed file. */
export async function packedIn(directory: string): Promise<string> {
  const written = await ran([process.execPath, join(ROOT, "scripts/packages/client.ts"), directory], ROOT, directory)
  return written.split("\n")[0] ?? ""
}

/** With `TEST_REPORT=1` the tests print their figures. */
export function report(...cells: readonly (string | number)[]): void {
  if (process.env["TEST_REPORT"] === "1") process.stdout.write(`| ${cells.join(" | ")} |\n`)
}
