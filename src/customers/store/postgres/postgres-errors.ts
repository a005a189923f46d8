import { SQL } from "bun"
import { StoreError, type StoreErrorCode } from "../core/store-error.ts"

/** SQLSTATEs, or the class that is their first two characters, and the fault each is (PostgreSQL's manual, appendix A). */
const SQLSTATE_CODES: Readonly<Record<string, StoreErrorCode>> = {
  "08": "away",
  "25006": "standby",
  // The server has cut the connection of a transaction that took too long.
  "25P03": "away",
  "25P04": "away",
  "28": "refused",
  "3D": "refused",
  "40": "busy",
  "40001": "conflict",
  "40003": "unsure",
  "40P01": "conflict",
  "42501": "refused",
  "53": "failed",
  "53100": "full",
  "53300": "crowded",
  "55P03": "busy",
  "57014": "busy",
  "57P": "away",
  "58": "failed",
  XX001: "damaged",
  XX002: "damaged",
}

/** What the client itself found while it logged in, for which the other side or the URL is to blame. */
const LOGIN_ERROR =
  /^ERR_POSTGRES_(?:AUTHENTICATION|SASL|TLS|CHANNEL_BINDING|UNKNOWN_AUTH|UNSUPPORTED_AUTH|INVALID_SERVER)/

/** What is said of a certificate that does not hold (the codes of X.509 checks in OpenSSL, and those of Node.js). */
const CERTIFICATE_ERROR =
  /^(?:ERR_TLS_|ERR_BORINGSSL|UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/

/** How PgBouncer refuses what only the server could grant. */
const POOLER_ERROR = /^unsupported startup parameter/

/** What the client says of a connection that was not made, or is gone. */
const CONNECTION_ERROR = /^(?:ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME|INVALID_MESSAGE|UNEXPECTED_MESSAGE)|E[A-Z]+$)/

/** Constraints that a row broke, in the words that SQLite has for them. */
const CONSTRAINT_NAMES: Readonly<Record<string, string>> = {
  "23502": "NOT NULL",
  "23503": "FOREIGN KEY",
  "23505": "UNIQUE",
  "23514": "CHECK",
}

/**
 * What is told instead of an error of the client: a `StoreError` where the world failed, and else an error that says what
 * broke. Neither repeats what a row or a parameter holds, as the server's own details do.
 */
export function postgresStoreError(fault: unknown, where: string): unknown {
  if (!(fault instanceof Error) || fault instanceof StoreError || !("code" in fault)) return fault
  const code = String(fault.code)
  const state = fault instanceof SQL.PostgresError ? fault.errno : undefined
  const known = state === undefined ? codeOfClientError(code) : (codeOfLoginError(fault) ?? codeOfSqlState(state))
  if (known !== null) return new StoreError(known, where, state === undefined ? code : `${state}: ${fault.message}`)
  if (state === undefined) return fault
  return new Error(describeStatementError(state, fault))
}

/** True when this tells that no connection could be made, rather than that one was lost. */
export function isConnectFailure(fault: unknown): boolean {
  if (!(fault instanceof SQL.PostgresError))
    return fault instanceof Error && "code" in fault && CERTIFICATE_ERROR.test(String(fault.code))
  const { code, errno } = fault
  return errno === undefined
    ? LOGIN_ERROR.test(code) || /_CONNECTION_(?:REFUSED|TIMEOUT|FAILED)$/.test(code)
    : /^(?:57P03|53300|28|3D)/.test(errno) || codeOfLoginError(fault) !== null
}

const codeOfSqlState = (state: string): StoreErrorCode | null =>
  SQLSTATE_CODES[state] ?? SQLSTATE_CODES[state.slice(0, 3)] ?? SQLSTATE_CODES[state.slice(0, 2)] ?? null

function codeOfClientError(code: string): StoreErrorCode | null {
  if (CERTIFICATE_ERROR.test(code)) return "untrusted"
  return LOGIN_ERROR.test(code) ? "refused" : CONNECTION_ERROR.test(code) ? "away" : null
}

/** The fault of a login that the other side has ended, where its state alone does not tell; null: that is not what failed. */
function codeOfLoginError(fault: Error): StoreErrorCode | null {
  if (!(fault instanceof SQL.PostgresError) || fault.severity !== "FATAL") return null
  if (POOLER_ERROR.test(fault.message)) return "pooled"
  // Such as a parameter of the URL that the server does not know.
  return codeOfSqlState(fault.errno ?? "") === null ? "refused" : null
}

function describeStatementError(state: string, fault: Error): string {
  const constraint = CONSTRAINT_NAMES[state]
  const name = "constraint" in fault ? String(fault.constraint) : "unnamed"
  if (constraint !== undefined) return `${constraint} constraint failed: ${name}`
  // A statement that is wrong names columns; one that was given wrong values repeats them.
  return state.startsWith("42") ? `PostgreSQL ${state}: ${fault.message}` : `PostgreSQL ${state}`
}
