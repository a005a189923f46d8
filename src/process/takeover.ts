import { join } from "node:path"
import { withTimeout } from "../base/concurrency.ts"
import { StartupError } from "../base/errors.ts"
import type { Log } from "../base/log.ts"
import type { ControlConnection } from "../system/control-socket.ts"
import { NO_SOCKET_INDEX } from "../system/reuse-port.ts"
import type { System } from "../system/system.ts"
import type { DrainRequest } from "./http-listener.ts"

/*
 * How one server, of one process or several, takes over from another on the same port and data directory without refusing or
 * resetting a connection:
 *
 *     new                          old
 *     share ─────────────────────▶ shares its port; replaces none of its workers any more
 *           ◀──────────── shared N
 *     listens with at least N sockets; routes all new connections to them
 *     leave ─────────────────────▶ answers with `Connection: close`; still accepts what the kernel had already assigned to it
 *     waits; routes all new connections to its first socket
 *     close ─────────────────────▶ closes its listening sockets
 *           ◀────────────── closed
 *     routes connections to any socket             drains, ends
 *           ◀────── (end of file)
 *
 * The kernel selects a socket by its index. The old sockets have the first N indexes. When a socket is closed, the last socket
 * takes its index, so the sockets at the end move. The first new socket, at index N, stays there while an old one is left,
 * because there are at least as many new sockets as old ones. Once it moves, index N is vacant and the kernel picks any socket:
 * by then all of them are new.
 *
 * A new server that dies before `leave` changes nothing; an old one that dies is merely gone sooner.
 *
 * A new server that has not said `leave` within `START_TIMEOUT_MS`, or within `CONTENDED_TIMEOUT_MS` while another one waits,
 * gets `late`: the old one goes on and serves the next. So a process that stands still keeps no other from taking over.
 */

/** How long the old server may take for each step: to share its port, to close its sockets, and to drain. */
const STEP_TIMEOUT_MS = 30_000
/** How long a new server may take to start, from the moment at which the old one has shared its port. */
const START_TIMEOUT_MS = 60_000
/** The same from the moment at which another new server waits, which does so for `STEP_TIMEOUT_MS`. */
const CONTENDED_TIMEOUT_MS = 20_000
/** How long a process that connects may take to say what it wants. */
const GREETING_TIMEOUT_MS = 10_000
/**
 * How long the old server still accepts connections: those already assigned to it, and handshakes whose last packet is on its
 * way or was lost once. It waits at most twice as long for the message that ends this phase.
 */
const ACCEPT_DELAY_MS = 3000
/** The most sockets that an old server may report. The number can grow with each takeover by a server with another worker count. */
const SOCKETS_MAX = 1024
/** Why a server stops when another one has taken over, as the log shows it. */
export const NEXT_SERVER = "its successor"

/** The message to a new server whose start took too long. */
const LATE = "late"

const TIMED_OUT = Symbol("timed out")

/** Where the control socket of a server is: in its data directory, named after its port. */
export type ControlSocketLocation = { readonly dataDirectory: string; readonly port: number }

const controlSocketPath = ({ dataDirectory, port }: ControlSocketLocation): string =>
  join(dataDirectory, `server-${port}.sock`)

/** Whether a server of this data directory has the port, as far as this user may see. */
export async function isServedFrom({ controlSockets }: System, location: ControlSocketLocation): Promise<boolean> {
  const connection = await controlSockets.connect(controlSocketPath(location))
  connection?.close()
  return connection !== null
}

/** Directs new connections to some of the sockets on the port. */
export type ConnectionRouting = {
  /** The number of listening sockets of this server. */
  readonly socketCount: () => number
  /** Routes new connections to `count` sockets from `firstIndex` on; false if the system cannot do it. */
  readonly route: (firstIndex: number, count: number) => Promise<boolean>
}

