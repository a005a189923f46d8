import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bounded } from "./bounded.ts"
import { RUN_DIRECTORY } from "./run-directory.ts"

const POLL_MS = 50
const WORK_MS_MAX = 150_000

const own = new Map<string, Promise<void>>()

/** Does work of a name once for all test processes of a run. Who comes later waits until it is done. Rejects when it has failed. */
export function once(name: string, work: () => Promise<void>): Promise<void> {
  const known = own.get(name)
  if (known !== undefined) return known
  const directory = process.env[RUN_DIRECTORY]
  const done = directory === undefined ? work() : onceAmong(join(directory, `once-${name}`), name, work)
  own.set(name, done)
  return done
}

async function onceAmong(path: string, name: string, work: () => Promise<void>): Promise<void> {
  try {
    mkdirSync(path)
  } catch (fault) {
    if (!(fault instanceof Error && "code" in fault && fault.code === "EEXIST")) throw fault
    return await bounded(doneElsewhere(path, name), () => `another process still makes: ${name}`, WORK_MS_MAX)
  }
  const isDone = await work().then(
    () => true,
    (fault: unknown) => fault,
  )
  writeFileSync(join(path, isDone === true ? "done" : "failed"), "")
  if (isDone !== true) throw isDone
}

async function doneElsewhere(path: string, name: string): Promise<void> {
  while (!existsSync(join(path, "done"))) {
    if (existsSync(join(path, "failed"))) throw new Error(`another process could not make: ${name}`)
    await Bun.sleep(POLL_MS)
  }
}
