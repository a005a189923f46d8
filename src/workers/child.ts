import type { SupervisorMessage, WorkerMessage } from "./message.ts"

/** How a worker ended. */
export type Ended = {
  /** Null: it was killed. */
  readonly exitCode: number | null
  /** What it was killed by, such as `SIGKILL`; null: it ended by itself. */
  readonly killedBy: string | null
}

/** A worker as its supervisor has it. Nothing here throws when the worker has ended. */
export type Child = {
  readonly pid: number
  readonly tell: (message: SupervisorMessage) => void
  /** Asks it to finish what is in flight and to end. */
  readonly stop: () => void
  /** Ends it at once. */
  readonly kill: () => void
}

/**
 * Starts a worker. `heard` gets what it tells, `ended` is called once when it is gone, and neither before this has
 * returned. Throws when it cannot be started.
 */
export type StartChild = (heard: (message: WorkerMessage) => void, ended: (end: Ended) => void) => Child
