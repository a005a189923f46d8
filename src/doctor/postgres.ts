import { KNOWN_HEAD } from "../customers/store/look.ts"
import type { PostgresLook } from "../customers/store/postgres-look.ts"
import { STORE_FAULTS, StoreFault } from "../customers/store/store-fault.ts"
import { MAIL_WAITS_MS_MAX } from "./database.ts"
import { doubtful, type Examined, failing, skipped, well } from "./examined.ts"

/** Which part of the connections that a server takes may be in use before that is told. */
const CONNECTIONS_PART_MAX = 0.8

/** What comes of a look into the PostgreSQL database, or of one that failed. */
export async function examinePostgres(looking: Promise<PostgresLook>): Promise<Examined> {
  return await looked(looking, look => {
    const { place, version, head, accountsCount, keysCount, nodesCount, bytes } = look
    const megabytes = (bytes / (1024 * 1024)).toFixed(1)
    const seen = `PostgreSQL ${version} at ${place}: ${accountsCount} accounts, ${keysCount} keys, ${nodesCount} nodes, ${megabytes} MiB, tables at ${head ?? 0}.`
    if (!look.isWritable) return failing(`${seen} It is a standby.`, STORE_FAULTS.standby.remedy)
    if (head === null) return skipped(`${seen} It has no tables yet: the first start makes them.`)
    if (head > KNOWN_HEAD) return failing(`${seen} This version knows ${KNOWN_HEAD}.`, STORE_FAULTS.newer.remedy)
    return doubts(look, seen) ?? well(seen)
  })
}

function doubts(look: PostgresLook, seen: string): Examined | null {
  if (look.head !== null && look.head < KNOWN_HEAD)
    return doubtful(
      `${seen} This version has ${KNOWN_HEAD}.`,
      "Make a backup with pg_dump: the next start brings them up to date.",
    )
  if (!look.isDurable)
    return doubtful(
      `${seen} It acknowledges what is not on a disk yet.`,
      "Set fsync and synchronous_commit to on: a revocation that was acknowledged must not be lost.",
    )
  if (look.connectionsCount <= look.connectionsMax * CONNECTIONS_PART_MAX) return null
  return doubtful(
    `${seen} ${look.connectionsCount} of ${look.connectionsMax} connections are in use.`,
    STORE_FAULTS.crowded.remedy,
  )
}

/** Looks how long mails wait in the outbox of that database. */
export async function examinePostgresOutbox(
  looking: Promise<PostgresLook>,
  nowMs: number,
  hasServer: boolean,
): Promise<Examined> {
  return await looked(looking, ({ waitingMails: { count, sinceMs } }) => {
    if (sinceMs === null) return well("No mail waits.")
    const seen = `${count} ${count === 1 ? "mail waits" : "mails wait"}, the oldest for ${Math.max(0, Math.floor((nowMs - sinceMs) / 60_000))} minutes.`
    if (!hasServer) return doubtful(seen, "Set MAILKIND_SMTP_URL: without it no mail is sent.")
    if (nowMs - sinceMs <= MAIL_WAITS_MS_MAX) return well(seen)
    return doubtful(seen, "See what is told here of smtp, and what the log of the server says of mails.")
  })
}

async function looked(looking: Promise<PostgresLook>, work: (look: PostgresLook) => Examined): Promise<Examined> {
  try {
    return work(await looking)
  } catch (fault) {
    if (fault instanceof StoreFault) return failing(fault.message, fault.remedy)
    throw fault
  }
}
