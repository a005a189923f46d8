import { accessSync, constants } from "node:fs"
import { SQL } from "bun"
import { errorCode } from "../../../base/errors.ts"
import { StoreError } from "../core/store-error.ts"

/** True when this names a PostgreSQL database, and no file. */
export const isPostgresUrl = (where: string): boolean => /^postgres(?:ql)?:\/\//.test(where)

/** Where a database is, for the operator to read: its URL without the user, the password and what follows the name. */
export function redactedUrl(url: string): string {
  const read = URL.parse(url)
  return read === null ? "postgres://" : `postgres://${read.host}${read.pathname}`
}

/**
 * With what every connection begins: what is written means the same whatever the settings of the database are, and the server
 * finds out within a minute that whoever asked is gone without a word: what that held is free again then.
 */
export const SESSION_PARAMETERS = {
  standard_conforming_strings: "on",
  bytea_output: "hex",
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
} as const

/** What of a URL names a file that is read for every connection. */
const FILE_PARAMETERS = ["sslrootcert", "sslcert", "sslkey"]

/**
 * Throws a `misnamed` fault where no connection could ever be made to this URL, whatever the other side is. It repeats nothing
 * of it but the place: errors of the platform would show a password.
 */
export function validatePostgresUrl(url: string): void {
  const read = URL.parse(url)
  if (read === null) throw new StoreError("misnamed", redactedUrl(url), "it is no URL")
  if (url.includes("%00")) throw new StoreError("misnamed", redactedUrl(url), "it holds a NUL")
  for (const name of FILE_PARAMETERS) {
    const path = read.searchParams.get(name)
    if (path === null || path === "" || path === "system") continue
    try {
      accessSync(path, constants.R_OK)
    } catch (fault) {
      const why = `the file that ${name} names cannot be read (${errorCode(fault)})`
      throw new StoreError("misnamed", redactedUrl(url), why)
    }
  }
  try {
    // It connects when it is first asked, which this one never is.
    new SQL(url, { adapter: "postgres" })
  } catch (fault) {
    const name = fault instanceof Error ? /'([\w.]+)'/.exec(fault.message)?.[1] : undefined
    const why = name === undefined ? "its percent-encoding is broken" : `its ${name} cannot be used`
    throw new StoreError("misnamed", redactedUrl(url), why)
  }
}
