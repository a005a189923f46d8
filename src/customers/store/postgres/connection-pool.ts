import type { ReservedSQL, SQL } from "bun"
import { LRUCache } from "lru-cache"
import { Semaphore } from "../../../base/concurrency.ts"
import { assert } from "../../../base/errors.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import { setResponsiveTimer } from "../../../base/responsive-timer.ts"
import { CoalescedRuns } from "../../../base/single-flight.ts"
import { countParameters } from "../core/sql-text.ts"
import { type SqlValue, storableParams } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { createClient, type DatabaseSession, type OnClose, type PoolBounds, transactionBounds } from "./clients.ts"
import { convertRows } from "./convert-rows.ts"
import { type AvailabilityListener, DatabaseBreaker } from "./database-breaker.ts"
import { isConnectFailure, isConnectTimeout, postgresStoreError, unknownHostError } from "./postgres-errors.ts"
import { redactedUrl, validatePostgresUrl } from "./postgres-url.ts"
import { CHANGES_CHANNEL } from "./prepare-database.ts"

/** How long an orderly close may take, in seconds, in which what runs ends. */
const CLOSE_S = 1

/** How often listeners are called at most, in milliseconds, however many notifications come. */
const NOTIFICATION_INTERVAL_MS = 100

/** Why the answer to a statement did not come through a pooler: a full pool is as silent as a database that is away. */
const TOO_LONG = "its answer did not come, while the database answers others: it may wait for a lock"
const NO_POOLED_ANSWER = "no answer came through the pooler, whose pool may be full (SHOW POOLS)"

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

/** Where notifications come from, and who is told when none come. */
export type Notifications = {
  /** The URL of the server itself; null: that of the pool, unless a pooler is there. */
  readonly url: string | null
  /** Called with the error when the database answers and this address does not, and with null when it does again. */
  readonly onChange: (error: StoreError | null) => void
}

/** The connection for notifications alone names no table. */
const LISTENING: DatabaseSession = { kind: "direct", searchPath: null }

