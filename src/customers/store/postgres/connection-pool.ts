import type { ReservedSQL, SQL } from "bun"
import { LRUCache } from "lru-cache"
import { Semaphore } from "../../../base/concurrency.ts"
import { assert } from "../../../base/errors.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import { setResponsiveTimer } from "../../../base/responsive-timer.ts"
import { countParameters } from "../core/sql-text.ts"
import { type SqlValue, storableParams } from "../core/store.ts"
import { StoreError, type StoreErrorCode } from "../core/store-error.ts"
import { createClient, type DatabaseSession, type OnClose, type PoolBounds, transactionBounds } from "./clients.ts"
import { convertRows } from "./convert-rows.ts"
import { type AvailabilityListener, DatabaseBreaker } from "./database-breaker.ts"
import { NotificationListener, type Notifications } from "./notification-listener.ts"
import {
  connectError,
  isConnectFailure,
  isConnectTimeout,
  postgresStoreError,
  silentPoolerError,
} from "./postgres-errors.ts"
import { redactedUrl, validatePostgresUrl } from "./postgres-url.ts"
import { CHANGES_CHANNEL } from "./prepare-database.ts"

/** How long an orderly close may take, in seconds, in which what runs ends. */
const CLOSE_S = 1

/** Why the answer to a statement did not come through a pooler. */
const TOO_LONG = "its answer did not come, while the database answers others: it may wait for a lock"

/** What is no answer of the database. */
const IS_AWAY: ReadonlySet<StoreErrorCode> = new Set(["away", "pool_silent"])

/** How many statements have a cached parameter count; the code has fewer. */
const CHECKED_STATEMENTS_MAX = 512

/** The result of one statement. */
type SqlResult = { readonly rows: Record<string, SqlValue>[]; readonly count: number; readonly command: string | null }

/*
 * `Bun.SQL` is read where a client is made, here and wherever else PostgreSQL is used: the import of its value would load the client at each
 * start, which takes 5 ms, also of a server with SQLite.
 */

/** A client that runs statements: the pool's, or one connection's. */
type SqlClient = Pick<SQL, "unsafe">

/** How long a statement may take, and whether the server ends it before. */
type Deadline = { readonly timeoutMs: number; readonly isBounded: boolean; readonly isWrite?: boolean }

/**
 * The bounded connections of one process to a PostgreSQL database, opened when they are needed and reopened after they were lost. While
 * the database is away, operations are refused at once (`DatabaseBreaker`). One that has waited for its bound fails with a `StoreError`.
 */
export class PostgresPool {
  readonly location: string
  readonly #url: string
  readonly #setTimer: SetTimer
  readonly #bounds: PoolBounds
  readonly #semaphore: Semaphore
  readonly #parameterCounts = new LRUCache<string, number>({ max: CHECKED_STATEMENTS_MAX })
  #sql: SQL
  readonly #listener: NotificationListener
  readonly #breaker: DatabaseBreaker
  readonly #session: DatabaseSession
  /** Connections that were replaced because answers did not come, and the error of the statements on them. */
  readonly #silences = new WeakMap<SqlClient, Promise<StoreError>>()
  /** Of the connection of a transaction, those from which it was taken. */
  readonly #origins = new WeakMap<SqlClient, SQL>()

