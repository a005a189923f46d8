import { join } from "node:path"
import type { Log } from "../base/log.ts"
import type { Settings } from "../config/settings.ts"
import type { ControlConnection } from "../system/control-socket.ts"
import { NO_SOCKET_INDEX } from "../system/reuse-port.ts"
import type { System } from "../system/system.ts"
import type { DrainRequest } from "./http-listener.ts"
import { StartupError } from "./startup-error.ts"

/*
 * How one server, of one process or of several, takes over from another on the same port and data directory, so that no
 * connection is refused or reset:
 *
 *     new                          old
 *     share ─────────────────────▶ lets others listen on its port; replaces none of its workers any more
 *           ◀──────────── shared N
 *     listens, with N sockets at least; has the system give all new connections to them
 *     leave ─────────────────────▶ answers with `Connection: close`, and accepts what it was still given
 *     lingers; has the system give all new connections to its first socket
 *     close ─────────────────────▶ listens no longer
 *           ◀────────────── closed
 *     has the system give them to any socket       drains, ends
 *           ◀────── (end of file)
 *
 * The system picks a socket by its position. The old ones have the first N, and whenever one is closed the last socket of all
 * takes its place: so those at the end move, but the first new one, at position N, stays where it is as long as an old one is
 * left, since there are as many new ones as old ones. When it moves, nobody is at position N, and any is picked: each is new.
 *
 * A new one that dies before `leave` changes nothing; an old one that dies is only gone sooner.
 */

/** How long the old server may take for each step: to let this one in, to stop listening, to drain and to write what it holds. */
const STEP_TIMEOUT_MS = 30_000
/**
 * How long the old server goes on accepting: what the system had promised it before, and handshakes whose last packet is still
 * on its way, or was lost once. It waits no longer than twice as long for being told that this is over.
 */
const ACCEPT_DELAY_MS = 3000
/** On how many sockets a server is let listen. Their number may grow with each server whose workers are others in number. */
const SOCKETS_MAX = 1024

/** How a server says which sockets are to get new connections. */
export type ConnectionRouting = {
  /** On how many sockets it listens. */
  readonly socketCount: () => number
  /** Has `count` of the sockets on the port, from a position on, get them; false: that cannot be had. */
  readonly route: (position: number, count: number) => Promise<boolean>
}

/** The server before this one, which has let this one in on its port. */
export type PreviousServer = {
  /** On how many sockets it listens. */
  readonly socketCount: number
  /** To be called when this server listens: has it leave, and resolves when it is gone, or has taken too long. */
  readonly takeOver: (log: Log, steering: ConnectionRouting) => Promise<void>
}

/** On how many sockets each of so many processes listens: together on no fewer than the server that they replace. */
export const socketsPerProcess = (before: PreviousServer | null, count: number): number =>
  before === null ? 1 : Math.ceil(before.socketCount / count)

const controlSocketPath = (settings: Settings, port: number): string =>
  join(settings.MAILKIND_DATA_DIR, `server-${port}.sock`)

/** The server that is to be replaced; null: none runs here. Rejects with `StartupError` when it cannot let this one in. */
export async function findPreviousServer(world: System, settings: Settings): Promise<PreviousServer | null> {
  const port = settings.MAILKIND_PORT
  if (port === 0) throw new StartupError("There is nobody to replace on a free port: set MAILKIND_PORT.")
  const meeting = await world.controlSockets.connect(controlSocketPath(settings, port))
  if (meeting === null) return null
  meeting.send("share")
  const answer = await receiveWithin(world, meeting, STEP_TIMEOUT_MS)
  const socketCount = Number(/^shared (\d{1,4})$/.exec(answer ?? "")?.[1] ?? 0)
  if (socketCount >= 1 && socketCount <= SOCKETS_MAX)
    return { socketCount, takeOver: (log, steering) => runTakeover(world, meeting, socketCount, steering, log) }
  meeting.close()
  if (answer === TIMED_OUT)
    throw new StartupError("The running server does not answer: stop it, by SIGKILL if it must be, and start this one.")
  if (answer === null)
    throw new StartupError("The running server ends, or another one replaces it: start this one again.")
  throw new StartupError("The running server cannot share its port on this system: stop it, and start this one.")
}