/** A running server that has shared its port with this one. */
export type PreviousServer = {
  /** The number of its listening sockets. */
  readonly socketCount: number
  /** Call it before `takeOver`. Rejects with `StartupError` if the start took too long and the previous server goes on. */
  readonly assertWaiting: () => Promise<void>
  /** Call it when this server listens: makes the previous one drain, and resolves when it has ended or taken too long. */
  readonly takeOver: (log: Log, routing: ConnectionRouting) => Promise<void>
}

/** How many sockets each of `processCount` processes opens, so that together they have no fewer than the previous server. */
export const socketsPerProcess = (previous: PreviousServer | null, processCount: number): number =>
  previous === null ? 1 : Math.ceil(previous.socketCount / processCount)

/** Asks the running server to share its port; `null` means that none runs. Rejects with `StartupError` if it cannot share. */
export async function findPreviousServer(
  system: System,
  location: ControlSocketLocation,
): Promise<PreviousServer | null> {
  if (location.port === 0) throw new StartupError("Port 0 has no running server to replace. Set MAILKIND_PORT.")
  const connection = await system.controlSockets.connect(controlSocketPath(location))
  if (connection === null) return null
  connection.send("share")
  const reply = await receive(system, connection)
  const socketCount = Number(typeof reply === "string" ? (/^shared (\d{1,4})$/.exec(reply)?.[1] ?? 0) : 0)
  if (socketCount >= 1 && socketCount <= SOCKETS_MAX) {
    // Nothing comes before `leave` unless the start takes too long.
    const next = connection.receive()
    return {
      socketCount,
      assertWaiting: () => assertWaiting(system, connection, next),
      takeOver: (log, routing) => takeOver(system, connection, next, { firstIndex: socketCount, routing, log }),
    }
  }
  connection.close()
  if (reply === TIMED_OUT)
    throw new StartupError(
      "The running server does not answer. Stop it (with SIGKILL if necessary) and start this one.",
    )
  if (reply === null)
    throw new StartupError("The running server is stopping, or another one replaces it. Start this one again.")
  throw new StartupError("The running server cannot share its port on this system. Stop it, and start this one.")
}

async function assertWaiting(
  system: System,
  connection: ControlConnection,
  next: Promise<string | null>,
): Promise<void> {
  // A message that came during the start is read now.
  if ((await Promise.race([next, system.sleep(0)])) !== LATE) return
  connection.close()
  throw new StartupError("This start took too long, so the running server continues. Start this one again.")
}

type Takeover = { readonly firstIndex: number; readonly routing: ConnectionRouting; readonly log: Log }

async function takeOver(
  system: System,
  connection: ControlConnection,
  next: Promise<string | null>,
  { firstIndex, routing, log }: Takeover,
): Promise<void> {
  if (!(await routing.route(firstIndex, routing.socketCount())))
    log("warn", "connections that are being opened now may be lost")
  connection.send("leave")
  await system.sleep(ACCEPT_DELAY_MS)
  await routing.route(firstIndex, 1)
  connection.send("close")
  const reply = await withTimeout(system.setTimer, STEP_TIMEOUT_MS, next, TIMED_OUT)
  await routing.route(NO_SOCKET_INDEX, 1)
  const end = reply === "closed" ? await receive(system, connection) : null
  connection.close()
  if (reply === LATE)
    log("error", "the previous server continues, because this one was late; stop the previous one", {
      remedy: "Both answer on the port. Send SIGTERM to the older process of the two.",
    })
  else if (end === TIMED_OUT)
    log("warn", "the previous server has not ended yet", { remedy: "It ends with its last request. If not, end it." })
  else log("info", "the previous server has ended")
}

/** The next message; `null` if the other process has ended, `TIMED_OUT` if it took longer than a step may. */
const receive = (
  { setTimer }: System,
  connection: ControlConnection,
  timeoutMs: number = STEP_TIMEOUT_MS,
): Promise<string | null | typeof TIMED_OUT> => withTimeout(setTimer, timeoutMs, connection.receive(), TIMED_OUT)

