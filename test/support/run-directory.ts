import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where the runner of all tests tells the directory that it has made for them. */
export const RUN_DIRECTORY = "TEST_RUN_DIRECTORY"

const NAME = /^mailkind-tests-(\d+)-/

/**
 * One directory for all temporary files of a run, those of its browsers and benches too, so that nothing is left when it
 * is removed. A run that was killed could not remove its own: the next one does.
 */
export function runDirectory(parent: string = tmpdir()) {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(parent, name))
  }
  const path = mkdtempSync(join(parent, `mailkind-tests-${process.pid}-`))
  return { path, remove: () => remove(path) }
}

const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 })

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (fault) {
    // Whose it is, if not ours, it runs.
    return fault instanceof Error && "code" in fault && fault.code === "EPERM"
  }
}
