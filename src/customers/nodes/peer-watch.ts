import { type Fetch, readTextBody, urlPlace } from "../../base/fetch.ts"
import type { Log } from "../../base/log.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { parseJson } from "../../base/text.ts"
import { createIntervals } from "../../base/time.ts"
import { ownMember } from "../../base/untrusted-text.ts"

/** How often peers are asked while this node cannot reach the database, and how long they have to answer. */
const ASK_MS = 1000
/** The most that is read of an answer. */
const HEALTH_BYTES_MAX = 1024 * 1024
/** How many peers are asked at once. One that can serve is enough. */
const PEERS_ASKED_MAX = 8

/** The dependencies of a peer watch. */
export type PeerWatchDeps = {
  readonly fetchUrl: Fetch
  readonly setTimer: SetTimer
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  /** Whether this node cannot reach the database. */
  readonly isUnavailable: () => boolean
  /** The base addresses of the other nodes that lived when the database was last read. */
  readonly peers: () => readonly string[]
  readonly userAgent: string
  readonly log: Log
}

/** Knows whether this node is cut off from a database that other nodes reach. */
export type PeerWatch = {
  /** Whether another node has said within the last seconds that it reaches the database, while this one does not. */
  readonly isCutOff: () => boolean
  readonly start: () => void
  readonly stop: () => void
}

/** Asks peers for their health, but only while this node cannot reach the database. */
export function createPeerWatch({
  fetchUrl,
  setTimer,
  runInterval,
  isUnavailable,
  peers,
  userAgent,
  log,
}: PeerWatchDeps): PeerWatch {
  const rounds = new SingleFlight<"ask", void>()
  let hasPeerWithDatabase = false
  /** Whether this outage was logged. */
  let isTold = false
  const ask = async (): Promise<void> => {
    const asked = peers().slice(0, PEERS_ASKED_MAX)
    const answers = await Promise.all(asked.map(peer => reachesDatabase(peer, { fetchUrl, setTimer, userAgent })))
    const isCutOff = isUnavailable() && answers.includes(true)
    if (isCutOff && !isTold) {
      isTold = true
      log("warn", "this server is cut off from a database that others reach", {
        where: urlPlace(asked[answers.indexOf(true)] ?? ""),
        remedy:
          "The server at that address reaches it. Check the network and the firewall between this host and the database.",
      })
    }
    hasPeerWithDatabase = isCutOff
  }
  const intervals = createIntervals(runInterval, [
    [
      ASK_MS,
      () => {
        if (isUnavailable()) void rounds.run("ask", ask)
        else {
          hasPeerWithDatabase = false
          isTold = false
        }
      },
    ],
  ])
  return { isCutOff: () => hasPeerWithDatabase && isUnavailable(), start: intervals.start, stop: intervals.stop }
}

/** Whether a peer says that it reaches the database. Never rejects. */
async function reachesDatabase(
  peer: string,
  { fetchUrl, setTimer, userAgent }: Pick<PeerWatchDeps, "fetchUrl" | "setTimer" | "userAgent">,
): Promise<boolean> {
  const timeout = new AbortController()
  const cancel = setTimer(ASK_MS, () => timeout.abort())
  try {
    const headers = { "user-agent": userAgent }
    const response = await fetchUrl(`${peer}/v1/health`, { signal: timeout.signal, headers })
    if (response.status !== 200) {
      await response.body?.cancel()
      return false
    }
    const health = parseJson((await readTextBody(response, HEALTH_BYTES_MAX)) ?? "")
    return ownMember(ownMember(health, "database"), "status") === "ok"
  } catch {
    // It does not answer, or answers something else: it serves nobody either.
    return false
  } finally {
    cancel()
  }
}
