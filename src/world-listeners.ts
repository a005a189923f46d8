import { dlopen, ptr } from "bun:ffi"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** The sockets that this process listens with, as far as the system has more to say of them than Bun has. Linux alone. */
export type Listeners = {
  /** Lets another process of this user listen on the port beside this one; false: that cannot be had here. */
  readonly share: (port: number) => boolean
  /**
   * Has the system give every new connection to the port to this process, which was the last to listen there. What others
   * have been given before stays theirs. False: that cannot be had here.
   */
  readonly attract: (port: number) => boolean
}

const SOL_SOCKET = 1
const SO_REUSEPORT = 15
/** A program in the classic packet filter's language that picks the socket of those on one port (socket(7), Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51
/** BPF_RET | BPF_K: its answer is a constant. */
const RETURN_CONSTANT = 0x06
/** What the C library is called: glibc's, and musl's by the machine. */
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]
/** TCP_LISTEN, as the table of sockets writes it (proc_pid_net(5)). */
const LISTENING = "0A"

/** The real ones. */
export const realListeners: Listeners = {
  share: port => {
    const { own } = socketsOn(port)
    return (
      own.length > 0 && own.every(socket => setOption(socket, SO_REUSEPORT, new Uint8Array(Int32Array.of(1).buffer)))
    )
  },
  attract: port => {
    const { own, othersCount } = socketsOn(port)
    const [socket] = own
    // Sockets are numbered in the order in which they began to listen.
    return socket !== undefined && setOption(socket, SO_ATTACH_REUSEPORT_CBPF, programReturning(othersCount))
  },
}

/** The descriptors that this process listens with on the port, and how many sockets others do. */
function socketsOn(port: number): { readonly own: readonly number[]; readonly othersCount: number } {
  const inodes = new Set(["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap(table => listening(table, port)))
  const own = ownDescriptors().filter(([, inode]) => inodes.has(inode))
  return { own: own.map(([descriptor]) => descriptor), othersCount: inodes.size - own.length }
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

/** `struct sock_fprog` with one `struct sock_filter`. Both are kept as long as what points at them. */
function programReturning(index: number): Uint8Array {
  const filter = new Uint8Array(8)
  const instruction = new DataView(filter.buffer)
  instruction.setUint16(0, RETURN_CONSTANT, true)
  instruction.setUint32(4, index, true)
  const program = new Uint8Array(16)
  new DataView(program.buffer).setUint16(0, 1, true)
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
