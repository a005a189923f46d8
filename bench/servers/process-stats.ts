import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { gc } from "bun"

/** Whether the system tells of processes as proc(5) says. Where it does not, the numbers here are NaN. */
const HAS_PROC = process.platform === "linux"

/** CPU time that a process has had so far, in steps of 10 ms. The process must be there. */
export function cpuMsOf(pid: number): number {
  if (!HAS_PROC) return Number.NaN
  const fields = statOf(pid)
  // utime and stime, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** The process, and all that descend from it, as of now. */
export function processTree(pid: number): readonly number[] {
  if (!HAS_PROC) return [pid]
  const parents = new Map(readdirSync("/proc").flatMap(name => parentOf(Number(name))))
  const family = [pid]
  // Who is appended is looked at in turn.
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child)
  return family
}

/** What a process tells of itself under this name in its `status`, in bytes. */
export function statusBytes(pid: number | "self", name: "RssAnon" | "VmHWM" | "VmRSS"): number {
  const status = HAS_PROC ? readFileSync(`/proc/${pid}/status`, "utf8") : ""
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) * 1024
}

/** How many descriptors a process has open, and how many of them are sockets. */
export function descriptorsOf(pid: number): { readonly all: number; readonly sockets: number } {
  if (!HAS_PROC) return { all: Number.NaN, sockets: Number.NaN }
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).flatMap(name => whileThere(() => readlinkSync(`${folder}/${name}`)))
  return { all: targets.length, sockets: targets.filter(target => target.startsWith("socket:")).length }
}

/** The process with its parent; none when it is no process, or gone. */
const parentOf = (pid: number): (readonly [child: number, parent: number])[] =>
  Number.isNaN(pid) ? [] : whileThere(() => [pid, Number(statOf(pid)[1])] as const)

/** Fields of proc_pid_stat(5) from the third on. The name before them may hold blanks and brackets. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

/** What is found, or nothing when it has gone meanwhile. */
function whileThere<T>(find: () => T): T[] {
  try {
    return [find()]
  } catch (gone) {
    if (!(gone instanceof Error)) throw gone
    return []
  }
}

/**
 * What this process holds, in bytes, after its garbage was collected; NaN where the system does not tell. Private memory
 * is what only this process has and nothing can take back; a mapped file's pages are the system's, shared by all who map
 * it.
 */
export function memoryNow(): { readonly privateBytes: number; readonly residentBytes: number } {
  gc(true)
  return { privateBytes: statusBytes("self", "RssAnon"), residentBytes: statusBytes("self", "VmRSS") }
}
