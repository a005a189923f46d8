import type { LogFields } from "../../src/base/log.ts"
import type { LogLevel } from "../../src/base/log-level.ts"
import { BEAT_MS } from "../../src/process/hang-watch.ts"
import type {
  StartWorker,
  SupervisorMessage,
  WorkerExit,
  WorkerMessage,
  WorkerProcess,
} from "../../src/system/child-processes.ts"
import type { ProcessWaits } from "../../src/system/host-state.ts"
import { createFakeTime } from "../support/time.ts"

/** A worker that does what the test says. */
export type FakeWorker = {
  readonly facts: readonly SupervisorMessage[]
  /** How it was asked to end. */
  readonly requests: readonly ("stop" | "kill")[]
  readonly say: (message: WorkerMessage) => void
  /** Asks and listens, as a worker does that starts well. */
  readonly begin: (port?: number) => void
  readonly end: (ended: Partial<WorkerExit>) => void
}

/** What seats need, over workers that do what the test says and a time that stands still. */
export function fakeWorkers(
  options: {
    readonly answersStop?: boolean
    readonly cannotStart?: string
    readonly hangs?: boolean
    readonly kills?: () => number | null
    readonly waits?: () => ProcessWaits
  } = {},
) {
  const children: FakeWorker[] = []
  const time = createFakeTime()
  const logged: { readonly level: LogLevel; readonly message: string; readonly fields: LogFields }[] = []
  const left: [seat: number, isUnasked: boolean][] = []
  const start: StartWorker = (received, ended) => {
    if (options.cannotStart !== undefined) throw new Error(options.cannotStart)
    const facts: SupervisorMessage[] = []
    const requests: ("stop" | "kill")[] = []
    const state = { isOver: false }
    const end = (how: Partial<WorkerExit>): void => {
      state.isOver = true
      ended({ exitCode: null, killedBy: null, ...how })
    }
    const beat = (): void => {
      if (state.isOver) return
      received({ kind: "beat" })
      time.later(BEAT_MS, beat)
    }
    const say = (message: WorkerMessage): void => {
      received(message)
      if (message.kind === "ready" && options.hangs !== true) time.later(BEAT_MS, beat)
    }
    const begin = (port = 8080): void => {
      say({ kind: "ready" })
      say({ kind: "listening", port, address: `http://127.0.0.1:${port}`, baseUrl: `http://127.0.0.1:${port}` })
    }
    children.push({ facts, requests, say, begin, end })
    return {
      pid: 1000 + children.length,
      send: message => void facts.push(message),
      stop: () => {
        requests.push("stop")
        if (options.answersStop !== false) queueMicrotask(() => end({ exitCode: 0 }))
      },
      kill: () => {
        requests.push("kill")
        queueMicrotask(() => end({ killedBy: "SIGKILL" }))
      },
    } satisfies WorkerProcess
  }
  const needs = {
    startWorker: start,
    setTimer: time.later,
    stopwatch: time.stopwatch,
    log: (level: LogLevel, message: string, fields: LogFields = {}) => void logged.push({ level, message, fields }),
    stopTimeoutMs: 15_000,
    outOfMemoryKills: () => (options.kills === undefined ? 0 : options.kills()),
    processWaits: () => options.waits?.() ?? null,
    onExit: (seat: number, isUnasked: boolean) => void left.push([seat, isUnasked]),
  }
  const child = (at: number): FakeWorker => {
    const found = children[at]
    if (found === undefined) throw new Error(`worker ${at} was not started`)
    return found
  }
  return { needs, children, child, time, logged, onExit: left }
}
