import { type ReservedSQL, SQL } from "bun"
import { LRUCache } from "lru-cache"
import { Semaphore } from "../../../base/concurrency.ts"
import { assert } from "../../../base/errors.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import { countParameters } from "../core/sql-text.ts"
import type { SqlValue } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { type AvailabilityListener, ConnectionBackoff } from "./connection-backoff.ts"
import { convertRows, toQueryParams } from "./convert-rows.ts"
import { isConnectFailure, postgresStoreError } from "./postgres-errors.ts"
import { redactedUrl, SESSION_PARAMETERS, validatePostgresUrl } from "./postgres-url.ts"
import { CHANGES_CHANNEL } from "./prepare-database.ts"

/** How long connections that are closed in good order may take for it, in seconds. */
const CLOSE_S = 1

/** How many statements' texts are known to be one statement each; the code has fewer. */
const CHECKED_STATEMENTS_MAX = 512

/** One statement's answer. */
type SqlResult = { readonly rows: Record<string, SqlValue>[]; readonly count: number; readonly command: string | null }

/** A client that can ask: the pool's, or that of one connection. */
type SqlClient = Pick<SQL, "unsafe">

/**
 * The bounded connections of one process to a PostgreSQL database. Connections are made when they are needed, and again after they
 * were lost: after a failure nothing is asked for a moment, so that a database that comes up is not run over. Everything
 * fails with a `StoreError` when it has waited as long as it may.
 */
export class PostgresPool {
  readonly location: string
  readonly #url: string
  readonly #setTimer: SetTimer
  readonly #bounds: PoolBounds
  readonly #semaphore: Semaphore
  readonly #parameterCounts = new LRUCache<string, number>({ max: CHECKED_STATEMENTS_MAX })
  #sql: SQL
  readonly #changeListeners = new Set<() => void>()
  #isClosed = false
  readonly #backoff: ConnectionBackoff

