import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TEST_EXECUTABLE } from "../../../bench/servers/product.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { buildExecutable } from "../../support/executable.ts"
import { once } from "../../support/once.ts"
import { type Ended, type Program, startProgram } from "../../support/program.ts"

/** Builds the executable, unless the runner of the tests did. Rejects with what the build printed when it fails. */
export async function build(): Promise<void> {
  if (process.env[TEST_EXECUTABLE] === undefined) await once("executable", async () => void (await buildExecutable()))
}

/** Nobody outside of this machine is asked, whatever network it is in. */
const NOBODY_ASKED = {
  MAILKIND_DNS_SERVERS: "off",
  MAILKIND_IDENTITY_URL: "off",
  MAILKIND_LISTS_REFRESH_HOURS: "off",
}

/** The executable alone in an empty directory, run there with an environment of its own. `remove` ends and deletes it. */
export function alone() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-binary-"))
  const program = join(directory, "mailkind")
  copyFileSync(join(ROOT, "dist/mailkind"), program)
  const environment = { HOME: directory, PATH: process.env["PATH"] ?? "", ...NOBODY_ASKED }
  const started: Program[] = []
  const start = (args: readonly string[], settings: Readonly<Record<string, string>> = {}): Program => {
    const child = startProgram([program, ...args], directory, { ...environment, ...settings })
    started.push(child)
    return child
  }
  const run = (args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<Ended> =>
    start(args, settings).ended()
  const remove = async (): Promise<void> => {
    await Promise.all(started.map(({ kill }) => kill()))
    rmSync(directory, { recursive: true, force: true })
  }
  return { directory, environment, start, run, remove }
}

/** Waits for what `serve` prints up to `until`. */
export async function serving(
  child: Program,
  until: RegExp,
): Promise<{ readonly url: string; readonly printed: string }> {
  const printed = await child.printed(until)
  const url = /listens on (\S+)/.exec(printed)?.[1]
  if (url === undefined) throw new Error(`no start line in ${JSON.stringify(printed)}`)
  return { url, printed }
}
