import { createCommandDeps } from "./assemble/commands.ts"
import { InvariantError, isSystemError, StartupError } from "./base/errors.ts"
import { streamErrorMessage } from "./cli/classify/results-writer.ts"
import { failureText } from "./cli/output.ts"
import { runCommand } from "./cli/program.ts"
import { operatorMessage } from "./process/startup-error.ts"
import { createSystem, type System } from "./system/system.ts"

/** Prints the error, with a stack only if it is a fault of ours. Returns the exit code. */
function reportFatalError(system: System, error: unknown): number {
  // The reader of our output closed the pipe, as in `mailkind help settings | head`.
  if (isSystemError(error, "EPIPE")) process.exit(1)
  const message = operatorMessage(error, system)
  system.writeStderr(`${message === null ? Bun.inspect(error) : failureText(process.argv.slice(2), message, 1)}\n`)
  return 1
}

/** Rejects if the standard output has lost a part of what was written. */
async function flushStdout({ stdoutFlushed }: System): Promise<void> {
  try {
    await stdoutFlushed()
  } catch (error) {
    const says = streamErrorMessage(error)
    throw says === null ? error : new StartupError(`Cannot write the standard output: ${says}.`)
  }
}

// No top-level await: the bytecode of the executable does not support it.
const system = createSystem()
// An empty event loop before the command has ended is a deadlock. Bun would exit with code 0.
process.once("beforeExit", () =>
  process.exit(reportFatalError(system, new InvariantError("the command waits for something that cannot happen"))),
)
runCommand(createCommandDeps(system), process.argv.slice(2))
  .then(code => flushStdout(system).then(() => process.exit(code)))
  .catch(error => process.exit(reportFatalError(system, error)))
