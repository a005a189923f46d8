import { dlopen, ptr } from "bun:ffi"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** The sockets that this process listens with, as far as the system has more to say of them than Bun has. Linux alone. */
export type ReusePort = {
  /** Whether the system can do any of this. */
  readonly isSupported: () => boolean
  /** Lets another process of this user listen on the port beside this one; false: that cannot be had here. */
  readonly enable: (port: number) => boolean
  /**
   * Has the system give every new connection to the port, on which this process listens, to `count` of the sockets that listen
   * there, evenly, from the one at a position on; those that are not there count as all. What others have been given before
   * stays theirs. False: that cannot be had here.
   *
   * The positions are the order in which sockets began to listen, but that the last one takes the place of one that is closed.
   */
  readonly route: (port: number, position: number, count: number) => boolean
}

const SOL_SOCKET = 1
const SO_REUSEPORT = 15
/** A program in the classic packet filter's language that picks the socket of those on one port (socket(7), Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51
/** What the packet filter's machine does, by its own numbers (linux/bpf_common.h, linux/filter.h). */
const BPF_LD_W_ABS = 0x20
const SKF_AD_RANDOM = 0xff_ff_f0_00 + 56
const BPF_ALU_MOD_K = 0x94
const BPF_ALU_ADD_K = 0x04
const BPF_RET_A = 0x16
/** What the C library is called: glibc's, and musl's by the machine. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]
/** TCP_LISTEN, as the table of sockets writes it (proc_pid_net(5)). */
const TCP_LISTEN = "0A"

/** A position at which no socket ever is. */
export const NO_SOCKET_INDEX = 2 ** 31

/** The real ones. */
export const linuxReusePort: ReusePort = {
  isSupported: () => {
    const library = openLibc()
    library?.close()
    return library !== null
  },
  enable: port => {
    const own = listeningDescriptors(port)
    return (
      own.length > 0 && own.every(socket => setOption(socket, SO_REUSEPORT, new Uint8Array(Int32Array.of(1).buffer)))
    )
  },
  route: (port, position, count) => {
    const [socket] = listeningDescriptors(port)
    return socket !== undefined && setOption(socket, SO_ATTACH_REUSEPORT_CBPF, socketFilter(position, count))
  },
}

/** The descriptors that this process listens with on the port. */
function listeningDescriptors(port: number): readonly number[] {
  const inodes = new Set(["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap(table => listeningInodes(table, port)))
  return ownSockets().flatMap(([descriptor, inode]) => (inodes.has(inode) ? [descriptor] : []))
}

/** The inodes of the sockets that listen on the port. */
function listeningInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0")
  return procLines(table).flatMap(line => {
    const [, local, , state, , , , , , inode = ""] = line.trim().split(/\s+/)
    return state === TCP_LISTEN && local?.endsWith(`:${hex}`) ? [inode] : []
  })
}

function procLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n")
  } catch (missing) {
    // There is no IPv6, or no such table at all.
    if (missing instanceof Error && "code" in missing) return []
    throw missing
  }
}

function ownSockets(): (readonly [descriptor: number, inode: string])[] {
  const found: (readonly [number, string])[] = []
  try {
    for (const name of readdirSync("/proc/self/fd")) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkTarget(`/proc/self/fd/${name}`))?.[1]
      if (inode !== undefined) found.push([Number(name), inode])
    }
  } catch (missing) {
    if (!(missing instanceof Error && "code" in missing)) throw missing
  }
  return found
}

/** A descriptor may be closed between two looks. */
function linkTarget(link: string): string {
  try {
    return readlinkSync(link)
  } catch (gone) {
    if (gone instanceof Error && "code" in gone) return ""
    throw gone
  }
}

/** `struct sock_fprog`, and the instructions that it points at, which are kept as long as it is: one of `count` by chance. */
function socketFilter(position: number, count: number): Uint8Array {
  const instructions = [
    [BPF_LD_W_ABS, SKF_AD_RANDOM],
    [BPF_ALU_MOD_K, count],
    [BPF_ALU_ADD_K, position],
    [BPF_RET_A, 0],
  ] as const
  const filter = new Uint8Array(instructions.length * 8)
  const at = new DataView(filter.buffer)
  for (const [index, [code, constant]] of instructions.entries()) {
    at.setUint16(index * 8, code, true)
    at.setUint32(index * 8 + 4, constant, true)
  }
  const program = new Uint8Array(16)
  new DataView(program.buffer).setUint16(0, instructions.length, true)
  new DataView(program.buffer).setBigUint64(8, BigInt(ptr(filter)), true)
  return Object.assign(program, { filter })
}

function setOption(socket: number, option: number, value: Uint8Array): boolean {
  const library = openLibc()
  if (library === null) return false
  try {
    return library.symbols.setsockopt(socket, SOL_SOCKET, option, ptr(value), value.byteLength) === 0
  } finally {
    library.close()
  }
}

function openLibc() {
  if (process.platform !== "linux") return null
  for (const name of LIBC_NAMES) {
    try {
      return dlopen(name, { setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" } })
    } catch (missing) {
      if (!(missing instanceof Error)) throw missing
    }
  }
  return null
}
