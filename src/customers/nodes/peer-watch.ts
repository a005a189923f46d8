import { type Fetch, readTextBody, urlPlace } from "../../base/fetch.ts"
import type { Log } from "../../base/log.ts"
import type { SetTimer, Stopwatch } from "../../base/outside-world.ts"
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

const REMEDY =
  "The server at that address reaches it. Check the network and the firewall between this host and the database."

/** The dependencies of a peer watch. */
export type PeerWatchDeps = {
  readonly fetchUrl: Fetch
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
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
  /** Whether another node has said within the last seconds that the database has answered it since this one lost it. */
  readonly isCutOff: () => boolean
  readonly start: () => void
  readonly stop: () => void
}

/** Asks peers for their health, but only while this node cannot reach the database. */
export function createPeerWatch({
  fetchUrl,
  setTimer,
  stopwatch,
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
  /** Since when this node is known not to reach the database; null: it does. */
  let sinceMs: number | null = null
  const ask = async (): Promise<void> => {
    const asked = peers().slice(0, PEERS_ASKED_MAX)
    const lostMs = sinceMs === null ? 0 : stopwatch() - sinceMs
    const ages = await Promise.all(asked.map(peer => databaseAnswered(peer, { fetchUrl, setTimer, userAgent })))
    // A database that is away for all is lost by one node before the others notice.
    const answers = ages.map(age => age !== null && age < lostMs)
    const isCutOff = isUnavailable() && answers.includes(true)
    if (isCutOff && !isTold) {
      isTold = true
      log("warn", "this server is cut off from a database that others reach", {
        where: urlPlace(asked[answers.indexOf(true)] ?? ""),
        remedy: REMEDY,
      })
    }
    hasPeerWithDatabase = isCutOff
  }
  const intervals = createIntervals(runInterval, [
    [
      ASK_MS,
      () => {
        if (isUnavailable()) {
          sinceMs ??= stopwatch()
          void rounds.run("ask", ask)
        } else {
          sinceMs = null
          hasPeerWithDatabase = false
          isTold = false
        }
      },
    ],
  ])
  return { isCutOff: () => hasPeerWithDatabase && isUnavailable(), start: intervals.start, stop: intervals.stop }
}

/** How long ago a peer that reaches the database says that it had its last answer; null: it does not reach it. Never rejects. */
async function databaseAnswered(
  peer: string,
  { fetchUrl, setTimer, userAgent }: Pick<PeerWatchDeps, "fetchUrl" | "setTimer" | "userAgent">,
): Promise<number | null> {
  const timeout = new AbortController()
  const cancel = setTimer(ASK_MS, () => timeout.abort())
  try {
    const headers = { "user-agent": userAgent }
    const response = await fetchUrl(`${peer}/v1/health`, { signal: timeout.signal, headers })
    if (response.status !== 200) {
      await response.body?.cancel()
      return null
    }
    const health = parseJson((await readTextBody(response, HEALTH_BYTES_MAX)) ?? "")
    const database = ownMember(health, "database")
    const answeredMsAgo = ownMember(database, "answered_ms_ago")
    return ownMember(database, "status") === "ok" && typeof answeredMsAgo === "number" ? answeredMsAgo : null
  } catch {
    // It does not answer, or answers something else: it serves nobody either.
    return null
  } finally {
    cancel()
  }
}
