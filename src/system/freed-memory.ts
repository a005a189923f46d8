/**
 * How many milliseconds the allocator keeps freed memory before it returns it to the system. Under load this costs about 20 MB
 * and saves a fifth of the processor time: most memory that is returned sooner is taken again a moment later.
 */
const PURGE_DELAY_MS = "10000"

/*
 * The allocator reads its settings before any code of ours runs, so the executable starts itself again in the same process
 * (execve(2)), with the setting in its environment. That takes about 6 ms. Whoever sets the variable is obeyed, and workers inherit it.
 * A child with a channel to its parent, such as a worker, is never started again: it would lose the channel. Options may stand before
 * the command, so the word is looked for everywhere: another command with that word is started again too, which does no harm.
 */
const isServerOfExecutable =
  Bun.embeddedFiles.length > 0 && process.argv.slice(2).includes("serve") && process.send === undefined
if (isServerOfExecutable && process.platform !== "win32" && process.env["MIMALLOC_PURGE_DELAY"] === undefined)
  startAgain({ ...process.env, MIMALLOC_PURGE_DELAY: PURGE_DELAY_MS })

function startAgain(environment: Readonly<Record<string, string | undefined>>): void {
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], environment)
  } catch (_refused) {
    // For example because the file was moved meanwhile. The server works without, only slower.
  }
}
