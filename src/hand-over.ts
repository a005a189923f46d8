import { join } from "node:path"
import type { Log } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import type { Settings } from "./config/settings.ts"
import type { Leaving } from "./listening.ts"
import type { World } from "./world.ts"
import { NOWHERE } from "./world-listeners.ts"
import type { Meeting } from "./world-meetings.ts"

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
const STEP_MS_MAX = 30_000
/**
 * How long the old server goes on accepting: what the system had promised it before, and handshakes whose last packet is still
 * on its way, or was lost once. It waits no longer than twice as long for being told that this is over.
 */
const LINGER_MS = 3000
/** On how many sockets a server is let listen. Their number may grow with each server whose workers are others in number. */
const LISTENERS_MAX = 1024

/** How a server says which sockets are to get new connections. */
export type Steering = {
  /** On how many sockets it listens. */
  readonly listenersCount: () => number
  /** Has `count` of the sockets on the port, from a position on, get them; false: that cannot be had. */
  readonly steer: (position: number, count: number) => Promise<boolean>
}

/** The server before this one, which has let this one in on its port. */
export type Predecessor = {
  /** On how many sockets it listens. */
  readonly listenersCount: number
  /** To be called when this server listens: has it leave, and resolves when it is gone, or has taken too long. */
  readonly replaced: (log: Log, steering: Steering) => Promise<void>
}

/** On how many sockets each of so many processes listens: together on no fewer than the server that they replace. */
export const listenersOfEach = (before: Predecessor | null, count: number): number =>
  before === null ? 1 : Math.ceil(before.listenersCount / count)

const placeOf = (settings: Settings, port: number): string => join(settings.MAILKIND_DATA_DIR, `server-${port}.sock`)

/** The server that is to be replaced; null: none runs here. Rejects with `CannotStart` when it cannot let this one in. */
export async function predecessor(world: World, settings: Settings): Promise<Predecessor | null> {
  const port = settings.MAILKIND_PORT
  if (port === 0) throw new CannotStart("There is nobody to replace on a free port: set MAILKIND_PORT.")
  const meeting = await world.meetings.visit(placeOf(settings, port))
  if (meeting === null) return null
  meeting.say("share")
  const answer = await heardWithin(world, meeting, STEP_MS_MAX)
  const listenersCount = Number(/^shared (\d{1,4})$/.exec(answer ?? "")?.[1] ?? 0)
  if (listenersCount >= 1 && listenersCount <= LISTENERS_MAX)
    return { listenersCount, replaced: (log, steering) => replace(world, meeting, listenersCount, steering, log) }
  meeting.end()
  if (answer === LATE)
    throw new CannotStart("The running server does not answer: stop it, by SIGKILL if it must be, and start this one.")
  if (answer === null)
    throw new CannotStart("The running server ends, or another one replaces it: start this one again.")
  throw new CannotStart("The running server cannot share its port on this system: stop it, and start this one.")
}

async function replace(world: World, meeting: Meeting, position: number, steering: Steering, log: Log) {
  if (!(await steering.steer(position, steering.listenersCount())))
    log("warn", "connections that are opened just now may be lost")
  meeting.say("leave")
  await world.after(LINGER_MS)
  await steering.steer(position, 1)
  meeting.say("close")
  const isClosed = (await heardWithin(world, meeting, STEP_MS_MAX)) === "closed"
  await steering.steer(NOWHERE, 1)
  const end = isClosed ? await heardWithin(world, meeting, STEP_MS_MAX) : null
  meeting.end()
  if (end === LATE) log("warn", "the server before this one has not ended yet")
  else log("info", "the server before this one is gone")
}

/** No word, which is none that is ever said. */
const LATE = " late"

async function heardWithin({ later }: World, meeting: Meeting, ms: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const callOff = later(ms, () => resolve(LATE))
  return await Promise.race([meeting.hear(), promise]).finally(callOff)
}

/** How a server has its port to itself, or not. */
export type Place = {
  /** Lets another one listen on the port too; resolves with on how many sockets this one does, null: that cannot be had here. */
  readonly share: () => Promise<number | null>
  /** The other one has not taken over: the place is this server's as before. */
  readonly keep: () => void
}

/**
 * `asked` resolves when another server has taken this one's place and asks it to leave. Nobody is let in before `isFree`, nor
 * beside one that has been let in: of three on one port, the system would not know whom to choose. `end`: nobody is any more.
 */
export function successor(world: World, settings: Settings, place: Place, isFree: Promise<void>, log: Log) {
  const asked = Promise.withResolvers<Leaving>()
  let turn = isFree
  let isLeft = false
  const leave = (meeting: Meeting): (() => void) => {
    isLeft = true
    const { promise: mayClose, resolve } = Promise.withResolvers<void>()
    const callOff = world.later(2 * LINGER_MS, resolve)
    asked.resolve({ mayClose: mayClose.finally(callOff), closed: () => meeting.say("closed") })
    return resolve
  }
  const met = async (meeting: Meeting): Promise<void> => {
    if ((await meeting.hear()) !== "share") return meeting.end()
    const over = Promise.withResolvers<void>()
    const before = turn
    turn = over.promise
    await before
    // It has been told that it is gone by the end of this server.
    if (isLeft) return
    const count = await place.share()
    meeting.say(count === null ? "cannot" : `shared ${count}`)
    const word = await meeting.hear()
    if (word === "leave") {
      const close = leave(meeting)
      await meeting.hear()
      close()
    } else {
      if (word !== null) meeting.end()
      place.keep()
    }
    over.resolve()
  }
  // On a port that was free, nobody would look for it.
  if (settings.MAILKIND_PORT === 0) return { asked: asked.promise, end: () => undefined }
  const end = world.meetings.host(placeOf(settings, settings.MAILKIND_PORT), meeting => void met(meeting))
  if (end === null)
    log(
      "warn",
      "`serve --replace` will not find this server: no socket can be in the data directory, or its path is too long",
    )
  return { asked: asked.promise, end: end ?? (() => undefined) }
}

/** What a server is asked to stop by when another has taken its place. */
export const SUCCESSOR = "its successor"
