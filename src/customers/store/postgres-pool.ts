import { type ReservedSQL, SQL } from "bun"
import { LRUCache } from "lru-cache"
import { assert } from "../../base/assert.ts"
import { Slots } from "../../base/slots.ts"
import type { Later } from "../../base/timer.ts"
import { Outage, type Told } from "./outage.ts"
import type { PoolBounds } from "./pool-bounds.ts"
import { isUnconnected, postgresFault } from "./postgres-fault.ts"
import { rowsOf, sent } from "./postgres-rows.ts"
import { CHANGES_CHANNEL } from "./postgres-tables.ts"
import { BEGUN_WITH, placeOf, refuseUnusable } from "./postgres-url.ts"
import { parametersIn } from "./sql-text.ts"
import type { Cell } from "./store.ts"
import { StoreFault } from "./store-fault.ts"

/** How long connections that are closed in good order may take for it, in seconds. */
const CLOSE_S = 1

/** How many statements' texts are known to be one statement each; the code has fewer. */
const CHECKED_MAX = 512

/** One statement's answer. */
export type Answer = { readonly rows: Record<string, Cell>[]; readonly count: number; readonly command: string | null }

/** A client that can ask: the pool's, or that of one connection. */
type Asked = Pick<SQL, "unsafe">

/**
 * The bounded connections of one process to a PostgreSQL database. Connections are made when they are needed, and again after they
 * were lost: after a failure nothing is asked for a moment, so that a database that comes up is not run over. Everything
 * fails with a `StoreFault` when it has waited as long as it may.
 */
export class PostgresPool {
  readonly where: string
  readonly #url: string
  readonly #later: Later
  readonly #bounds: PoolBounds
  readonly #slots: Slots
  readonly #checked = new LRUCache<string, number>({ max: CHECKED_MAX })
  #sql: SQL
  readonly #hearing = new Set<() => void>()
  #isClosed = false
  readonly #outage: Outage

  constructor(url: string, later: Later, bounds: PoolBounds, told: Told) {
    this.#outage = new Outage(later, bounds, told)
    refuseUnusable(url)
    this.where = placeOf(url)
    this.#url = url
    this.#later = later
    this.#bounds = bounds
    this.#slots = new Slots(bounds.connectionsMax, bounds.waitingMax)
    this.#sql = this.#connected()
  }

