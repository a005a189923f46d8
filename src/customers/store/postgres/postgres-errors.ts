import type { SQL } from "bun"
import { errorCode } from "../../../base/errors.ts"
import { StoreError, type StoreErrorCode } from "../core/store-error.ts"
import { redactedUrl } from "./postgres-url.ts"

/** SQLSTATEs, or the classes that are their first two characters, and the error code for each (PostgreSQL manual, appendix A). */
const SQLSTATE_CODES: Readonly<Record<string, StoreErrorCode>> = {
  "08": "away",
  "25006": "standby",
  // The server has closed the connection of a transaction that took too long.
  "25P03": "away",
  "25P04": "away",
  "28": "refused",
  "3D": "refused",
  "40": "busy",
  "40001": "conflict",
  "40003": "unsure",
  "40P01": "conflict",
  "42501": "rightless",
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

/** Errors of the client during the login, which the server or the URL causes. */
const LOGIN_ERROR =
  /^ERR_POSTGRES_(?:AUTHENTICATION|SASL|TLS|CHANNEL_BINDING|UNKNOWN_AUTH|UNSUPPORTED_AUTH|INVALID_SERVER)/

/** Errors of the verification of a certificate (the X.509 codes of OpenSSL, and those of Node.js). */
const CERTIFICATE_ERROR =
  /^(?:ERR_TLS_|ERR_BORINGSSL|UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/

/**
 * What PgBouncer means when it answers a login, or a statement that it has sent to no server. It has one SQLSTATE, 08P01, for all of that.
 * The first that matches holds. What it says of a statement that it had sent is none of these, and counts as a lost connection.
 */
const POOLER_MESSAGES: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^unsupported startup parameter/, "pooled"],
  [/^no more connections allowed|\(max_(?:client_conn|(?:db|user)_client_connections)\)/, "clients_full"],
  [/^query_wait_timeout/, "pool_full"],
  // The server's own refusal, which PgBouncer 1.20 and later repeat behind "server login has been failing".
  [/(?:authentication|login|auth) (?:failed|rejected)|no pg_hba\.conf entry|database .* does not exist/i, "refused"],
  [/no such (?:database|user)|does not allow connections|is disabled|config error|\b(?:SSL|TLS)\b/i, "refused"],
  [/^server login has been failing|cannot connect to server/, "pool_silent"],
]

/** What a message of PgBouncer stands for; null: it is none of these. */
const codeOfPoolerMessage = ({ errno, severity, message }: SQL.PostgresError): StoreErrorCode | null =>
  errno === "08P01" && severity === "FATAL"
    ? (POOLER_MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? null)
    : null

/** Errors of the client about a connection that could not be opened, or was lost. */
const CONNECTION_ERROR = /^(?:ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME|INVALID_MESSAGE|UNEXPECTED_MESSAGE)|E[A-Z]+$)/

/** The constraints that a row can violate, as SQLite names them. */
const CONSTRAINT_NAMES: Readonly<Record<string, string>> = {
  "23502": "NOT NULL",
  "23503": "FOREIGN KEY",
  "23505": "UNIQUE",
  "23514": "CHECK",
}

/**
 * The error to throw in place of an error of the client: a `StoreError` when the database failed, otherwise an error that names the
 * violated constraint or the broken statement. Neither contains values of rows or parameters, as the server's details do.
 */
export function postgresStoreError(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError || !("code" in error)) return error
  const code = String(error.code)
  const state = error instanceof Bun.SQL.PostgresError ? error.errno : undefined
  const storeErrorCode =
    state === undefined ? codeOfClientError(code) : (codeOfLoginError(error) ?? codeOfSqlState(state))
  if (storeErrorCode !== null)
    return new StoreError(storeErrorCode, location, state === undefined ? code : `${state}: ${error.message}`)
  if (state === undefined) return error
  return new Error(describeStatementError(state, error))
}

/** True when no connection could be opened, or a pooler had none for the statement; false when one was lost. */
export function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Bun.SQL.PostgresError))
    return error instanceof Error && "code" in error && CERTIFICATE_ERROR.test(String(error.code))
  const { code, errno } = error
  return errno === undefined
    ? LOGIN_ERROR.test(code) || /_CONNECTION_(?:REFUSED|TIMEOUT|FAILED)$/.test(code)
    : /^(?:57P03|53300|28|3D)/.test(errno) || codeOfLoginError(error) !== null
}

