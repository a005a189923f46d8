import { readFileSync } from "node:fs"
import { startServer } from "../../src/assemble.ts"
import { announce } from "../../src/cli/serve.ts"
import { readSettings } from "../../src/config/settings.ts"
import { realWorld } from "../../src/world.ts"

// The server over a clock that is set: `clock-child.ts serve` adds the milliseconds that stand in the file CLOCK_FILE.

const world = realWorld()
const { CLOCK_FILE = "", ...environment } = world.environment
const clock = (): number => world.clock() + Number(readFileSync(CLOCK_FILE, "utf8"))
const read = readSettings(environment)
if (read.kind === "faulty") throw new Error(read.faults.join())
const running = await startServer({ ...world, clock }, read.settings, "alone")
announce({ line: console.log, aside: console.error }, "0", running, await running.firstAccount(), 1)
await world.stopAsked()
await running.stop()
process.exit(0)
