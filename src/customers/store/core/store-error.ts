import type { Outage } from "../../../base/fault-log.ts"

type StoreErrorWords = { readonly description: string; readonly remedy: string }

/** `onPostgres`: the words where the database is PostgreSQL, if they are others. */
type StoreErrorSpec = StoreErrorWords & { readonly onPostgres?: StoreErrorWords }

/** Asks PostgreSQL who has had a transaction open for long, and which tables it has locked. */
const POSTGRES_HOLDERS_SQL =
  "SELECT a.pid, a.usename, a.application_name, a.state, now() - a.xact_start AS open_for, l.mode, l.relation::regclass AS locked, left(a.query, 80) AS query FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid AND l.granted AND l.relation IS NOT NULL WHERE a.xact_start < now() - interval '2 seconds' ORDER BY a.xact_start;"

/** What to do where `EROFS` is the cause: nobody may write there, whatever the owner and the mode say. */
export const READ_ONLY_REMEDY = "Mount the file system for writing, or use a directory on another one."

/** Every way in which the database can fail, and what the operator does about it. */
export const STORE_ERRORS = {
  not_a_database: {
    description: "The file is not a database.",
    remedy: "Move the file away and start again, or restore it from a backup.",
  },
  foreign_database: {
    description: "The database belongs to another program. It has tables, but not those of mailkind.",
    remedy: "Use another data directory or another database.",
  },
  altered: {
    description: "The tables of the database are not those that mailkind creates.",
    remedy:
      "Restore a backup that mailkind made. Remove what somebody added on purpose. Do not use a file or a table that others can write.",
    onPostgres: {
      description: "The tables of the database are not those that mailkind creates.",
      remedy:
        "If a dump of an earlier version was restored, restore it again with the commands of /docs/scaling#postgres-backup, which drop the tables of later versions first. Else remove what somebody added.",
    },
  },
  shared_tables: {
    description:
      "Tables of the database belong to another user, or have triggers or rules that mailkind did not create.",
    remedy:
      "Give mailkind a schema where only its user can create tables. Give that user the tables that you trust (ALTER TABLE … OWNER TO …). Drop the triggers and rules that mailkind did not create.",
  },
  shared_schema: {
    description: "Another user may create in the schema of mailkind, or has created something there.",
    remedy:
      "Take that right from the role (REVOKE CREATE ON SCHEMA …), or from PUBLIC or the role that gives it, and drop what it has created there; or give mailkind a schema of its own. Then start again.",
  },
  newer: {
    description: "The database was written by a newer version of mailkind.",
    remedy: "Run that version or a later one, or restore a backup that was made before the upgrade.",
  },
  unwritable: {
    description: "The database cannot be opened for reading and writing.",
    remedy: "Make the data directory and its files readable and writable for this user, or use another directory.",
  },
  damaged: {
    description: "The database is damaged.",
    remedy: "Stop mailkind and restore the database from a backup.",
    onPostgres: {
      description: "PostgreSQL finds its files damaged.",
      remedy:
        "Stop mailkind. Look at the log of the database server, and restore the database (/docs/scaling#postgres-backup).",
    },
  },
  full: {
    description: "The disk is full.",
    remedy: "Free some space. No data was lost, and a running server needs no restart.",
    onPostgres: {
      description: "The disk of the database server is full.",
      remedy: "Free some space on the disk of PostgreSQL. No data was lost and no restart is needed.",
    },
  },
  busy: {
    description: "Another process held the database for too long.",
    remedy: "Find the process that has the file open (`fuser -v` with its path). Wait for it, or stop it.",
    onPostgres: {
      description: "A statement or a connection waited for too long in PostgreSQL.",
      remedy: `See who holds a lock or runs for long: ${POSTGRES_HOLDERS_SQL} Wait for them, or end one with SELECT pg_terminate_backend(pid). If nobody does, its host is overloaded.`,
    },
  },
  failed: {
    description: "The disk failed to read or write.",
    remedy: "Check the system's log for errors of the disk or of a network file system.",
    onPostgres: {
      description: "PostgreSQL has no resources, or failed to read or write.",
      remedy: "Look at the log of the database server for errors of its memory and its disk.",
    },
  },
  away: {
    description: "The database cannot be reached.",
    remedy:
      "Start it if it is stopped, else look whether it answers, and check the network to it. A running server reconnects automatically. Repeat a start that failed.",
  },
  unknown_host: {
    description: "The name of the database's host is not known.",
    remedy:
      "Correct it in the URL of the database, or see with `getent hosts` and the name why this host does not find it: its /etc/hosts, or its DNS servers. A running server reconnects automatically. Repeat a start that failed.",
  },
  unsure: {
    description: "The connection to the database was lost during a write. The data may be stored or not.",
    remedy: "Start the database, or check the network to it. Repeat the request to see what was stored.",
  },
  conflict: {
    description: "Concurrent writes blocked each other.",
    remedy: "This write was rolled back and tried again several times. Reduce the number of concurrent writes.",
  },
  refused: {
    description: "The database refuses the login.",
    remedy:
      "Check the user, the password, the name of the database and the parameters in its URL, and the right of that user to connect.",
  },
  rightless: {
    description: "The user of the database has no schema, or no right to what mailkind does in it.",
    remedy:
      "As a superuser, connect to that database and run CREATE SCHEMA mailkind AUTHORIZATION …; ALTER ROLE … IN DATABASE … SET search_path = mailkind; with the user of the URL (/docs/scaling#move).",
  },
  misnamed: {
    description: "The URL of the database cannot be used.",
    remedy:
      "Write it as postgres://user:password@host:port/name, with special characters in the user, the password and the name percent-encoded.",
  },
  untrusted: {
    description: "The certificate of the database cannot be verified.",
    remedy:
      "Add sslrootcert=… with the certificate of its issuer to the URL, and use the host name of the certificate.",
  },
  unencrypted: {
    description: "The database offers no TLS, and sslmode in its URL asks for it.",
    remedy:
      "Turn TLS on at the server or the pooler that the URL names (PostgreSQL: ssl; PgBouncer: client_tls_sslmode).",
  },
  pooled: {
    description: "A pooler is in front of the database, and cannot be used as it is.",
    remedy:
      "Give the user one schema (ALTER ROLE … IN DATABASE … SET search_path = …), and have the pooler open its connections again. Or name the address of the server itself, as `store copy` always needs.",
  },
  outdated: {
    description: "The database server is too old.",
    remedy: "Upgrade it: PostgreSQL 12 and later are supported.",
  },
  crowded: {
    description: "The database accepts no more connections.",
    remedy: "Raise its max_connections, or lower the number of nodes and workers.",
  },
  clients_full: {
    description: "The pooler in front of the database accepts no more clients.",
    remedy:
      "Raise its max_client_conn, or its limit of clients for the database or the user, or lower the number of nodes and workers.",
  },
  pool_full: {
    description: "The pooler in front of the database had no connection free in time.",
    remedy:
      "Look who waits (SHOW POOLS in PgBouncer's console) and for what the connections are used. Raise its default_pool_size, and max_connections of the database with it.",
  },
  pool_silent: {
    description: "The pooler in front of the database answers, but not the database behind it.",
    remedy:
      "Start the database if it is stopped. If it answers at its own address, look at the log of the pooler: it cannot log in there (its auth_file may have an old password), or its pool is full. Then raise default_pool_size, or see who holds its connections (SHOW POOLS in PgBouncer's console, pg_stat_activity). A running server reconnects automatically. Repeat a start that failed.",
  },
  elsewhere: {
    description: "A notification of the database does not arrive at the address for notifications.",
    remedy:
      "Set MAILKIND_DATABASE_LISTEN_URL to the server of the same database, past any pooler. Until then changes on other nodes are noticed within a second.",
  },
  standby: {
    description: "The database accepts no writes.",
    remedy:
      "If it is a standby (SELECT pg_is_in_recovery()), use the server that accepts writes, or promote this one. Else look who made it read-only (SHOW default_transaction_read_only). A running server continues automatically as soon as it accepts writes.",
  },
  unfit: {
    description: "The database cannot store every text.",
    remedy: "Create a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and use that one.",
  },
} as const satisfies Record<string, StoreErrorSpec>

