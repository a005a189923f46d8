import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs"
import { isAbsolute } from "node:path"
import { describeRoom, nearestExisting } from "../base/disk-space.ts"
import { orNull } from "../base/errors.ts"
import { describeOwner } from "../base/file-owner.ts"

/** What keeps a file from being written, as errors of the system, of SQLite and of the database name it. */
const NO_SPACE = /\b(?:ENOSPC|EDQUOT|SQLITE_FULL|full)\b/
const NO_ACCESS = /\b(?:EACCES|EPERM|ENOTDIR|EISDIR|SQLITE_(?:READONLY|CANTOPEN|PERM|AUTH)\w*|unwritable)\b/
const NO_DESCRIPTOR = /\b(?:EMFILE|ENFILE|SQLITE_CANTOPEN\w*|unwritable)\b/
const LOCKED = /\b(?:SQLITE_BUSY\w*|busy)\b/

/** From this share of the limit on descriptors may be what is missing. */
const SHORTAGE_SHARE = 0.9

/**
 * What this host shows of an error with these codes at a path: the room on its disk, its owner and who this process runs as, who has locked it, or how
 * many descriptors are open. Null: nothing of it is known, or the place is no path. It looks at the disk, so it is called for few lines.
 */
export function hostState(
  codes: string,
  place: string,
  { descriptorCount, descriptorsMax }: { readonly descriptorCount: number; readonly descriptorsMax: number },
): string | null {
  const path = isAbsolute(place) ? nearestExisting(place) : null
  const isShort = descriptorsMax > 0 && descriptorCount >= SHORTAGE_SHARE * descriptorsMax
  const seen = [
    path !== null && NO_SPACE.test(codes) ? describeRoom(path) : null,
    path !== null && NO_ACCESS.test(codes) ? describeOwner(path) : null,
    path !== null && LOCKED.test(codes) ? describeLock(path) : null,
    NO_DESCRIPTOR.test(codes) && isShort ? `${descriptorCount} of ${descriptorsMax} files and sockets are open` : null,
  ].filter(text => text !== null)
  return seen.length === 0 ? null : seen.join("; ")
}

/** How many processes the kernel has killed for lack of memory: of the control group of this one, else of the host; null: it does not tell. */
export function outOfMemoryKills(): number | null {
  const group = /^0::(\/.*)$/m.exec(readText("/proc/self/cgroup") ?? "")?.[1]
  const ofGroup = group === undefined ? null : readText(`/sys/fs/cgroup${group}/memory.events`)
  const count = /^oom_kill (\d+)$/m.exec(ofGroup ?? readText("/proc/vmstat") ?? "")?.[1]
  return count === undefined ? null : Number(count)
}

/** What a process has waited for since its start, and now. */
export type ProcessWaits = {
  /** How long its threads could run and got no processor. */
  readonly processorMs: number
  /** Whether its main thread waits for a disk now. */
  readonly isForDisk: boolean
}

/** What a process has waited for, and waits for now; null where there is no `/proc`, or no such process. */
export function processWaits(pid: number): ProcessWaits | null {
  const tasks = orNull(() => readdirSync(`/proc/${pid}/task`))
  // The name of the program may contain parentheses.
  const state = /.*\) (\S)/s.exec(readText(`/proc/${pid}/stat`) ?? "")?.[1]
  if (tasks === null || state === undefined) return null
  const waits = tasks.map(task => Number(readText(`/proc/${pid}/task/${task}/schedstat`)?.split(" ")[1] ?? 0))
  return { processorMs: waits.reduce((sum, ns) => sum + ns, 0) / 1_000_000, isForDisk: state === "D" }
}

/** The state of a listening socket in `/proc/net/tcp` (`TCP_LISTEN`). */
const LISTENING = "0A"

/** How many files and sockets a process may open (getrlimit(2), proc(5)); 0: the system does not tell, or has no limit. */
export const descriptorsMaxOf = (pid: number | "self"): number =>
  Number(/^Max open files +(\d+)/m.exec(readText(`/proc/${pid}/limits`) ?? "")?.[1] ?? 0)

/** Which process has locked a SQLite file for writing (proc_locks(5)), which it does in the file or in the index of its log. Null: none is seen. */
function describeLock(path: string): string | null {
  const files = [path, `${path}-shm`].flatMap(file => orNull(() => statSync(file)) ?? [])
  const places = files.map(({ dev, ino }) => `${hexByte(dev >> 8)}:${hexByte(dev & 0xff)}:${ino}`)
  const locks = (readText("/proc/locks") ?? "").matchAll(/^\d+: POSIX +ADVISORY +WRITE (\d+) (\S+)/gm)
  const holders = [...locks].filter(([, , place = ""]) => places.includes(place)).map(([, pid]) => Number(pid))
  const holder = holders.find(pid => pid !== process.pid)
  return holder === undefined ? null : `the process ${holder} (${processName(holder)}) has it locked`
}

const hexByte = (value: number): string => value.toString(16).padStart(2, "0")

const processName = (pid: number): string => (readText(`/proc/${pid}/comm`) ?? "").trim()

/** A process that listens on a port. */
export type PortHolder = { readonly pid: number; readonly name: string }

/** A process that listens on a port, as far as this user may see; null: none is seen. */
export const portHolder = (port: number): PortHolder | null => portHolders(port).next().value ?? null

/** All processes that listen on a port, as far as this user may see. */
export function* portHolders(port: number): Generator<PortHolder, undefined> {
  const sockets = new Set(
    ["tcp", "tcp6"].flatMap(family => listeningInodes(family, port)).map(inode => `socket:[${inode}]`),
  )
  if (sockets.size === 0) return
  for (const pid of orNull(() => readdirSync("/proc")) ?? []) {
    if (!/^\d+$/.test(pid)) continue
    const folder = `/proc/${pid}/fd`
    const holds = (orNull(() => readdirSync(folder)) ?? []).some(fd =>
      sockets.has(orNull(() => readlinkSync(`${folder}/${fd}`)) ?? ""),
    )
    if (holds) yield { pid: Number(pid), name: processName(Number(pid)) }
  }
}

/** The process that has started a process; 0: the system does not tell. */
export const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1] ?? 0)

function listeningInodes(family: string, port: number): readonly string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const rows = (readText(`/proc/net/${family}`) ?? "").split("\n").map(line => line.trim().split(/\s+/))
  return rows.flatMap(([, address, , state, , , , , , inode]) =>
    address?.endsWith(local) && state === LISTENING && inode !== undefined ? [inode] : [],
  )
}

const readText = (path: string): string | null => orNull(() => readFileSync(path, "latin1"))
