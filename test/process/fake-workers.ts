import type { LogFields, LogLevel } from "../../src/base/log.ts"
import type {
  StartWorker,
  SupervisorMessage,
  WorkerExit,
  WorkerMessage,
  WorkerProcess,
} from "../../src/system/child-processes.ts"
import { stoppedTime } from "../support/time.ts"

/** A worker that does what the test says. */
export type FakeWorker = {
  readonly told: readonly SupervisorMessage[]
  /** How it was asked to end. */
  readonly asked: readonly ("stop" | "kill")[]
  readonly say: (message: WorkerMessage) => void
  /** Asks and listens, as a worker does that starts well. */
  readonly begin: (port?: number) => void
  readonly end: (ended: Partial<WorkerExit>) => void
}

/** What seats need, over workers that do what the test says and a time that stands still. */
export function fakeWorkers(options: { readonly answersStop?: boolean; readonly cannotStart?: string } = {}) {
  const children: FakeWorker[] = []
  const time = stoppedTime()
  const logged: { readonly level: LogLevel; readonly says: string; readonly fields: LogFields }[] = []
  const left: number[] = []
  const start: StartWorker = (heard, ended) => {
    if (options.cannotStart !== undefined) throw new Error(options.cannotStart)
    const told: SupervisorMessage[] = []
    const asked: ("stop" | "kill")[] = []
    const end = (how: Partial<WorkerExit>): void => ended({ exitCode: null, killedBy: null, ...how })
    const say = (message: WorkerMessage): void => heard(message)
    const begin = (port = 8080): void => {
      say({ kind: "ready" })
      say({ kind: "listening", port, address: `http://127.0.0.1:${port}`, baseUrl: `http://127.0.0.1:${port}` })
    }
    children.push({ told, asked, say, begin, end })
    return {
      pid: 1000 + children.length,
      send: message => void told.push(message),
      stop: () => {
        asked.push("stop")
        if (options.answersStop !== false) queueMicrotask(() => end({ exitCode: 0 }))
      },
      kill: () => {
        asked.push("kill")
        queueMicrotask(() => end({ killedBy: "SIGKILL" }))
      },
    } satisfies WorkerProcess
  }
  const needs = {
    startWorker: start,
    setTimer: time.later,
    stopwatch: time.stopwatch,
    log: (level: LogLevel, says: string, fields: LogFields = {}) => void logged.push({ level, says, fields }),
    stopTimeoutMs: 15_000,
    onExit: (seat: number) => void left.push(seat),
  }
  const child = (at: number): FakeWorker => {
    const found = children[at]
    if (found === undefined) throw new Error(`worker ${at} was not started`)
    return found
  }
  return { needs, children, child, time, logged, onExit: left }
}
