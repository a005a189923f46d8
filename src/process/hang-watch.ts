import type { SetTimer, Stopwatch } from "../base/outside-world.ts"
import type { ProcessWaits } from "../system/host-state.ts"

/** How often a worker tells that its event loop runs, and its supervisor looks whether it has. */
export const BEAT_MS = 1000

/** A worker that says nothing while it could have run for so long hangs. */
const SILENT_MS_MAX = 6 * BEAT_MS

/**
 * A worker that was silent at so many looks in a row is killed whatever holds it up, since another one may get what it lacks. Looks are
 * counted and not milliseconds, since after a pause of the whole host no worker has had the time to say anything.
 */
const SILENT_LOOKS_MAX = 60

/** What the watch needs, and what it does. */
export type HangWatchDeps = {
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** What a process waits for; null: the system does not tell. */
  readonly processWaits: (pid: number) => ProcessWaits | null
}

/** What is found about a worker that is silent, and what an operator does about it. */
export type Silence = { readonly why: string; readonly remedy: string }

/** What is done about a worker that is silent. */
export type SilenceHandlers = {
  /** It is held up from outside. Called once in a silence. */
  readonly onHeldUp: (silence: Silence) => void
  /** It hangs. Called once; the watch is over then. */
  readonly onHang: (silence: Silence) => void
}

/**
 * Looks every `BEAT_MS` whether a worker has given a sign of life. Time in which it waited for a processor or a disk does not count
 * against it, as far as the system tells: then it is held up and does not hang.
 */
export class HangWatch {
  readonly #deps: HangWatchDeps
  readonly #pid: number
  readonly #handlers: SilenceHandlers
  #silentLooks = 0
  /** How long it could have run since its last sign of life. */
  #silentMs = 0
  #processorWaitMs = 0
  #diskLooks = 0
  #lookedAtMs = 0
  #waits: ProcessWaits | null = null
  #cancelLook: () => void

  constructor(deps: HangWatchDeps, pid: number, handlers: SilenceHandlers) {
    this.#deps = deps
    this.#pid = pid
    this.#handlers = handlers
    this.#cancelLook = deps.setTimer(BEAT_MS, () => this.#look())
  }

  /** The worker has given a sign of life. */
  sawLife(): void {
    this.#silentLooks = 0
  }

  stop(): void {
    this.#cancelLook()
  }

  #look(): void {
    this.#count()
    const isHeldUp = this.#silentMs < SILENT_MS_MAX
    if (!isHeldUp || this.#silentLooks >= SILENT_LOOKS_MAX) {
      this.#handlers.onHang(this.#describe(isHeldUp))
      return
    }
    if (this.#silentLooks * BEAT_MS === SILENT_MS_MAX) this.#handlers.onHeldUp(this.#describe(true))
    this.#cancelLook = this.#deps.setTimer(BEAT_MS, () => this.#look())
  }

  /** The first look comes after a sign of life mostly, so the system is asked from the second one on, and the third one compares. */
  #count(): void {
    this.#silentLooks++
    if (this.#silentLooks === 1) {
      this.#silentMs = BEAT_MS
      this.#processorWaitMs = 0
      this.#diskLooks = 0
      this.#waits = null
      return
    }
    const now = this.#deps.stopwatch()
    const before = this.#waits
    this.#waits = this.#deps.processWaits(this.#pid)
    const waitedMs = before === null || this.#waits === null ? 0 : this.#waits.processorMs - before.processorMs
    // The count of threads that have ended is gone.
    const processorWaitMs = Math.max(0, waitedMs)
    const isForDisk = this.#waits?.isForDisk === true
    const couldRunMs = before === null ? BEAT_MS : Math.max(0, now - this.#lookedAtMs - processorWaitMs)
    this.#processorWaitMs += processorWaitMs
    if (isForDisk) this.#diskLooks++
    else this.#silentMs += Math.min(BEAT_MS, couldRunMs)
    this.#lookedAtMs = now
  }

  #describe(isHeldUp: boolean): Silence {
    const silence = `It has said nothing for ${this.#silentLooks} s`
    if (!isHeldUp)
      return {
        why: `${silence}, of which it could have run for ${Math.round(this.#silentMs / 1000)} s.`,
        remedy: HUNG_REMEDY,
      }
    const waits = [
      this.#processorWaitMs > 0
        ? `a free processor (its threads: ${Math.round(this.#processorWaitMs / 1000)} s)`
        : null,
      this.#diskLooks > 0 ? `a disk (${this.#diskLooks} s)` : null,
    ].filter(wait => wait !== null)
    return { why: `${silence}, and waited for ${waits.join(" and ")}.`, remedy: HELD_UP_REMEDY }
  }
}

const HUNG_REMEDY =
  "Its thread did not come back: a defect, or a signal has stopped it (SIGSTOP). Report it with the lines before this one."
const HELD_UP_REMEDY =
  "Look what takes the processors of the host or what slows its disk (`top`, `dmesg`), or give the service more (`CPUQuota` and `CPUWeight` of systemd, `--cpus` of a container)."