  constructor(url: string, later: SetTimer, bounds: PoolBounds, told: AvailabilityListener) {
    this.#backoff = new ConnectionBackoff(later, bounds, told)
    validatePostgresUrl(url)
    this.location = redactedUrl(url)
    this.#url = url
    this.#setTimer = later
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.connectionsMax, bounds.waitingMax)
    this.#sql = this.#createClient()
  }

  /** Runs `work` while one of the connections is its own, or free for it. */
  async withConnection<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#acquire()
    try {
      // Who has waited for a connection may find that there are none any more.
      const left = this.#backoff.startAttempt()
      return await work().finally(left)
    } finally {
      leave()
    }
  }

  /**
   * Asks one statement on any connection. It is to be asked inside of `taking`. One that only reads is asked again when its
   * connection turns out to be cut, as all are after the database was started again.
   */
  async query(sql: string, params: readonly SqlValue[]): Promise<SqlResult> {
    const isRead = sql.startsWith("SELECT ")
    const ask = () => this.#execute(this.#sql, sql, params, !isRead)
    return await (isRead ? this.#retryLostConnections(ask) : ask())
  }

  /** Asks one statement of a transaction on its `client`. */
  queryOn(client: SqlClient, sql: string, params: readonly SqlValue[]): Promise<SqlResult> {
    return this.#execute(client, sql, params, sql === "COMMIT")
  }

  async #execute(client: SqlClient, sql: string, params: readonly SqlValue[], isKept: boolean): Promise<SqlResult> {
    const wanted = this.#parameterCount(sql)
    assert(params.length === wanted, `expected ${wanted} values, got ${params.length}`)
    const { statementTimeoutMs, silenceMs } = this.#bounds
    const asked = client.unsafe<unknown[]>(sql, toQueryParams(params))
    const result = await this.#withDeadline(asked, statementTimeoutMs + silenceMs, isKept)
    return { rows: convertRows(result), count: result.affectedRows, command: result.command }
  }

  /** A connection of its own on which a transaction has begun, to be released. It is to be asked inside of `taking`. */
  beginTransaction(): Promise<ReservedSQL> {
    const { connectTimeoutMs, silenceMs } = this.#bounds
    return this.#retryLostConnections(async () => {
      const client = await this.#withDeadline(this.#sql.reserve(), connectTimeoutMs + silenceMs)
      try {
        await this.queryOn(client, "BEGIN", [])
        return client
      } catch (fault) {
        await client.release()
        throw fault
      }
    })
  }

  /** Has `heard` called whenever the change log has grown, and when that may have been missed; until the pool is closed. */
  listen(heard: () => void): void {
    this.#changeListeners.add(heard)
    if (this.#changeListeners.size === 1) this.#listen()
  }

  /** Closes all connections. What is under way fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sql.close({ timeout: CLOSE_S })
  }

  /** What is told of a failure. After one to connect, nothing is asked for a moment. */
  toStoreError(fault: unknown): unknown {
    const known = postgresStoreError(fault, this.location)
    if (!(known instanceof StoreError) || known === fault) return known
    // Connections to a server that no longer writes stay with it, though its name may stand for another by now.
    if (known.code === "standby") this.#reconnect()
    if (isConnectFailure(fault)) this.#backoff.recordFailure(known)
    return known
  }

  /** Does what changes nothing again when its connection turns out to be cut: each of those that were there may be. */
  async #retryLostConnections<T>(work: () => Promise<T>): Promise<T> {
    for (let cut = 0; cut < this.#bounds.connectionsMax; cut++)
      try {
        return await work()
      } catch (fault) {
        const isCut = fault instanceof StoreError && fault.code === "away" && this.#backoff.error === null
        if (!isCut) throw fault
      }
    return await work()
  }

  #parameterCount(sql: string): number {
    const known = this.#parameterCounts.get(sql)
    if (known !== undefined) return known
    const count = countParameters(sql)
    this.#parameterCounts.set(sql, count)
    return count
  }

  async #acquire(): Promise<() => void> {
    if (this.#backoff.error !== null) throw this.#backoff.error
    const free = this.#semaphore.tryAcquire()
    if (free !== null) return free
    const waiting = this.#semaphore.acquire()
    if (waiting === null) throw this.#busyError("too many wait for a connection")
    const late = Promise.withResolvers<null>()
    const callOff = this.#setTimer(this.#bounds.waitTimeoutMs, () => late.resolve(null))
    const leave = await Promise.race([waiting, late.promise])
    callOff()
    if (leave !== null) return leave
    void waiting.then(tooLate => tooLate())
    throw this.#busyError("no connection became free in time")
  }

  #busyError(why: string): StoreError {
    return new StoreError("busy", this.location, why)
  }

  /**
   * What is promised, or a fault when it stays silent for too long: then nothing is to be expected of any connection. What is
   * kept as soon as it is done may be so when its answer did not come: the fault is `unsure`.
   */
  async #withDeadline<T>(promised: PromiseLike<T>, ms: number, isKept = false): Promise<T> {
    const silent = Promise.withResolvers<never>()
    const client = this.#sql
    const callOff = this.#setTimer(ms, () => {
      const fault = new StoreError("away", this.location, "it does not answer")
      silent.reject(fault)
      this.#backoff.recordFailure(fault)
      if (client === this.#sql) this.#reconnect()
    })
    try {
      const result = await Promise.race([promised, silent.promise])
      this.#backoff.recordSuccess()
      return result
    } catch (fault) {
      const known = this.toStoreError(fault)
      const isUnsure = isKept && known instanceof StoreError && known.code === "away" && !isConnectFailure(fault)
      throw isUnsure ? new StoreError("unsure", this.location, "its answer did not come") : known
    } finally {
      callOff()
    }
  }

  #reconnect(): void {
    const old = this.#sql
    this.#sql = this.#createClient()
    void old.close({ timeout: 0 })
    this.#listen()
  }

  /** The client keeps a connection of its own for this, and makes it anew when it is lost. */
  #listen(): void {
    if (this.#changeListeners.size === 0) return
    const client = this.#sql
    const heard = (): void => {
      for (const hear of this.#changeListeners) hear()
    }
    client.listen(CHANGES_CHANNEL, heard, heard).catch(() => {
      this.#setTimer(this.#bounds.restMsMax, () => {
        if (client === this.#sql && !this.#isClosed) this.#listen()
      })
    })
  }

  #createClient(): SQL {
    const { connectionsMax, connectTimeoutMs, statementTimeoutMs, waitTimeoutMs } = this.#bounds
    return new SQL(this.#url, {
      adapter: "postgres",
      max: connectionsMax,
      connectionTimeout: connectTimeoutMs / 1000,
      connection: {
        ...SESSION_PARAMETERS,
        application_name: "mailkind",
        default_transaction_isolation: "read committed",
        statement_timeout: statementTimeoutMs,
        lock_timeout: waitTimeoutMs,
        idle_in_transaction_session_timeout: statementTimeoutMs,
      },
    })
  }
}

/** What bounds the use of a PostgreSQL database by one process. */
export type PoolBounds = {
  readonly connectionsMax: number
  /** How many may wait for a connection; more are refused at once. */
  readonly waitingMax: number
  /** How long a wait for a free connection may take, and how long one for a row's lock. */
  readonly waitTimeoutMs: number
  readonly connectTimeoutMs: number
  /** How long one statement may take: the server ends it. */
  readonly statementTimeoutMs: number
  /** How much later than that an answer may come before the connections count as cut. */
  readonly silenceMs: number
  /** How long nothing is asked after a failure to connect, which doubles with each that follows, up to a bound. */
  readonly restMs: number
  readonly restMsMax: number
}

/** What these bounds are in use. */
export const POOL_BOUNDS: PoolBounds = {
  connectionsMax: 4,
  waitingMax: 10_000,
  waitTimeoutMs: 5000,
  connectTimeoutMs: 3000,
  statementTimeoutMs: 10_000,
  silenceMs: 2000,
  restMs: 50,
  restMsMax: 1000,
}
