import { expect, test } from "bun:test"
import { SQL } from "bun"
import { StoreError, type StoreErrorCode } from "../../../../src/customers/store/core/store-error.ts"
import { isConnectFailure, postgresStoreError } from "../../../../src/customers/store/postgres/postgres-errors.ts"

/** What a pooler says under the SQLSTATE of a broken protocol, and whether no server can have seen the statement. */
const POOLER_SAYS: Readonly<Record<string, readonly [StoreErrorCode, "nothing was sent" | "perhaps it was"]>> = {
  "server login has been failing, try again later (server_login_retry)": ["away", "nothing was sent"],
  "server login has been failing, cached error: connect failed (server_login_retry)": ["away", "nothing was sent"],
  "pgbouncer cannot connect to server": ["away", "nothing was sent"],
  'server login has been failing, cached error: password authentication failed for user "mk" (server_login_retry)': [
    "refused",
    "nothing was sent",
  ],
  "SASL authentication failed": ["refused", "nothing was sent"],
  "password authentication failed": ["refused", "nothing was sent"],
  "no such database: mailkin": ["refused", "nothing was sent"],
  "no such user: mk": ["refused", "nothing was sent"],
  'database "mailkind" is disabled': ["refused", "nothing was sent"],
  "bouncer config error": ["refused", "nothing was sent"],
  "SSL required": ["refused", "nothing was sent"],
  query_wait_timeout: ["pool_full", "nothing was sent"],
  "no more connections allowed (max_client_conn)": ["clients_full", "nothing was sent"],
  "client connections exceeded (max_db_client_connections)": ["clients_full", "nothing was sent"],
  "unsupported startup parameter: statement_timeout": ["pooled", "nothing was sent"],
  "server conn crashed?": ["away", "perhaps it was"],
  query_timeout: ["away", "perhaps it was"],
}

test("what a pooler says has its own fault each, and only what it says before it has a server proves that nothing was written", () => {
  const told: Record<string, unknown> = {}
  for (const message of Object.keys(POOLER_SAYS)) {
    const options = { code: "ERR_POSTGRES_SERVER_ERROR", errno: "08P01", severity: "FATAL" }
    const error = new SQL.PostgresError(message, options as ConstructorParameters<typeof SQL.PostgresError>[1])
    const storeError = postgresStoreError(error, "postgres://pooler:6432/mailkind")
    if (!(storeError instanceof StoreError)) throw new Error("it is no error of the database")
    told[message] = [storeError.code, isConnectFailure(error) ? "nothing was sent" : "perhaps it was"]
  }
  expect(told).toEqual({ ...POOLER_SAYS })
})
