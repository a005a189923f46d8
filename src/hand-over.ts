import { join } from "node:path"
import type { Log } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import type { Settings } from "./config/settings.ts"
import type { World } from "./world.ts"
import type { Meeting } from "./world-meetings.ts"

/*
 * How one server takes over from another on the same port and data directory, so that no connection is refused or reset:
 *
 *     new                          old
 *     share ─────────────────────▶ lets others listen on its port
 *           ◀───────────── shared
 *     listens; has the system give it all new connections
 *     leave ─────────────────────▶ answers with `Connection: close`, accepts what it was still given, drains, ends
 *           ◀────── (end of file)
 *
 * A new one that dies before `leave` changes nothing; an old one that dies is only gone sooner.
 */

/** How long the old server may take to leave: to linger, to drain, and to write what it holds. */
const LEAVE_MS_MAX = 30_000

/** The server before this one, which has let this one in on its port. */
export type Predecessor = {
  /** To be called when this server listens: has it leave, and resolves when it is gone, or has taken too long. */
  readonly replaced: (log: Log) => Promise<void>
}

const placeOf = (settings: Settings, port: number): string => join(settings.MAILKIND_DATA_DIR, `server-${port}.sock`)

/** The server that is to be replaced; null: none runs here. Rejects with `CannotStart` when it cannot let this one in. */
export async function predecessor(world: World, settings: Settings): Promise<Predecessor | null> {
  const port = settings.MAILKIND_PORT
  if (port === 0) throw new CannotStart("There is nobody to replace on a free port: set MAILKIND_PORT.")
  const meeting = await world.meetings.visit(placeOf(settings, port))
  if (meeting === null) return null
  meeting.say("share")
  const answer = await heardWithin(world, meeting, LEAVE_MS_MAX)
  if (answer !== "shared") meeting.end()
  if (answer === LATE)
    throw new CannotStart("The running server does not answer: stop it, by SIGKILL if it must be, and start this one.")
  if (answer !== "shared")
    throw new CannotStart("The running server cannot share its port on this system: stop it, and start this one.")
  return {
    replaced: async log => {
      if (!world.listeners.attract(port)) log("warn", "connections that are opened just now may be lost")
      meeting.say("leave")
      const end = await heardWithin(world, meeting, LEAVE_MS_MAX)
      meeting.end()
      if (end === LATE) log("warn", "the server before this one has not ended yet")
      else log("info", "the server before this one is gone")
    },
  }
}

/** No word, which is none that is ever said. */
const LATE = " late"

async function heardWithin({ later }: World, meeting: Meeting, ms: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const callOff = later(ms, () => resolve(LATE))
  return await Promise.race([meeting.hear(), promise]).finally(callOff)
}

/**
 * `asked` resolves when another server has taken this one's place and asks it to leave. Nobody is let in before `isFree`: of
 * three on one port, the system would not know whom to choose. `end`: nobody is any more.
 */
export function successor(world: World, settings: Settings, port: number, isFree: Promise<void>, log: Log) {
  const asked = Promise.withResolvers<string>()
  const met = async (meeting: Meeting): Promise<void> => {
    for (let word = await meeting.hear(); word !== null; word = await meeting.hear()) {
      if (word === "share") {
        await isFree
        meeting.say(world.listeners.share(port) ? "shared" : "cannot")
      } else if (word === "leave") asked.resolve(SUCCESSOR)
      else meeting.end()
    }
  }
  // On a port that was free, nobody would look for it.
  if (settings.MAILKIND_PORT === 0) return { asked: asked.promise, end: () => undefined }
  const end = world.meetings.host(placeOf(settings, port), meeting => void met(meeting))
  if (end === null)
    log(
      "warn",
      "`serve --replace` will not find this server: no socket can be in the data directory, or its path is too long",
    )
  return { asked: asked.promise, end: end ?? (() => undefined) }
}

/** What a server is asked to stop by when another has taken its place. */
export const SUCCESSOR = "its successor"
