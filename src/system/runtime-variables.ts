/*
 * The runtime reads its own variables before any code of ours runs, so the executable starts itself again in the same process
 * (execve(2)), with them in its environment. That takes about 6 ms. Whoever sets one is obeyed, and workers inherit them.
 * A child with a channel to its parent, such as a worker, is never started again: it would lose the channel. Options may stand before
 * the command, so the word is looked for everywhere: another command with that word is started again too, which does no harm.
 */
const RUNTIME_VARIABLES = {
  /**
   * How many milliseconds the allocator keeps freed memory before it returns it to the system. Under load this costs about 20 MB
   * and saves a fifth of the processor time: most memory that is returned sooner is taken again a moment later.
   */
  MIMALLOC_PURGE_DELAY: "10000",
  /**
   * By how much a call brings a function nearer to being compiled, 15 by default. Functions are then compiled after 500 calls and not after
   * 33, and fewer of them twice: the first 1 000 checks cost a third less, and later ones no more (`DECISIONS 169`).
   */
  BUN_JSC_executionCounterIncrementForEntry: "1",
} as const satisfies Readonly<Record<string, string>>

const isServerOfExecutable =
  Bun.embeddedFiles.length > 0 && process.argv.slice(2).includes("serve") && process.send === undefined
const isSet = Object.keys(RUNTIME_VARIABLES).every(name => process.env[name] !== undefined)
if (isServerOfExecutable && process.platform !== "win32" && !isSet) startAgain({ ...RUNTIME_VARIABLES, ...process.env })

function startAgain(environment: Readonly<Record<string, string | undefined>>): void {
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], environment)
  } catch (_refused) {
    // For example because the file was moved meanwhile. The server works without, only slower.
  }
}
