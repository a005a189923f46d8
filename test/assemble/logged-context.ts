import { createContext } from "../../src/assemble/context.ts"
import type { Stopwatch } from "../../src/base/outside-world.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createSystem } from "../../src/system/system.ts"

/** The context of a process with these settings, whose log is kept, whose time is the test's, and which does nothing at intervals. */
export function loggedContext(environment: Readonly<Record<string, string>>, stopwatch: Stopwatch) {
  const read = parseSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const lines: Readonly<Record<string, unknown>>[] = []
  const system = {
    ...createSystem(),
    isTerminal: false,
    writeStderr: (text: string) => void lines.push(JSON.parse(text)),
    stopwatch,
    runInterval: () => () => undefined,
  }
  return { context: createContext(system, read.settings), lines }
}
