import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** A test file that takes longer does not end. */
const FILE_MS_MAX = 900_000
const LOOK_MS = 5000
const PREFIX = "running-"

/** Notes which test file this process runs from now on, for whoever watches the directory of the run. The function that it gives ends that. */
export function noteFile(directory: string, file: string): () => void {
  const note = join(directory, `${PREFIX}${process.pid}`)
  writeFileSync(note, file)
  return () => rmSync(note, { force: true })
}

/** Names the files that run for longer than a file may, and kills their processes. */
export function killEndless(directory: string, msMax = FILE_MS_MAX): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(PREFIX)) continue
    const note = join(directory, name)
    // It is gone when the file has ended just now.
    const { mtimeMs } = statSync(note, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY }
    if (Date.now() - mtimeMs < msMax) continue
    console.error(`${readFileSync(note, "utf8")} does not end, and is killed after ${msMax / 1000} s.`)
    rmSync(note, { force: true })
    process.kill(Number(name.slice(PREFIX.length)), "SIGKILL")
  }
}

/** Does so every few seconds, until the function that it gives is called. */
export function watchFiles(directory: string): () => void {
  const timer = setInterval(() => killEndless(directory), LOOK_MS)
  return () => clearInterval(timer)
}