async function runTakeover(
  world: System,
  meeting: ControlConnection,
  position: number,
  steering: ConnectionRouting,
  log: Log,
) {
  if (!(await steering.route(position, steering.socketCount())))
    log("warn", "connections that are opened just now may be lost")
  meeting.send("leave")
  await world.sleep(ACCEPT_DELAY_MS)
  await steering.route(position, 1)
  meeting.send("close")
  const isClosed = (await receiveWithin(world, meeting, STEP_TIMEOUT_MS)) === "closed"
  await steering.route(NO_SOCKET_INDEX, 1)
  const end = isClosed ? await receiveWithin(world, meeting, STEP_TIMEOUT_MS) : null
  meeting.close()
  if (end === TIMED_OUT) log("warn", "the server before this one has not ended yet")
  else log("info", "the server before this one is gone")
}

/** No word, which is none that is ever said. */
const TIMED_OUT = " late"

async function receiveWithin({ setTimer }: System, meeting: ControlConnection, ms: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const callOff = setTimer(ms, () => resolve(TIMED_OUT))
  return await Promise.race([meeting.receive(), promise]).finally(callOff)
}

/** How a server has its port to itself, or not. */
export type TakeoverHooks = {
  /** Lets another one listen on the port too; resolves with on how many sockets this one does, null: that cannot be had here. */
  readonly sharePort: () => Promise<number | null>
  /** The other one has not taken over: the place is this server's as before. */
  readonly onAbort: () => void
}

/**
 * `asked` resolves when another server has taken this one's place and asks it to leave. Nobody is let in before `isFree`, nor
 * beside one that has been let in: of three on one port, the system would not know whom to choose. `end`: nobody is any more.
 */
export function acceptTakeover(
  world: System,
  settings: Settings,
  place: TakeoverHooks,
  isFree: Promise<void>,
  log: Log,
) {
  const asked = Promise.withResolvers<DrainRequest>()
  let turn = isFree
  let isLeft = false
  const leave = (meeting: ControlConnection): (() => void) => {
    isLeft = true
    const { promise: mayClose, resolve } = Promise.withResolvers<void>()
    const callOff = world.setTimer(2 * ACCEPT_DELAY_MS, resolve)
    asked.resolve({ mayClose: mayClose.finally(callOff), onClosed: () => meeting.send("closed") })
    return resolve
  }
  const met = async (meeting: ControlConnection): Promise<void> => {
    if ((await meeting.receive()) !== "share") return meeting.close()
    const over = Promise.withResolvers<void>()
    const before = turn
    turn = over.promise
    await before
    // It has been told that it is gone by the end of this server.
    if (isLeft) return
    const count = await place.sharePort()
    meeting.send(count === null ? "cannot" : `shared ${count}`)
    const word = await meeting.receive()
    if (word === "leave") {
      const close = leave(meeting)
      await meeting.receive()
      close()
    } else {
      if (word !== null) meeting.close()
      place.onAbort()
    }
    over.resolve()
  }
  // On a port that was free, nobody would look for it.
  if (settings.MAILKIND_PORT === 0) return { asked: asked.promise, end: () => undefined }
  const end = world.controlSockets.listen(
    controlSocketPath(settings, settings.MAILKIND_PORT),
    meeting => void met(meeting),
  )
  if (end === null)
    log(
      "warn",
      "`serve --replace` will not find this server: no socket can be in the data directory, or its path is too long",
    )
  return { asked: asked.promise, end: end ?? (() => undefined) }
}

/** What a server is asked to stop by when another has taken its place. */
export const NEXT_SERVER = "its successor"
