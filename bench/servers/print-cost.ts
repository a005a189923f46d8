/**
 * Loaded before a program, it prints as the last line of its output what the process took until its end: the most that it
 * ever had resident, in bytes, and its CPU time. What the system tells the parent of an ended child will not do: it counts
 * the memory of the parent too, which the child has until it becomes another program.
 */

import { writeSync } from "node:fs"
import { statusBytes } from "./process-stats.ts"

process.on("exit", () => {
  const { user, system } = process.cpuUsage()
  writeSync(1, `${JSON.stringify({ peakBytes: statusBytes("self", "VmHWM"), cpuMs: (user + system) / 1000 })}\n`)
})
