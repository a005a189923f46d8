import { ptr } from "bun:ffi"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { isSystemError } from "../base/errors.ts"
import { openLibc } from "./libc.ts"

/** What Linux can do with listening sockets beyond Bun's API. */
export type ReusePort = {
  /** Whether the system supports any of this. */
  readonly isSupported: () => boolean
  /** Lets another process of this user listen on the port too (SO_REUSEPORT); false if the system refuses. */
  readonly enable: (port: number) => boolean
  /**
   * Routes every new connection on the port evenly to `count` of its listening sockets, from `firstIndex` on. If the selected
   * socket does not exist, the kernel picks any. Connections that were assigned before stay where they are. This process must
   * listen on the port. False if the system refuses.
   *
   * Indexes follow the order in which the sockets began to listen; when one is closed, the last one takes its index.
   */
  readonly route: (port: number, firstIndex: number, count: number) => boolean
}

const SOL_SOCKET = 1
const SO_REUSEPORT = 15
/** Attaches a classic BPF program that selects a socket on the port (socket(7), Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51
/** Classic BPF opcodes (linux/bpf_common.h, linux/filter.h). */
const BPF_LD_W_ABS = 0x20
const SKF_AD_RANDOM = 0xff_ff_f0_00 + 56
const BPF_ALU_MOD_K = 0x94
const BPF_ALU_ADD_K = 0x04
const BPF_RET_A = 0x16
const SYMBOLS = { setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" } } as const
/** The state TCP_LISTEN in /proc/net/tcp (proc_pid_net(5)). */
const TCP_LISTEN = "0A"

/** An index that no socket has. */
export const NO_SOCKET_INDEX = 2 ** 31

/** Port sharing by way of setsockopt(2), on Linux only. */
export const linuxReusePort: ReusePort = {
  isSupported: () => {
    const library = openLibc(SYMBOLS)
    library?.close()
    return library !== null
  },
  enable: port => {
    const own = listeningDescriptors(port)
    return (
      own.length > 0 && own.every(socket => setOption(socket, SO_REUSEPORT, new Uint8Array(Int32Array.of(1).buffer)))
    )
  },
  route: (port, firstIndex, count) => {
    const [socket] = listeningDescriptors(port)
    return socket !== undefined && setOption(socket, SO_ATTACH_REUSEPORT_CBPF, socketFilter(firstIndex, count))
  },
}

/** The file descriptors of this process that listen on the port. */
function listeningDescriptors(port: number): readonly number[] {
  const inodes = new Set(["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap(table => listeningInodes(table, port)))
  return ownSockets().flatMap(([descriptor, inode]) => (inodes.has(inode) ? [descriptor] : []))
}

/** The inodes of all sockets in the table that listen on the port. */
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
  } catch (error) {
    // The table is missing, for example without IPv6.
    if (isSystemError(error)) return []
    throw error
  }
}

function ownSockets(): (readonly [descriptor: number, inode: string])[] {
  const found: (readonly [number, string])[] = []
  try {
    for (const name of readdirSync("/proc/self/fd")) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkTarget(`/proc/self/fd/${name}`))?.[1]
      if (inode !== undefined) found.push([Number(name), inode])
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
  return found
}

/** The target of a symbolic link; empty if the descriptor was closed meanwhile. */
function linkTarget(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}

/**
 * A `struct sock_fprog` whose program selects one of `count` sockets at random. The struct points at the instructions, so the
 * result keeps a reference to them.
 */
function socketFilter(firstIndex: number, count: number): Uint8Array {
  const instructions = [
    [BPF_LD_W_ABS, SKF_AD_RANDOM],
    [BPF_ALU_MOD_K, count],
    [BPF_ALU_ADD_K, firstIndex],
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
  const library = openLibc(SYMBOLS)
  if (library === null) return false
  try {
    return library.symbols.setsockopt(socket, SOL_SOCKET, option, ptr(value), value.byteLength) === 0
  } finally {
    library.close()
  }
}
