import type { Database, Statement } from "bun:sqlite"
import { LRUCache } from "lru-cache"
import { withParameters } from "./sql-text.ts"
import type { Cell } from "./store.ts"

/** How many prepared statements are kept; the code has fewer, so none is prepared twice unless SQL is built at run time. */
const PREPARED_MAX = 256

/** The prepared statements of one connection, bounded. */
export class Statements {
  readonly #prepared: LRUCache<string, Statement>
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.#prepared = new LRUCache({ max: PREPARED_MAX, dispose: statement => statement.finalize() })
  }

  /** All rows of the statement's answer. */
  all<Row>(sql: string, params: readonly Cell[]): readonly Row[] {
    // The one boundary where rows get their type: a statement stands beside the row type it is asked with.
    return this.#prepare(sql).all(...params) as Row[]
  }

  /** The count of rows that the statement changed. */
  run(sql: string, params: readonly Cell[]): number {
    return this.#prepare(sql).run(...params).changes
  }

  /** Lets go of all prepared statements; the connection can be closed then. */
  finalize(): void {
    this.#prepared.clear()
  }

  #prepare(sql: string): Statement {
    const held = this.#prepared.get(sql)
    if (held !== undefined) return held
    const statement = this.#database.prepare(inSqlite(sql))
    this.#prepared.set(sql, statement)
    return statement
  }
}

/**
 * SQLite takes `$2` for a name and numbers names in the order they appear, so `$2, $1` would get the values crossed;
 * `?2` is what PostgreSQL means by `$2`. And of two statements in one text, only the first would be prepared.
 */
const inSqlite = (sql: string): string => withParameters(sql, number => `?${number}`)