  /** Runs `work` while one of the connections is its own, or free for it. */
  async taking<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#slot()
    try {
      // Who has waited for a connection may find that there are none any more.
      const left = this.#outage.enter()
      return await work().finally(left)
    } finally {
      leave()
    }
  }

  /**
   * Asks one statement on any connection. It is to be asked inside of `taking`. One that only reads is asked again when its
   * connection turns out to be cut, as all are after the database was started again.
   */
  async ask(sql: string, params: readonly Cell[]): Promise<Answer> {
    const isRead = sql.startsWith("SELECT ")
    const ask = () => this.#asked(this.#sql, sql, params, !isRead)
    return await (isRead ? this.#despiteCuts(ask) : ask())
  }

  /** Asks one statement of a transaction on its `client`. */
  askOn(client: Asked, sql: string, params: readonly Cell[]): Promise<Answer> {
    return this.#asked(client, sql, params, sql === "COMMIT")
  }

  async #asked(client: Asked, sql: string, params: readonly Cell[], isKept: boolean): Promise<Answer> {
    const wanted = this.#parametersIn(sql)
    assert(params.length === wanted, `expected ${wanted} values, got ${params.length}`)
    const { statementTimeoutMs, silenceMs } = this.#bounds
    const asked = client.unsafe<unknown[]>(sql, sent(params))
    const result = await this.#answered(asked, statementTimeoutMs + silenceMs, isKept)
    return { rows: rowsOf(result), count: result.affectedRows, command: result.command }
  }

  /** A connection of its own on which a transaction has begun, to be released. It is to be asked inside of `taking`. */
  begun(): Promise<ReservedSQL> {
    const { connectTimeoutMs, silenceMs } = this.#bounds
    return this.#despiteCuts(async () => {
      const client = await this.#answered(this.#sql.reserve(), connectTimeoutMs + silenceMs)
      try {
        await this.askOn(client, "BEGIN", [])
        return client
      } catch (fault) {
        await client.release()
        throw fault
      }
    })
  }

  /** Has `heard` called whenever the change log has grown, and when that may have been missed; until the pool is closed. */
  listen(heard: () => void): void {
    this.#hearing.add(heard)
    if (this.#hearing.size === 1) this.#listen()
  }

  /** Closes all connections. What is under way fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sql.close({ timeout: CLOSE_S })
  }

  /** What is told of a failure. After one to connect, nothing is asked for a moment. */
  faultOf(fault: unknown): unknown {
    const known = postgresFault(fault, this.where)
    if (!(known instanceof StoreFault) || known === fault) return known
    // Connections to a server that no longer writes stay with it, though its name may stand for another by now.
    if (known.code === "standby") this.#renew()
    if (isUnconnected(fault)) this.#outage.begin(known)
    return known
  }

  /** Does what changes nothing again when its connection turns out to be cut: each of those that were there may be. */
  async #despiteCuts<T>(work: () => Promise<T>): Promise<T> {
    for (let cut = 0; cut < this.#bounds.connectionsMax; cut++)
      try {
        return await work()
      } catch (fault) {
        const isCut = fault instanceof StoreFault && fault.code === "away" && this.#outage.fault === null
        if (!isCut) throw fault
      }
    return await work()
  }

  #parametersIn(sql: string): number {
    const known = this.#checked.get(sql)
    if (known !== undefined) return known
    const count = parametersIn(sql)
    this.#checked.set(sql, count)
    return count
  }

  async #slot(): Promise<() => void> {
    if (this.#outage.fault !== null) throw this.#outage.fault
    const free = this.#slots.takeNow()
    if (free !== null) return free
    const waiting = this.#slots.take()
    if (waiting === null) throw this.#busy("too many wait for a connection")
    const late = Promise.withResolvers<null>()
    const callOff = this.#later(this.#bounds.waitTimeoutMs, () => late.resolve(null))
    const leave = await Promise.race([waiting, late.promise])
    callOff()
    if (leave !== null) return leave
    void waiting.then(tooLate => tooLate())
    throw this.#busy("no connection became free in time")
  }

  #busy(why: string): StoreFault {
    return new StoreFault("busy", this.where, why)
  }

  /**
   * What is promised, or a fault when it stays silent for too long: then nothing is to be expected of any connection. What is
   * kept as soon as it is done may be so when its answer did not come: the fault is `unsure`.
   */
  async #answered<T>(promised: PromiseLike<T>, ms: number, isKept = false): Promise<T> {
    const silent = Promise.withResolvers<never>()
    const client = this.#sql
    const callOff = this.#later(ms, () => {
      const fault = new StoreFault("away", this.where, "it does not answer")
      silent.reject(fault)
      this.#outage.begin(fault)
      if (client === this.#sql) this.#renew()
    })
    try {
      const result = await Promise.race([promised, silent.promise])
      this.#outage.end()
      return result
    } catch (fault) {
      const known = this.faultOf(fault)
      const isUnsure = isKept && known instanceof StoreFault && known.code === "away" && !isUnconnected(fault)
      throw isUnsure ? new StoreFault("unsure", this.where, "its answer did not come") : known
    } finally {
      callOff()
    }
  }

  #renew(): void {
    const old = this.#sql
    this.#sql = this.#connected()
    void old.close({ timeout: 0 })
    this.#listen()
  }

  /** The client keeps a connection of its own for this, and makes it anew when it is lost. */
  #listen(): void {
    if (this.#hearing.size === 0) return
    const client = this.#sql
    const heard = (): void => {
      for (const hear of this.#hearing) hear()
    }
    client.listen(CHANGES_CHANNEL, heard, heard).catch(() => {
      this.#later(this.#bounds.restMsMax, () => {
        if (client === this.#sql && !this.#isClosed) this.#listen()
      })
    })
  }

  #connected(): SQL {
    const { connectionsMax, connectTimeoutMs, statementTimeoutMs, waitTimeoutMs } = this.#bounds
    return new SQL(this.#url, {
      adapter: "postgres",
      max: connectionsMax,
      connectionTimeout: connectTimeoutMs / 1000,
      connection: {
        ...BEGUN_WITH,
        application_name: "mailkind",
        default_transaction_isolation: "read committed",
        statement_timeout: statementTimeoutMs,
        lock_timeout: waitTimeoutMs,
        idle_in_transaction_session_timeout: statementTimeoutMs,
      },
    })
  }
}