/** What a server does while another one takes over. */
export type TakeoverHooks = {
  /** Lets the other server listen on the port too. Resolves with the number of own sockets, or `null` if the system cannot share. */
  readonly sharePort: () => Promise<number | null>
  /** The other server did not take over: this one keeps the port. */
  readonly onAbort: () => void
}

/** Accepts takeovers until it is stopped. */
export type TakeoverListener = {
  /** Resolves when another server has taken over and asks this one to drain. */
  readonly drainRequested: Promise<DrainRequest>
  readonly stop: () => void
}

/** The turn of one takeover. `contended` resolves when another takeover has waited for `CONTENDED_TIMEOUT_MS`. */
type TakeoverTurn = { readonly contended: () => Promise<typeof TIMED_OUT>; readonly end: () => void }

/** Gives takeovers their turns, one after the other, from when `previousEnded` resolves. */
function createTurns({ setTimer }: System, previousEnded: Promise<void>) {
  let lastTurn = previousEnded
  let contend = (): void => undefined
  const wait = async (): Promise<TakeoverTurn> => {
    const turn = Promise.withResolvers<void>()
    const earlier = lastTurn
    lastTurn = turn.promise
    const cancelTimer = setTimer(CONTENDED_TIMEOUT_MS, () => contend())
    await earlier
    cancelTimer()
    const contended = (): Promise<typeof TIMED_OUT> =>
      new Promise(resolve => {
        contend = () => resolve(TIMED_OUT)
      })
    return { contended, end: turn.resolve }
  }
  return { wait }
}

/**
 * Waits for a server that takes over from this one. Requests wait until `previousEnded` resolves and while another takeover is
 * in progress: with three servers on one port, the kernel could not be told which sockets to choose.
 */
export function acceptTakeovers(
  system: System,
  location: ControlSocketLocation,
  hooks: TakeoverHooks,
  previousEnded: Promise<void>,
  log: Log,
): TakeoverListener {
  const drainRequest = Promise.withResolvers<DrainRequest>()
  const turns = createTurns(system, previousEnded)
  let isReplaced = false
  const handleLeave = async (connection: ControlConnection): Promise<void> => {
    isReplaced = true
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancelTimer = system.setTimer(2 * ACCEPT_DELAY_MS, resolve)
    drainRequest.resolve({ mayClose: promise.finally(cancelTimer), onClosed: () => connection.send("closed") })
    await connection.receive()
    resolve()
  }
  const handleConnection = async (connection: ControlConnection): Promise<void> => {
    if ((await receive(system, connection, GREETING_TIMEOUT_MS)) !== "share") return connection.close()
    const turn = await turns.wait()
    // The end of this process closes the connection, which tells the other server.
    if (isReplaced) return
    const socketCount = await hooks.sharePort()
    connection.send(socketCount === null ? "cannot" : `shared ${socketCount}`)
    const message = await Promise.race([receive(system, connection, START_TIMEOUT_MS), turn.contended()])
    if (message === "leave") await handleLeave(connection)
    else {
      if (message === TIMED_OUT) connection.send(LATE)
      if (message !== null) connection.close()
      hooks.onAbort()
    }
    turn.end()
  }
  const { promise: drainRequested } = drainRequest
  // No other server can know a port that the system picked.
  if (location.port === 0) return { drainRequested, stop: () => undefined }
  const where = controlSocketPath(location)
  const stop = system.controlSockets.listen(where, connection => void handleConnection(connection))
  if (stop === null) log("warn", "no server can take over from this one", { where, remedy: NO_SOCKET_REMEDY })
  return { drainRequested, stop: stop ?? (() => undefined) }
}

const NO_SOCKET_REMEDY =
  "Make the data directory writable for this user, free some space on its disk, and keep its path below 100 characters. Or stop and start instead of `--replace`."