  constructor(
    url: string,
    setTimer: SetTimer,
    bounds: PoolBounds,
    onAvailabilityChange: AvailabilityListener,
    session: DatabaseSession,
    notificationsFrom: Notifications,
  ) {
    this.#session = session
    const { reconnectDelayMs: firstMs, reconnectDelayMaxMs: maxMs } = bounds
    this.#breaker = new DatabaseBreaker(setTimer, { firstMs, maxMs }, () => this.#probe(), onAvailabilityChange)
    validatePostgresUrl(url)
    this.location = redactedUrl(url)
    this.#url = url
    this.#setTimer = setTimer
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.connectionsMax, bounds.waitingMax)
    this.#sql = this.#createClient()
    this.#listener = new NotificationListener({
      ...{ setTimer, bounds, from: notificationsFrom },
      connect: session.kind === "pooled" ? null : onLost => this.#createClient(1, onLost),
      isAway: () => this.isUnavailable,
      notify: () => this.#notify(),
    })
  }

  /** Whether operations are refused, because the database does not answer. */
  get isUnavailable(): boolean {
    return this.#breaker.error !== null
  }

  /** Connections that are reserved for work. */
  get inUseCount(): number {
    return this.#bounds.connectionsMax - this.#semaphore.availableCount
  }

  /** Runs `work` while one of the connections is reserved for it. */
  async withConnection<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#acquire()
    try {
      // The database may have become unreachable during the wait.
      if (this.#breaker.error !== null) throw this.#breaker.error
      return await work()
    } finally {
      release()
    }
  }

  /**
   * Runs one statement on any connection. Call it inside of `withConnection`. A SELECT is retried when its connection was lost, as all
   * connections are after a restart of the database.
   */
  async query(sql: string, params: readonly SqlValue[]): Promise<SqlResult> {
    const isRead = sql.startsWith("SELECT ")
    const run = () => this.#execute(this.#sql, sql, params, !isRead)
    return await (isRead ? this.#retryLostConnections(run) : run())
  }

  /** Runs one statement of a transaction on its connection. */
  queryOn(client: SqlClient, sql: string, params: readonly SqlValue[]): Promise<SqlResult> {
    return this.#execute(client, sql, params, sql === "COMMIT")
  }

  async #execute(client: SqlClient, sql: string, params: readonly SqlValue[], isWrite: boolean): Promise<SqlResult> {
    const expectedCount = this.#parameterCount(sql)
    assert(params.length === expectedCount, `expected ${expectedCount} values, got ${params.length}`)
    const values = storableParams(params)
    const from = this.#origins.get(client)
    const isBounded = from !== undefined || this.#session.kind === "direct"
    const result = await this.#withDeadline(from ?? this.#sql, () => client.unsafe<unknown[]>(sql, values), {
      ...{ timeoutMs: this.#statementDeadlineMs, isBounded, isWrite },
    })
    return { rows: convertRows(result), count: result.affectedRows, command: result.command }
  }

  /** Begins a transaction on a connection of its own, which the caller releases. Call it inside of `withConnection`. */
  beginTransaction(): Promise<ReservedSQL> {
    // BEGIN waits for nothing but a connection: a pooler lends one only now.
    const deadline = {
      timeoutMs: this.#bounds.connectTimeoutMs + this.#bounds.responseGraceMs,
      isBounded: this.#session.kind === "direct",
    }
    return this.#retryLostConnections(async () => {
      const from = this.#sql
      const client = await this.#withDeadline(from, () => from.reserve(), deadline)
      this.#origins.set(client, from)
      try {
        await this.#withDeadline(from, () => client.unsafe(this.#beginSql()), deadline)
        return client
      } catch (error) {
        await client.release()
        throw error
      }
    })
  }

  /** Through a pooler a transaction brings its bounds with it, in the round trip that begins it. */
  #beginSql(): string {
    if (this.#session.kind === "direct") return "BEGIN"
    const bounds = Object.entries(transactionBounds(this.#bounds)).map(([name, ms]) => `; SET LOCAL ${name} = ${ms}`)
    return `BEGIN ISOLATION LEVEL READ COMMITTED${bounds.join("")}`
  }

  get #statementDeadlineMs(): number {
    return this.#bounds.statementTimeoutMs + this.#bounds.responseGraceMs
  }

  /** Calls `listener` when the change log has grown, and when a notification may have been missed, until the pool is closed. */
  listen(listener: () => void): void {
    this.#listener.add(listener)
  }

  /** Sends a notification. A standby has none, and that would be an error for which connections are replaced. */
  async #notify(): Promise<boolean> {
    const sql = "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE (SELECT 1 FROM pg_notify($1, '')) END AS sent"
    const { rows } = await this.withConnection(() => this.query(sql, [CHANGES_CHANNEL]))
    return rows[0]?.["sent"] === 1
  }

  /** Closes all connections. Running statements fail. */
  async close(): Promise<void> {
    this.#breaker.stop()
    await Promise.all([this.#sql.close({ timeout: CLOSE_S }), this.#listener.close(CLOSE_S)])
  }

  /** The error for the caller. A failure to connect opens the breaker. */
  toStoreError(error: unknown): unknown {
    const storeError = postgresStoreError(error, this.location)
    if (!(storeError instanceof StoreError) || storeError === error) return storeError
    // Connections to a standby stay open, although the name may point to another server by now. It answers, so what it was asked is not lost.
    if (storeError.code === "standby") this.#reconnect(CLOSE_S)
    // A server that refuses a new connection may answer on those that it has.
    if (isConnectFailure(error) && IS_AWAY.has(storeError.code)) this.#breaker.recordFailure(storeError)
    return storeError
  }

  /**
   * Retries work that changes nothing while its connection turns out to be lost: every open connection may be. If new ones are lost as
   * well, the database is away, and the breaker opens.
   */
  async #retryLostConnections<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++)
      try {
        return await work()
      } catch (error) {
        const isLost = error instanceof StoreError && error.code === "away" && this.#breaker.error === null
        if (!isLost) throw error
        if (attempt < this.#bounds.connectionsMax) continue
        this.#breaker.recordFailure(error)
        throw error
      }
  }

  #parameterCount(sql: string): number {
    const cached = this.#parameterCounts.get(sql)
    if (cached !== undefined) return cached
    const count = countParameters(sql)
    this.#parameterCounts.set(sql, count)
    return count
  }

  async #acquire(): Promise<() => void> {
    if (this.#breaker.error !== null) throw this.#breaker.error
    const available = this.#semaphore.tryAcquire()
    if (available !== null) return available
    const waiting = this.#semaphore.acquire()
    if (waiting === null) throw this.#busyError("too many operations wait for a connection")
    const timeout = Promise.withResolvers<null>()
    const timer = setResponsiveTimer(this.#setTimer, this.#bounds.waitTimeoutMs, () => timeout.resolve(null))
    const release = await Promise.race([waiting, timeout.promise])
    timer.cancel()
    if (release !== null) return release
    void waiting.then(releaseUnused => releaseUnused())
    throw this.#busyError("no connection became free in time")
  }

  #busyError(reason: string): StoreError {
    return new StoreError("busy", this.location, reason)
  }

  /**
   * Starts work on these connections and waits for its result, at most `timeoutMs` in which the event loop ran. On a time-out all of them are
   * replaced, since none can be expected to answer, and they are used no more. When the answer to a write is lost, the error is `unsure`: the
   * database may have done it.
   */
  async #withDeadline<T>(client: SQL, start: () => PromiseLike<T>, deadline: Deadline): Promise<T> {
    const silence = this.#silences.get(client)
    if (silence !== undefined) throw await silence
    const { timeoutMs, isBounded, isWrite = false } = deadline
    const timeout = Promise.withResolvers<never>()
    const waitMs = isBounded ? timeoutMs : timeoutMs - this.#bounds.responseGraceMs
    const timer = setResponsiveTimer(this.#setTimer, waitMs, () => void this.#judge(client).then(timeout.reject))
    try {
      const result = await Promise.race([start(), timeout.promise])
      this.#breaker.recordSuccess()
      return result
    } catch (error) {
      // The client's own time-out of a connection counts the time in which this process stood still. Nothing was sent.
      const wasStarved = timer.ranMs() < this.#bounds.connectTimeoutMs / 2 && this.#breaker.error === null
      if (wasStarved && isConnectTimeout(error)) return await this.#withDeadline(client, start, deadline)
      throw await this.#failureOf(error, client, isWrite)
    } finally {
      timer.cancel()
    }
  }

  /** The error of a statement that failed on these connections. */
  async #failureOf(error: unknown, client: SQL, isWrite: boolean): Promise<unknown> {
    const named = await connectError(error, this.#url, this.#mayBePooled)
    if (named !== null) this.#breaker.recordFailure(named)
    const storeError = named ?? this.toStoreError(error)
    const isLost = storeError instanceof StoreError && storeError.code === "away" && !isConnectFailure(error)
    // The time-out of another statement may have closed its connection.
    const silence = (await this.#silences.get(client)) ?? null
    const lost = silence !== null && (isLost || storeError === silence) ? silence : isLost ? storeError : null
    if (lost === null) return storeError
    return isWrite ? new StoreError("unsure", this.location, lost.reason, lost) : lost
  }

  /** Whether a pooler lends the connections, or nobody knows yet. */
  get #mayBePooled(): boolean {
    return this.#session.kind === "pooled" || this.#session.searchPath === null
  }

  /**
   * The error of statements whose answers do not come. Through a pooler, where nothing bounds a single one, one that waits for a lock is as
   * silent as a database that is away, so a new connection asks first, after those that wait have left the pool.
   */
  #judge(client: SQL): Promise<StoreError> {
    const known = this.#silences.get(client)
    if (known !== undefined) return known
    const isFirst = client === this.#sql
    const find = async (): Promise<StoreError> => {
      const [isAnswered, pooler] = await Promise.all([
        this.#session.kind === "pooled" && this.#isAnswered(this.#bounds.responseGraceMs),
        this.#mayBePooled ? silentPoolerError(this.#url) : null,
      ])
      if (isAnswered) return this.#busyError(TOO_LONG)
      const error = pooler ?? new StoreError("away", this.location, "it does not answer")
      // Else other connections have replaced these already, and the database may answer again.
      if (isFirst) this.#breaker.recordFailure(error)
      return error
    }
    const error = find()
    this.#silences.set(client, error)
    if (isFirst) this.#reconnect()
    return error
  }

  #isAnswered(timeoutMs: number): Promise<boolean> {
    return this.#probe(timeoutMs).then(
      () => true,
      () => false,
    )
  }

  /** Resolves when a new connection is answered, or the server says why it refuses one. */
  async #probe(timeoutMs = this.#bounds.connectTimeoutMs): Promise<void> {
    const client = this.#createClient(1)
    const timeout = Promise.withResolvers<never>()
    const timer = setResponsiveTimer(this.#setTimer, timeoutMs, () => timeout.reject(new Error("no answer")))
    try {
      await Promise.race([client.unsafe("SELECT 1"), timeout.promise])
    } catch (error) {
      const storeError = postgresStoreError(error, this.location)
      if (!(storeError instanceof StoreError) || IS_AWAY.has(storeError.code)) throw error
    } finally {
      timer.cancel()
      void client.close({ timeout: 0 })
    }
  }

  #reconnect(closeS = 0): void {
    const previous = this.#sql
    this.#sql = this.#createClient()
    void previous.close({ timeout: closeS })
    this.#listener.restart()
  }

  #createClient(max = this.#bounds.connectionsMax, onclose?: OnClose): SQL {
    return createClient(this.#url, this.#session, this.#bounds, max, onclose)
  }
}
