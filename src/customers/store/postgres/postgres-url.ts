import { accessSync, constants } from "node:fs"
import { errorCode } from "../../../base/errors.ts"
import { StoreError } from "../core/store-error.ts"

/** The URL without user, password and parameters, for messages. */
export function redactedUrl(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? "postgres://" : `postgres://${parsed.host}${parsed.pathname}`
}

const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost\.?|)$/

/** Whether the URL names another host and asks for no encryption. A path of a socket is no host. */
export function isPlainUrl(url: string): boolean {
  const parsed = URL.parse(url)
  if (parsed === null || LOOPBACK_HOST.test(parsed.hostname)) return false
  return ["disable", null].includes(parsed.searchParams.get("sslmode"))
}

/**
 * Parameters of every connection: what is written means the same under all settings of the database, and within a minute the server
 * detects a client that is gone without closing its connection, and releases its locks.
 */
export const SESSION_PARAMETERS = {
  standard_conforming_strings: "on",
  bytea_output: "hex",
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
} as const

/** The parameters that poolers keep for each of their clients. */
export const POOLED_PARAMETERS = { application_name: "mailkind", standard_conforming_strings: "on" } as const

/** Parameters of the URL that name a file, which is read for every connection. */
const FILE_PARAMETERS = ["sslrootcert", "sslcert", "sslkey"]

/**
 * Throws a `misnamed` error when no connection could ever be opened with this URL. The error contains nothing of the URL but the
 * redacted form, since the platform's errors would show a password.
 */
export function validatePostgresUrl(url: string): void {
  const parsed = URL.parse(url)
  if (parsed === null) throw new StoreError("misnamed", redactedUrl(url), "it is no URL")
  if (url.includes("%00")) throw new StoreError("misnamed", redactedUrl(url), "it holds a NUL")
  for (const name of FILE_PARAMETERS) {
    const path = parsed.searchParams.get(name)
    if (path === null || path === "" || path === "system") continue
    try {
      accessSync(path, constants.R_OK)
    } catch (error) {
      const reason = `the file that ${name} names cannot be read (${errorCode(error)})`
      throw new StoreError("misnamed", redactedUrl(url), reason)
    }
  }
  try {
    // The client connects with its first statement, which this one never runs.
    new Bun.SQL(url, { adapter: "postgres" })
  } catch (error) {
    const name = error instanceof Error ? /'([\w.]+)'/.exec(error.message)?.[1] : undefined
    const reason = name === undefined ? "its percent-encoding is broken" : `its ${name} cannot be used`
    throw new StoreError("misnamed", redactedUrl(url), reason)
  }
}
