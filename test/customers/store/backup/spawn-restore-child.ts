import { join } from "node:path"
import { bounded } from "../../../support/bounded.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"

/** Starts `restore-child.ts` with these words, waits until it has printed `until`, and kills it after the test. */
export async function spawnRestoreChild(words: readonly string[], until: string | null) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "restore-child.ts"), ...words], {
    stdout: "pipe",
    stderr: "inherit",
  })
  onTestEnd(() => child.kill("SIGKILL"))
  if (until !== null) {
    let text = ""
    const read = async (): Promise<void> => {
      for await (const part of child.stdout) {
        text += new TextDecoder().decode(part)
        if (text.includes(until)) return
      }
      throw new Error(`it ended and had said ${text}`)
    }
    await bounded(read(), () => `it has said ${text}`)
  }
  return {
    pid: child.pid,
    kill: async () => {
      child.kill("SIGKILL")
      await child.exited
    },
    /** What it was ended by, or its exit code. */
    ended: async () => {
      await bounded(child.exited, () => "it still runs")
      return child.signalCode ?? child.exitCode
    },
  }
}
