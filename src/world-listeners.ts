import { dlopen, ptr } from "bun:ffi"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** The sockets that this process listens with, as far as the system has more to say of them than Bun has. Linux alone. */
export type Listeners = {
  /** Whether the system can do any of this. */
  readonly canSteer: () => boolean
  /** Lets another process of this user listen on the port beside this one; false: that cannot be had here. */
  readonly share: (port: number) => boolean
  /**
   * Has the system give every new connection to the port, on which this process listens, to `count` of the sockets that listen
   * there, evenly, from the one at a position on; those that are not there count as all. What others have been given before
   * stays theirs. False: that cannot be had here.
   *
   * The positions are the order in which sockets began to listen, but that the last one takes the place of one that is closed.
   */
  readonly steer: (port: number, position: number, count: number) => boolean
}

const SOL_SOCKET = 1
const SO_REUSEPORT = 15
/** A program in the classic packet filter's language that picks the socket of those on one port (socket(7), Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51
/** What the packet filter's machine does, by its own numbers (linux/bpf_common.h, linux/filter.h). */
const LOAD_WORD = 0x20
const RANDOM = 0xff_ff_f0_00 + 56
const MODULO_CONSTANT = 0x94
const ADD_CONSTANT = 0x04
const RETURN_RESULT = 0x16
/** What the C library is called: glibc's, and musl's by the machine. */
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]
/** TCP_LISTEN, as the table of sockets writes it (proc_pid_net(5)). */
const LISTENING = "0A"

/** A position at which no socket ever is. */
export const NOWHERE = 2 ** 31

/** The real ones. */
export const realListeners: Listeners = {
  canSteer: () => {
    const library = openLibrary()
    library?.close()
    return library !== null
  },
  share: port => {
    const own = socketsOn(port)
    return (
      own.length > 0 && own.every(socket => setOption(socket, SO_REUSEPORT, new Uint8Array(Int32Array.of(1).buffer)))
    )
  },
  steer: (port, position, count) => {
    const [socket] = socketsOn(port)
    return socket !== undefined && setOption(socket, SO_ATTACH_REUSEPORT_CBPF, programPicking(position, count))
  },
}

/** The descriptors that this process listens with on the port. */
function socketsOn(port: number): readonly number[] {
  const inodes = new Set(["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap(table => listening(table, port)))
  return ownDescriptors().flatMap(([descriptor, inode]) => (inodes.has(inode) ? [descriptor] : []))
}

/** The inodes of the sockets that listen on the port. */
function listening(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0")
  return linesOf(table).flatMap(line => {
    const [, local, , state, , , , , , inode = ""] = line.trim().split(/\s+/)
    return state === LISTENING && local?.endsWith(`:${hex}`) ? [inode] : []
  })
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n")
  } catch (missing) {
    // There is no IPv6, or no such table at all.
    if (missing instanceof Error && "code" in missing) return []
    throw missing
  }
}

function ownDescriptors(): (readonly [descriptor: number, inode: string])[] {
  const found: (readonly [number, string])[] = []
  try {
    for (const name of readdirSync("/proc/self/fd")) {
      const inode = /^socket:\[(\d+)\]$/.exec(targetOf(`/proc/self/fd/${name}`))?.[1]
      if (inode !== undefined) found.push([Number(name), inode])
    }
  } catch (missing) {
    if (!(missing instanceof Error && "code" in missing)) throw missing
  }
  return found
}

/** A descriptor may be closed between two looks. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (gone) {
    if (gone instanceof Error && "code" in gone) return ""
    throw gone
  }
}

/** `struct sock_fprog`, and the instructions that it points at, which are kept as long as it is: one of `count` by chance. */
function programPicking(position: number, count: number): Uint8Array {
  const instructions = [
    [LOAD_WORD, RANDOM],
    [MODULO_CONSTANT, count],
    [ADD_CONSTANT, position],
    [RETURN_RESULT, 0],
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
  const library = openLibrary()
  if (library === null) return false
  try {
    return library.symbols.setsockopt(socket, SOL_SOCKET, option, ptr(value), value.byteLength) === 0
  } finally {
    library.close()
  }
}

function openLibrary() {
  if (process.platform !== "linux") return null
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, { setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" } })
    } catch (missing) {
      if (!(missing instanceof Error)) throw missing
    }
  }
  return null
}