/** How long the look-up of a host's name may take, and what answers before a login. */
const LOOKUP_MS = 1000
const ANSWER_MS = 500

/**
 * The error in place of one of the client about a connection that did not open, where something else is to blame than what the client says; null:
 * nothing else is. It has one error for a host that refuses and one whose name is not known, and one for all that is silent.
 */
export const connectError = async (error: unknown, url: string, mayBePooled = true): Promise<StoreError | null> =>
  (await unknownHostError(error, url)) ?? (mayBePooled && isConnectTimeout(error) ? await silentPoolerError(url) : null)

/** The error for a host whose name cannot be used. It is looked up as the client does, and only after the client's error. */
async function unknownHostError(error: unknown, url: string): Promise<StoreError | null> {
  const name = URL.parse(url)?.hostname ?? ""
  if (name === "" || errorCode(error) !== "ERR_POSTGRES_CONNECTION_REFUSED") return null
  const looking = Bun.dns.lookup(unbracketed(name), { backend: "getaddrinfo" }).then(() => null, errorCode)
  const code = (await Promise.race([looking, Bun.sleep(LOOKUP_MS).then(() => null)]))?.replace(/^DNS_/, "")
  return code === undefined
    ? null
    : new StoreError("unknown_host", redactedUrl(url), `the name ${name} is not known (${code})`, error)
}

const unbracketed = (host: string): string => host.replace(/^\[|\]$/g, "")

/** Asks whether it offers TLS, which whatever speaks the protocol answers before a login (PostgreSQL manual, SSLRequest). */
const SSL_REQUEST = Buffer.from("0000000804d2162f", "hex")

/** The error where an address is silent but for what comes before a login: so is a pooler whose database is away, or whose pool is full. */
export async function silentPoolerError(url: string): Promise<StoreError | null> {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.hostname === "") return null
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const connecting = Bun.connect({
    hostname: unbracketed(parsed.hostname),
    port: Number(parsed.port || 5432),
    socket: {
      open: socket => void socket.write(SSL_REQUEST),
      data: () => resolve(true),
      close: () => resolve(false),
    },
  })
  connecting.catch(() => resolve(false))
  const isAnswered = await Promise.race([promise, Bun.sleep(ANSWER_MS).then(() => false)])
  void connecting.then(socket => socket.end()).catch(() => undefined)
  return isAnswered ? new StoreError("pool_silent", redactedUrl(url), "no answer came through it") : null
}

/** True when the client gave up waiting for a connection to open. */
export const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Bun.SQL.PostgresError && error.code === "ERR_POSTGRES_CONNECTION_TIMEOUT"

const codeOfSqlState = (state: string): StoreErrorCode | null =>
  SQLSTATE_CODES[state] ?? SQLSTATE_CODES[state.slice(0, 3)] ?? SQLSTATE_CODES[state.slice(0, 2)] ?? null

function codeOfClientError(code: string): StoreErrorCode | null {
  if (code === "ERR_POSTGRES_TLS_NOT_AVAILABLE") return "unencrypted"
  if (CERTIFICATE_ERROR.test(code)) return "untrusted"
  return LOGIN_ERROR.test(code) ? "refused" : CONNECTION_ERROR.test(code) ? "away" : null
}

/** The code for a login that the server or a pooler ended, where the SQLSTATE does not tell; null for other errors. */
function codeOfLoginError(error: Error): StoreErrorCode | null {
  if (!(error instanceof Bun.SQL.PostgresError) || error.severity !== "FATAL") return null
  // For example a parameter in the URL that the server does not know.
  return codeOfPoolerMessage(error) ?? (codeOfSqlState(error.errno ?? "") === null ? "refused" : null)
}

function describeStatementError(state: string, error: Error): string {
  const constraint = CONSTRAINT_NAMES[state]
  const name = "constraint" in error ? String(error.constraint) : "unnamed"
  if (constraint !== undefined) return `${constraint} constraint failed: ${name}`
  // The message of a broken statement names columns; that of wrong values repeats the values.
  return state.startsWith("42") ? `PostgreSQL ${state}: ${error.message}` : `PostgreSQL ${state}`
}
