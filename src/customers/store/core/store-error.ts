type StoreErrorSpec = { readonly description: string; readonly remedy: string }

/** Every way in which the database can fail, and what the operator does about it. */
export const STORE_ERRORS = {
  not_a_database: {
    description: "The file is not a database.",
    remedy: "Move the file away and start again, or restore it from a backup.",
  },
  foreign_database: {
    description: "The database belongs to another program: it has tables, but not ours.",
    remedy: "Name another data directory, or another database.",
  },
  altered: {
    description: "The tables of the database are not those that mailkind creates.",
    remedy:
      "Restore a backup that mailkind made. What somebody added on purpose, remove it; a file or a table that others may have written, do not use.",
  },
  shared_tables: {
    description: "Tables of the database belong to another user, or have triggers or rules that are not ours.",
    remedy:
      "Give mailkind a schema in which only its user may create. Tables that you trust, give to that user (ALTER TABLE … OWNER TO …), and drop the triggers and rules that mailkind did not create.",
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
    remedy: "Free some space. No data was lost and no restart is needed.",
  },
  busy: {
    description: "Another process held the database for too long.",
    remedy: "Find the process that has the database open and let it finish, or stop it.",
  },
  failed: {
    description: "The disk failed to read or write.",
    remedy: "Look in the system's log for errors of the disk or of a network file system.",
  },
  away: {
    description: "The database cannot be reached.",
    remedy:
      "Start it, or check the network between here and there. A running server reconnects by itself; a start has to be repeated.",
  },
  unsure: {
    description: "The connection to the database was lost during a write: the write may have happened, or not.",
    remedy: "As for a database that cannot be reached. A repeated request finds out what was written.",
  },
  conflict: {
    description: "Concurrent writes kept waiting for each other.",
    remedy: "This write was rolled back and retried several times: let fewer write at once.",
  },
  refused: {
    description: "The database refuses us.",
    remedy:
      "Check the user, the password, the name of the database and the parameters in its URL, and the rights of that user.",
  },
  misnamed: {
    description: "The URL of the database cannot be used.",
    remedy:
      "Write it as postgres://user:password@host:port/name, with special characters in the user, the password and the name percent-encoded.",
  },
  untrusted: {
    description: "The certificate of the database cannot be verified.",
    remedy:
      "Put a file with the certificate of its issuer into the URL as sslrootcert=…, and name the server as its certificate does.",
  },
  pooled: {
    description: "A pooler is in front of the database.",
    remedy:
      "Name the server itself: mailkind keeps a few connections of its own (MAILKIND_DATABASE_CONNECTIONS), whose limits and notifications a pooler does not pass on.",
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
      "Name the server that takes writes, or promote this one. A running server goes on by itself as soon as there is one.",
  },
  unfit: {
    description: "The database cannot store every text.",
    remedy: "Create a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name that one.",
  },
} as const satisfies Record<string, StoreErrorSpec>

export type StoreErrorCode = keyof typeof STORE_ERRORS

/** After an error with one of these codes it is certain that nothing was written. */
const NOTHING_WRITTEN_CODES: ReadonlySet<StoreErrorCode> = new Set([
  ...(["away", "standby", "crowded", "refused", "busy", "conflict", "full"] as const),
])

/** True when it is certain that the operation that failed with this error has written nothing. */
export const hasWrittenNothing = (error: unknown): boolean =>
  error instanceof StoreError && NOTHING_WRITTEN_CODES.has(error.code)

/** True when the operation that failed with this error may have been written all the same: its commit was sent and not answered. */
export const isWriteUnsure = (error: unknown): boolean => error instanceof StoreError && error.code === "unsure"

/**
 * Thrown when the database fails. `message` says what failed, where and why; `remedy` says what the operator does about it. Neither
 * contains data of a row.
 */
export class StoreError extends Error {
  override readonly name = "StoreFault"
  readonly code: StoreErrorCode
  readonly remedy: string

  constructor(code: StoreErrorCode, location: string, reason: string, cause?: unknown) {
    super(`${STORE_ERRORS[code].description} ${location}: ${reason}`, { cause })
    this.code = code
    this.remedy = STORE_ERRORS[code].remedy
  }
}
