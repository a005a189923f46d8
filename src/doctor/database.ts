import { countIn, faultsIn, KNOWN_HEAD, type Look, lookInto } from "../customers/store/look.ts"
import { STORE_FAULTS, StoreFault } from "../customers/store/store-fault.ts"
import { doubtful, type Examined, failing, skipped, well } from "./examined.ts"

/** SQLite folds its log into the database at about 4 MB; a longer one has a reader that never ends. */
export const WAL_BYTES_MAX = 64 * 1024 * 1024

/** How long a mail may wait before it is told of. Servers that want it later take a few minutes. */
export const MAIL_WAITS_MS_MAX = 3_600_000

/** Reads every page of the database, which takes about a second for each 500 MB, and keeps this process meanwhile. */
export function examineDatabase(path: string): Examined {
  return looked(path, look => wholeness(look) ?? level(look))
}

/** Looks how long mails wait in the outbox. */
export function examineOutbox(path: string, nowMs: number, hasServer: boolean): Examined {
  return looked(path, look => {
    if (!look.hasTable("outbox")) return skipped("The database has no outbox yet.")
    const [waiting] = look.all<{ count: number; since: number | null }>(
      "SELECT COUNT(*) AS count, MIN(written_at_ms) AS since FROM outbox WHERE ended_at_ms IS NULL",
    )
    if (waiting === undefined || waiting.since === null) return well("No mail waits.")
    const minutes = Math.max(0, Math.floor((nowMs - waiting.since) / 60_000))
    const seen = `${waiting.count} ${waiting.count === 1 ? "mail waits" : "mails wait"}, the oldest for ${minutes} minutes.`
    if (!hasServer) return doubtful(seen, "Set MAILKIND_SMTP_URL: without it no mail is sent.")
    if (nowMs - waiting.since <= MAIL_WAITS_MS_MAX) return well(seen)
    return doubtful(seen, "See what is told here of smtp, and what the log of the server says of mails.")
  })
}

/** When the database was last written, as far as its rows tell; null: they do not, or it cannot be read. */
export function lastWrittenAtMs(path: string): number | null {
  try {
    return lookInto(path, look => {
      const times = [...look.all<{ at: number | null }>("SELECT MAX(ran_at_ms) AS at FROM migrations")]
      if (look.hasTable("changes"))
        times.push(...look.all<{ at: number | null }>("SELECT MAX(at_ms) AS at FROM changes"))
      return Math.max(...times.map(({ at }) => at ?? 0))
    })
  } catch (fault) {
    // What is wrong with it is told where the database is.
    if (fault instanceof StoreFault) return null
    throw fault
  }
}

/** A database that fails us is told in the words of that fault; one that is not there, is no fault. */
function looked(path: string, work: (look: Look) => Examined): Examined {
  try {
    return lookInto(path, work) ?? skipped("There is no database yet: the first start makes it.")
  } catch (fault) {
    if (fault instanceof StoreFault) return failing(fault.message, fault.remedy)
    throw fault
  }
}

function wholeness(look: Look): Examined | null {
  const faults = faultsIn(look)
  if (faults.length > 0)
    return failing(`${faults.length} or more pages or indexes are damaged: ${faults[0]}.`, STORE_FAULTS.damaged.remedy)
  const [broken] = look.all<{ name: string }>('SELECT "table" AS name FROM pragma_foreign_key_check LIMIT 1')
  if (broken === undefined) return null
  return failing(`A row of ${broken.name} belongs to a row that is gone.`, STORE_FAULTS.damaged.remedy)
}

function level(look: Look): Examined {
  const megabytes = (look.bytes / (1024 * 1024)).toFixed(1)
  const seen = `Whole: ${countIn(look, "accounts")} accounts, ${countIn(look, "keys")} keys, ${megabytes} MiB, tables at ${look.head}.`
  if (look.head > KNOWN_HEAD) return failing(`${seen} This version knows ${KNOWN_HEAD}.`, STORE_FAULTS.newer.remedy)
  if (look.head < KNOWN_HEAD)
    return doubtful(
      `${seen} This version has ${KNOWN_HEAD}.`,
      "Nothing: the next start keeps a copy, and brings them up to date.",
    )
  if (look.walBytes > WAL_BYTES_MAX)
    return doubtful(
      `${seen} Its log has ${Math.floor(look.walBytes / (1024 * 1024))} MiB.`,
      "Find the program that keeps the database open without an end, and stop it.",
    )
  return well(seen)
}