export type StoreErrorCode = keyof typeof STORE_ERRORS

/** Whether this is the code of an error of the database. */
export const isStoreErrorCode = (fault: string): fault is StoreErrorCode => Object.hasOwn(STORE_ERRORS, fault)

/** True for the URL of a PostgreSQL database, false for a path. */
export const isPostgresUrl = (location: string): boolean => /^postgres(?:ql)?:\/\//.test(location)

/** What an error is and what the operator does about it, in the words of the database at the location: a path, or the URL of PostgreSQL. */
export function describeStoreError(code: StoreErrorCode, location: string): StoreErrorWords {
  const { onPostgres, ...words }: StoreErrorSpec = STORE_ERRORS[code]
  return isPostgresUrl(location) ? (onPostgres ?? words) : words
}

/** After an error with one of these codes it is certain that nothing was written. */
const NOTHING_WRITTEN_CODES: ReadonlySet<StoreErrorCode> = new Set([
  ...(["away", "unknown_host", "pool_silent", "standby"] as const),
  ...(["crowded", "clients_full", "pool_full", "refused", "busy", "conflict", "full"] as const),
])

/** True when it is certain that the operation that failed with this error has written nothing. */
export const hasWrittenNothing = (error: unknown): boolean =>
  error instanceof StoreError && NOTHING_WRITTEN_CODES.has(error.code)

/** True when the operation that failed with this error may have been written all the same: its commit was sent and not answered. */
export const isWriteUnsure = (error: unknown): boolean => error instanceof StoreError && error.code === "unsure"

/**
 * Thrown when the database fails. `message` says what failed, where and why; `remedy` says what the operator does about it. Neither
 * contains data of a row. A write that another failure has left unsure is one more effect of that fault, and has its remedy.
 */
export class StoreError extends Error {
  override readonly name = "StoreFault"
  readonly code: StoreErrorCode
  /** Under which code the log counts it. */
  readonly fault: StoreErrorCode
  /** The path of the file, or the URL of the server without the password. */
  readonly location: string
  readonly reason: string
  readonly remedy: string

  constructor(code: StoreErrorCode, location: string, reason: string, cause?: unknown) {
    const { description, remedy } = describeStoreError(code, location)
    super(`${description} ${location}: ${reason}`, { cause })
    const left = code === "unsure" && cause instanceof StoreError ? cause : null
    this.code = code
    this.fault = left?.fault ?? code
    this.location = location
    this.reason = reason
    this.remedy = left?.remedy ?? (/\bEROFS\b/.test(reason) ? READ_ONLY_REMEDY : remedy)
  }
}

/** What the operator does about an error of the address for notifications alone. */
export function listenRemedy({ code, remedy }: StoreError): string {
  if (code === "elsewhere") return remedy
  return code === "pooled"
    ? "MAILKIND_DATABASE_LISTEN_URL leads to a pooler. Name the address of PostgreSQL itself."
    : `Correct MAILKIND_DATABASE_LISTEN_URL. If it is right: ${remedy}`
}

/** The outage that an error of the database begins. */
export const outageOf = ({ fault, location, reason, remedy }: StoreError): Outage => ({
  fault,
  where: location,
  why: reason,
  remedy,
})
