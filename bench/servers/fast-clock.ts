/**
 * The product's program, for which the time of day passes many times as fast: `BENCH_CLOCK_SPEED` seconds in one. Work that
 * is done again and again comes as often in its time; what waits for an answer of the outside world waits as long as ever.
 */

import { createCommandDeps } from "../../src/assemble/commands.ts"
import { runCommand } from "../../src/cli/program.ts"
import { createSystem, type System } from "../../src/system/system.ts"

const speed = Number(process.env["BENCH_CLOCK_SPEED"])
if (!(speed >= 1)) throw new Error("BENCH_CLOCK_SPEED is not a number of at least 1")

const real = createSystem()
const startedAtMs = real.clock()
const system: System = {
  ...real,
  clock: () => Math.round(startedAtMs + (real.clock() - startedAtMs) * speed),
  runInterval: (everyMs, work) => real.runInterval(Math.max(1, everyMs / speed), work),
}
runCommand(createCommandDeps(system), process.argv.slice(2))
  .then(code => process.exit(code))
  .catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
