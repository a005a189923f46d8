import { expect, test } from "bun:test"
import { SQL } from "bun"
import { STORE_ERRORS, StoreError, type StoreErrorCode } from "../../../../src/customers/store/core/store-error.ts"
import { POOL_BOUNDS } from "../../../../src/customers/store/postgres/clients.ts"
import { PostgresPool } from "../../../../src/customers/store/postgres/connection-pool.ts"
import { isConnectFailure, postgresStoreError } from "../../../../src/customers/store/postgres/postgres-errors.ts"
import { readPostgresStatus } from "../../../../src/customers/store/postgres/postgres-status.ts"
import { openPostgres } from "../../../../src/customers/store/postgres-store.ts"
import { diagnosePostgres } from "../../../../src/doctor/database.ts"
import { freePort } from "../../../support/free-port.ts"
import { later } from "../../../support/later.ts"

/** What a pooler says under the SQLSTATE of a broken protocol, and whether no server can have seen the statement. */
const POOLER_SAYS: Readonly<Record<string, readonly [StoreErrorCode, "nothing was sent" | "perhaps it was"]>> = {
  "server login has been failing, try again later (server_login_retry)": ["pool_silent", "nothing was sent"],
  "server login has been failing, cached error: connect failed (server_login_retry)": [
    "pool_silent",
    "nothing was sent",
  ],
  "pgbouncer cannot connect to server": ["pool_silent", "nothing was sent"],
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

test("a host whose name is not known is told as such in the start, the outage and doctor, and one that refuses is not", async () => {
  // No name has a label of 64 letters, so no DNS server is asked for it.
  const name = `${"a".repeat(64)}.test`
  const unknown = [
    "unknown_host",
    `postgres://${name}:5432/mk`,
    `the name ${name} is not known (ENOTFOUND)`,
    STORE_ERRORS.unknown_host.remedy,
  ]
  const port = freePort()
  const refused = [
    "away",
    `postgres://localhost:${port}/mk`,
    "ERR_POSTGRES_CONNECTION_REFUSED",
    STORE_ERRORS.away.remedy,
  ]
  for (const [place, expected] of [
    [`${name}:5432`, unknown],
    [`localhost:${port}`, refused],
  ] as const) {
    const url = `postgres://jane:s3cret@${place}/mk`
    const told: unknown[] = []
    const note = (error: unknown) => {
      if (error instanceof StoreError) told.push([error.code, error.location, error.reason, error.remedy])
    }
    await openPostgres(url, { clock: Date.now, setTimer: later }).catch(note)
    const session = { kind: "direct", searchPath: null } as const
    const pool = new PostgresPool(url, later, POOL_BOUNDS, note, session, { url: null, onChange: note })
    await pool.withConnection(() => pool.query("SELECT 1", [])).catch(note)
    await pool.close()
    await readPostgresStatus(url).catch(note)
    expect(told).toEqual([expected, expected, expected, expected])
    expect(await diagnosePostgres(readPostgresStatus(url))).toMatchObject({ verdict: "failed", remedy: expected[3] })
  }
})
