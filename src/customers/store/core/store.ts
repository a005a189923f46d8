/** What a parameter or a column may hold. No booleans and no instants: 0 or 1, and integer milliseconds. */
export type SqlValue = string | number | null | Uint8Array

/**
 * Where rows are kept, seen by the nouns. Each statement is one statement of what SQLite and PostgreSQL share:
 * parameters `$1`, `$2`, … by their number, `RETURNING`, `ON CONFLICT`, times as integer milliseconds, and no `;`.
 * A failure of the world (disk full, locked, damaged) rejects with a `StoreError`.
 */
export type Store = {
  /** All rows of the answer, in its order. */
  readonly all: <Row>(sql: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>
  /** The first row of the answer, or null when it has none. */
  readonly one: <Row>(sql: string, params?: readonly SqlValue[]) => Promise<Row | null>
  /** Runs the statement and gives the count of rows it inserted, changed or deleted. */
  readonly run: (sql: string, params?: readonly SqlValue[]) => Promise<number>
  /**
   * Runs `work` with a store of its own: all of its statements happen, or, when it rejects, none. It is durable when it
   * resolves. Statements from elsewhere wait, or go on beside it and see nothing of it: two that read before they write
   * begin with a write that takes the same row, be it one that changes nothing. `work` must ask nothing but that store,
   * neither the network nor the outer store. A statement that fails ends its transaction, even when the failure is caught; a transaction inside of a
   * transaction takes back its own statements only. `work` is begun anew when the engine had to end it, for two that wait for each
   * other, and so it must leave nothing behind but what its store keeps and what it gives.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>) => Promise<T>
}

/** A store and the right to close it, which waits for what is under way. Closing twice is closing once. */
export type OpenStore = Store & {
  readonly close: () => Promise<void>
  /**
   * Has `heard` called, until the store is closed, when others may have appended to the change log, or a node came or went,
   * where the engine tells of it. Notifications may be lost, and SQLite has none: whoever must know looks from time to time.
   */
  readonly onChange: (heard: () => void) => void
}
