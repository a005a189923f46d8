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
