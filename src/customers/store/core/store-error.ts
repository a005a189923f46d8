type StoreErrorSpec = { readonly description: string; readonly remedy: string }

/** Every way the place where rows are kept can fail us, and what an operator does about it. */
export const STORE_ERRORS = {
  not_a_database: {
    description: "The file is not a database.",
    remedy: "Move the file away and start again, or restore it from a backup.",
  },
  foreign_database: {
    description: "The database belongs to another program: it has tables, but not ours.",
    remedy: "Name another data directory, or another database.",
  },
  newer: {
    description: "The database was written by a newer version of mailkind.",
    remedy: "Run that version or a later one, or restore a backup that was made before the upgrade.",
  },
  unwritable: {
    description: "The database cannot be opened for reading and writing.",
    remedy:
      "Make the data directory and the files in it readable and writable for this user, or name another directory.",
  },
  damaged: {
    description: "The database is damaged.",
    remedy: "Stop mailkind and restore the database from a backup.",
  },
  full: {
    description: "The disk is full.",
    remedy: "Free some space; nothing has been lost, and nothing needs a restart.",
  },
  busy: {
    description: "Another process held the database for too long.",
    remedy: "Find the process that has the database open and let it finish, or stop it.",
  },
  failed: {
    description: "The disk failed to read or write.",
    remedy: "Look at the system's log for faults of the disk or of a network file system.",
  },
  away: {
    description: "The database cannot be reached.",
    remedy:
      "Start it, or see to the network between here and there: what runs goes on by itself as soon as it answers, and a new start can be tried then.",
  },
  unsure: {
    description: "The database was lost while it kept something: it may have been kept, or not.",
    remedy: "As for a database that cannot be reached: what asks again finds out.",
  },
  conflict: {
    description: "Several who wrote at the same time kept waiting for each other.",
    remedy: "Nothing was kept of this one, which was begun anew several times: let fewer write at once.",
  },
  refused: {
    description: "The database refuses us.",
    remedy:
      "Look at the user, the password, the name of the database and the parameters in its URL, and at the rights of that user.",
  },
  misnamed: {
    description: "The URL of the database cannot be used.",
    remedy:
      "Write it as postgres://user:password@host:port/name, with what is special in the user, the password and the name percent-encoded.",
  },
  untrusted: {
    description: "The database shows a certificate that does not hold.",
    remedy:
      "Name a file with the certificate of who has signed it as sslrootcert=… in the URL, and the server by a name that its certificate holds.",
  },
  pooled: {
    description: "A pooler stands before the database.",
    remedy:
      "Name the server itself: mailkind keeps a few connections of its own (MAILKIND_DATABASE_CONNECTIONS), with bounds and notifications that a pooler does not pass on.",
  },
  outdated: {
    description: "The database server is too old.",
    remedy: "Upgrade it: PostgreSQL 12 and later are supported.",
  },
  crowded: {
    description: "The database takes no more connections.",
    remedy: "Raise its max_connections, or lower MAILKIND_DATABASE_CONNECTIONS or the number of nodes and workers.",
  },
  standby: {
    description: "The database takes no writes.",
    remedy:
      "Name the server that writes, or promote this one; what runs goes on by itself when there is one that writes.",
  },
  unfit: {
    description: "The database cannot hold every text.",
    remedy: "Make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name that.",
  },
} as const satisfies Record<string, StoreErrorSpec>

export type StoreErrorCode = keyof typeof STORE_ERRORS

/** What fails so has left nothing behind: whatever it was to write is as it was before. */
const NOTHING_WRITTEN_CODES: ReadonlySet<StoreErrorCode> = new Set([
  ...(["away", "standby", "crowded", "refused", "busy", "conflict", "full"] as const),
])

/** True when it is certain that nothing was kept of what failed with this. */
export const hasWrittenNothing = (fault: unknown): boolean =>
  fault instanceof StoreError && NOTHING_WRITTEN_CODES.has(fault.code)

/**
 * Thrown when the database fails us. `message` says what, where and why, and `remedy` what to do: both are for the
 * operator and hold no row's contents.
 */
export class StoreError extends Error {
  override readonly name = "StoreFault"
  readonly code: StoreErrorCode
  readonly remedy: string

  constructor(code: StoreErrorCode, where: string, why: string, cause?: unknown) {
    super(`${STORE_ERRORS[code].description} ${where}: ${why}`, { cause })
    this.code = code
    this.remedy = STORE_ERRORS[code].remedy
  }
}
