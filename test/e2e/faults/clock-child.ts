import { readFileSync } from "node:fs"
import { createContext } from "../../../src/assemble/context.ts"
import { startServer } from "../../../src/assemble/server.ts"
import { printStart } from "../../../src/cli/serve.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { createSystem } from "../../../src/system/system.ts"

// The server over a clock that is set: `clock-child.ts serve` adds the milliseconds that stand in the file CLOCK_FILE. What it does from time
// to time it does ten times a second at least, so that all of it has been done after a second.

const INTERVAL_MS_MAX = 100

const system = createSystem()
const { CLOCK_FILE = "", ...environment } = system.environment
const clock = (): number => system.clock() + Number(readFileSync(CLOCK_FILE, "utf8"))
const runInterval: typeof system.runInterval = (everyMs, work) =>
  system.runInterval(Math.min(everyMs, INTERVAL_MS_MAX), work)
const read = parseSettings(environment)
if (read.kind === "faulty") throw new Error(read.faults.join())
const stopSignal = system.stopSignal()
const running = await startServer(createContext({ ...system, clock, runInterval }, read.settings), "alone", stopSignal)
if (running === null) process.exit(0)
printStart(
  { line: console.log, stderrLine: console.error },
  "0",
  running,
  await running.ensureBootstrapAccount(),
  1,
  false,
)
await stopSignal
await running.stop()
process.exit(0)