/** After so many failures in a row the address for notifications counts as unreachable. */
const LISTEN_FAILURES_MIN = 10

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
  /** The client of the connection for notifications; null: nobody has listened yet. */
  #listening: SQL | null = null
  readonly #changeListeners = new Set<() => void>()
  readonly #notifications = new CoalescedRuns(() => this.#notifyListeners())
  #isClosed = false
  readonly #breaker: DatabaseBreaker
  readonly #session: DatabaseSession
  readonly #notificationsFrom: Notifications
  #listenFailures = 0
  /** The last connections that were replaced because answers did not come, and the error of the statements on them. */
  #silence: { readonly client: SQL; readonly error: Promise<StoreError> } | null = null

  constructor(
    url: string,
    setTimer: SetTimer,
    bounds: PoolBounds,
    onAvailabilityChange: AvailabilityListener,
    session: DatabaseSession,
    notificationsFrom: Notifications,
  ) {
    this.#session = session
    this.#notificationsFrom = notificationsFrom
    const { reconnectDelayMs: firstMs, reconnectDelayMaxMs: maxMs } = bounds
    this.#breaker = new DatabaseBreaker(setTimer, { firstMs, maxMs }, () => this.#probe(), onAvailabilityChange)
    validatePostgresUrl(url)
    this.location = redactedUrl(url)
    this.#url = url
    this.#setTimer = setTimer
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.connectionsMax, bounds.waitingMax)
    this.#sql = this.#createClient()
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
    const result = await this.#withDeadline(
      () => client.unsafe<unknown[]>(sql, values),
      this.#statementDeadlineMs,
      isWrite,
    )
    return { rows: convertRows(result), count: result.affectedRows, command: result.command }
  }

  /** Begins a transaction on a connection of its own, which the caller releases. Call it inside of `withConnection`. */
  beginTransaction(): Promise<ReservedSQL> {
    const { connectTimeoutMs, responseGraceMs } = this.#bounds
    return this.#retryLostConnections(async () => {
      const client = await this.#withDeadline(() => this.#sql.reserve(), connectTimeoutMs + responseGraceMs)
      try {
        await this.#withDeadline(() => client.unsafe(this.#beginSql()), this.#statementDeadlineMs)
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
    this.#changeListeners.add(listener)
    if (this.#changeListeners.size === 1) this.#listen()
  }

  /** Closes all connections. Running statements fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#notifications.stop()
    this.#breaker.stop()
    await Promise.all([this.#sql.close({ timeout: CLOSE_S }), this.#listening?.close({ timeout: CLOSE_S })])
  }

  /** The error for the caller. A failure to connect opens the breaker. */
  toStoreError(error: unknown): unknown {
    const storeError = postgresStoreError(error, this.location)
    if (!(storeError instanceof StoreError) || storeError === error) return storeError
    // Connections to a standby stay open, although the name may point to another server by now. It answers, so what it was asked is not lost.
    if (storeError.code === "standby") this.#reconnect(CLOSE_S)
    // A server that refuses a new connection may answer on those that it has.
    if (isConnectFailure(error) && storeError.code === "away") this.#breaker.recordFailure(storeError)
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
   * Starts work and waits for its result, at most `timeoutMs` in which the event loop ran. On a time-out all connections are replaced, since none can be expected to answer. When the
   * answer to a write is lost, the error is `unsure`: the database may have done it.
   */
  async #withDeadline<T>(start: () => PromiseLike<T>, timeoutMs: number, isWrite = false): Promise<T> {
    const timeout = Promise.withResolvers<never>()
    const client = this.#sql
    const waitMs = this.#session.kind === "pooled" ? timeoutMs - this.#bounds.responseGraceMs : timeoutMs
    const timer = setResponsiveTimer(this.#setTimer, waitMs, () => void this.#judge(client).then(timeout.reject))
    try {
      const result = await Promise.race([start(), timeout.promise])
      this.#breaker.recordSuccess()
      return result
    } catch (error) {
      // The client's own time-out of a connection counts the time in which this process stood still. Nothing was sent.
      const wasStarved = timer.ranMs() < this.#bounds.connectTimeoutMs / 2 && this.#breaker.error === null
      if (wasStarved && isConnectTimeout(error)) return await this.#withDeadline(start, timeoutMs, isWrite)
      throw await this.#failureOf(error, client, isWrite)
    } finally {
      timer.cancel()
    }
  }

  /** The error of a statement that failed on these connections. */
  async #failureOf(error: unknown, client: SQL, isWrite: boolean): Promise<unknown> {
    const unknownHost = await unknownHostError(error, this.#url)
    if (unknownHost !== null) this.#breaker.recordFailure(unknownHost)
    const storeError = unknownHost ?? this.toStoreError(error)
    const isLost = storeError instanceof StoreError && storeError.code === "away" && !isConnectFailure(error)
    // The time-out of another statement may have closed its connection.
    const silence = this.#silence?.client === client ? await this.#silence.error : null
    const isSilent = silence !== null && (isLost || storeError === silence)
    if (isWrite && (isLost || isSilent)) return new StoreError("unsure", this.location, "its answer did not come")
    return isSilent ? silence : storeError
  }

  /**
   * The error of statements whose answers do not come. Through a pooler, where nothing bounds a single one, one that waits for a lock is as
   * silent as a database that is away, so a new connection asks first, after those that wait have left the pool.
   */
  #judge(client: SQL): Promise<StoreError> {
    if (this.#silence?.client === client) return this.#silence.error
    const find = async (): Promise<StoreError> => {
      const isPooled = this.#session.kind === "pooled"
      const [probe] = isPooled ? await Promise.allSettled([this.#probe(this.#bounds.responseGraceMs)]) : []
      if (probe?.status === "fulfilled") return this.#busyError(TOO_LONG)
      const error = new StoreError("away", this.location, isPooled ? NO_POOLED_ANSWER : "it does not answer")
      // Else other connections have replaced these already, and the database may answer again.
      if (isFirst) this.#breaker.recordFailure(error)
      return error
    }
    const isFirst = client === this.#sql
    const error = find()
    if (isFirst) {
      this.#silence = { client, error }
      this.#reconnect()
    }
    return error
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
      if (!(storeError instanceof StoreError && storeError.code !== "away")) throw error
    } finally {
      timer.cancel()
      void client.close({ timeout: 0 })
    }
  }

  #reconnect(closeS = 0): void {
    const previous = this.#sql
    this.#sql = this.#createClient()
    void previous.close({ timeout: closeS })
    this.#listen()
  }

  /**
   * Opens a connection for notifications, in place of the one before. A lost one is replaced by us: Bun would reopen it too, and print a
   * line of its own for each attempt that fails.
   */
  #listen(): void {
    const { url } = this.#notificationsFrom
    if (this.#changeListeners.size === 0 || this.#isClosed || (url === null && this.#session.kind === "pooled")) return
    const previous = this.#listening
    let isLost = false
    const onLost = (error?: unknown): void => {
      if (isLost) return
      isLost = true
      this.#recordListening(error ?? null)
      void client.close({ timeout: 0 })
      this.#setTimer(this.#bounds.reconnectDelayMaxMs, () => {
        if (client === this.#listening && !this.#isClosed) this.#listen()
      })
    }
    const client = url === null ? this.#createClient(1, onLost) : createClient(url, LISTENING, this.#bounds, 1, onLost)
    this.#listening = client
    void previous?.close({ timeout: 0 })
    const onNotification = (): void => this.#notifications.request()
    const onListening = (): void => {
      this.#recordListening(undefined)
      onNotification()
    }
    client.listen(CHANGES_CHANNEL, onNotification, onListening).catch(onLost)
  }

  /** Tells once that an address of its own for notifications fails while the database answers. `undefined`: it answers. */
  #recordListening(error: unknown): void {
    const { url, onChange } = this.#notificationsFrom
    if (url === null || this.#isClosed) return
    if (error === undefined) {
      if (this.#listenFailures >= LISTEN_FAILURES_MIN) onChange(null)
      this.#listenFailures = 0
      return
    }
    if (this.#breaker.error !== null || ++this.#listenFailures !== LISTEN_FAILURES_MIN) return
    const location = redactedUrl(url)
    const storeError = postgresStoreError(error, location)
    onChange(storeError instanceof StoreError ? storeError : new StoreError("away", location, "it does not answer"))
  }

  /** Any user of the server can send notifications, each of which costs us statements. */
  async #notifyListeners(): Promise<void> {
    for (const listener of this.#changeListeners) listener()
    await new Promise<void>(resolve => void this.#setTimer(NOTIFICATION_INTERVAL_MS, resolve))
  }

  #createClient(max = this.#bounds.connectionsMax, onclose?: OnClose): SQL {
    return createClient(this.#url, this.#session, this.#bounds, max, onclose)
  }
}
