import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** A control group of the system whose processes have so much memory together, and no swap. Its processes have ended before it is disposed of. */
export type MemoryGroup = Disposable & {
  /** The words before a command that is to run in the group. */
  readonly by: readonly [string, ...string[]]
  /** How many of its processes the system has killed for want of memory. */
  readonly killedCount: () => number
}

/** The two kinds of control groups: where they are, and the names of their files. */
const KINDS = [
  {
    folder: "/sys/fs/cgroup/memory",
    limits: ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
    kills: ["memory.oom_control", /^oom_kill (\d+)$/m],
    swap: null,
  },
  {
    folder: "/sys/fs/cgroup",
    limits: ["memory.max"],
    kills: ["memory.events", /^oom_kill (\d+)$/m],
    swap: "memory.swap.max",
  },
] as const

let madeCount = 0

/** Makes a group; null where this process may not, or the system has none. */
export function memoryGroup(bytes: number): MemoryGroup | null {
  for (const { folder, limits, kills, swap } of KINDS) {
    const path = join(folder, `mailkind-bench-${process.pid}-${madeCount++}`)
    if (!tried(() => mkdirSync(path))) continue
    const [limit, ...others] = limits
    const set = (name: string, value: string): boolean =>
      existsSync(join(path, name)) && tried(() => writeFileSync(join(path, name), value))
    if (!set(limit, String(bytes))) {
      rmdirSync(path)
      continue
    }
    for (const name of others) set(name, String(bytes))
    if (swap !== null) set(swap, "0")
    const [file, pattern] = kills
    return {
      by: ["sh", "-c", 'echo $$ >"$1" && shift && exec "$@"', "sh", join(path, "cgroup.procs")],
      killedCount: () => Number(pattern.exec(readFileSync(join(path, file), "utf8"))?.[1] ?? Number.NaN),
      [Symbol.dispose]: () => rmdirSync(path),
    }
  }
  return null
}

function tried(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (refused) {
    if (!(refused instanceof Error)) throw refused
    return false
  }
}
