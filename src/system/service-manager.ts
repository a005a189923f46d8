import { ptr } from "bun:ffi"
import { lazy } from "../base/lazy.ts"
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
} as const

/** The service manager of a process, by `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of its environment. */
export function createServiceManager(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs = "", WATCHDOG_PID: watchdogPid } = environment
  const address = socketAddress(socket ?? "")
  const isWatched = /^[1-9]\d*$/.test(watchdogUs) && (watchdogPid === undefined || watchdogPid === String(pid))
  const send = address === null ? null : createSender(address)
  return {
    notify: state => send?.(Buffer.from(state)),
    watchdogMs: address !== null && isWatched ? Number(watchdogUs) / 1000 : null,
  }
}

/** A `struct sockaddr_un`: of a path, or with `@` of an abstract name. Null: it is neither, or too long. */
function socketAddress(name: string): Uint8Array | null {
  if (!/^[/@]./.test(name)) return null
  const path = Buffer.from(name.startsWith("@") ? `\0${name.slice(1)}` : `${name}\0`)
  return path.length > PATH_BYTES_MAX ? null : Buffer.concat([Uint8Array.of(AF_UNIX, 0), path])
}

/**
 * Sends datagrams, unless the queue of their receiver is full. Bun has none over Unix sockets. The socket stays open: a process without a
 * free descriptor must still tell that it does not hang.
 */
function createSender(address: Uint8Array): (message: Uint8Array) => void {
  const opened = lazy(() => {
    const symbols = openLibc(SYMBOLS)?.symbols
    const descriptor = symbols?.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) ?? -1
    return symbols === undefined || descriptor < 0 ? null : { symbols, descriptor }
  })
  return message => {
    const { symbols, descriptor = -1 } = opened() ?? {}
    symbols?.sendto(
      ...([descriptor, ptr(message), message.byteLength, MSG_DONTWAIT | MSG_NOSIGNAL] as const),
      ...([ptr(address), address.byteLength] as const),
    )
  }
}
