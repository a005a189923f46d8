import { ptr } from "bun:ffi"
import { openLibc } from "./libc.ts"

/** What runs this process as a service and wants to know how it is (sd_notify(3)). */
export type ServiceManager = {
  /** Tells that the service serves, that it stops, or that it does not hang. Best effort, and nothing without a service manager. */
  readonly notify: (state: ServiceState) => void
  /** It restarts the service when it has heard no `WATCHDOG=1` for so many milliseconds; null: it does not. */
  readonly watchdogMs: number | null
}

/** A state of a service, as sd_notify(3) writes it. */
export type ServiceState = "READY=1" | "STOPPING=1" | "WATCHDOG=1"

const [AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC] = [1, 2, 0o2000000] as const
/** A full queue must not stop the server (send(2)). */
const [MSG_DONTWAIT, MSG_NOSIGNAL] = [0x40, 0x4000] as const
/** The length of `sun_path` (unix(7)). */
const PATH_BYTES_MAX = 108

const SYMBOLS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
} as const

/** The service manager of a process, by `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of its environment. */
export function createServiceManager(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs = "", WATCHDOG_PID: watchdogPid } = environment
  const address = socketAddress(socket ?? "")
  const isWatched = /^[1-9]\d*$/.test(watchdogUs) && (watchdogPid === undefined || watchdogPid === String(pid))
  return {
    notify: state => {
      if (address !== null) send(address, Buffer.from(state))
    },
    watchdogMs: address !== null && isWatched ? Number(watchdogUs) / 1000 : null,
  }
}

/** A `struct sockaddr_un`: of a path, or with `@` of an abstract name. Null: it is neither, or too long. */
function socketAddress(name: string): Uint8Array | null {
  if (!/^[/@]./.test(name)) return null
  const path = Buffer.from(name.startsWith("@") ? `\0${name.slice(1)}` : `${name}\0`)
  return path.length > PATH_BYTES_MAX ? null : Buffer.concat([Uint8Array.of(AF_UNIX, 0), path])
}

/** Sends a datagram, unless the queue of its receiver is full. Bun has none over Unix sockets. */
function send(address: Uint8Array, message: Uint8Array): void {
  const library = openLibc(SYMBOLS)
  if (library === null) return
  const { socket, sendto, close } = library.symbols
  const descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
  if (descriptor >= 0) {
    sendto(descriptor, ptr(message), message.byteLength, MSG_DONTWAIT | MSG_NOSIGNAL, ptr(address), address.byteLength)
    close(descriptor)
  }
  library.close()
}
