import type { SetTimer, Stopwatch } from "./outside-world.ts"

/**
 * Lets all timers of one length share one timer of the system. They end in the order in which they were set, so that a list
 * holds them: to set or to cancel one of many thousands takes a tenth of what a timer of the system takes. They end as exactly,
 * and nothing of a cancelled one is kept.
 */
export function shareTimers(setTimer: SetTimer, stopwatch: Stopwatch): SetTimer {
  const lists = new Map<number, TimerList>()
  return (ms, work) => {
    let list = lists.get(ms)
    if (list === undefined) {
      list = new TimerList(ms, setTimer, stopwatch, ended => {
        if (lists.get(ms) === ended) lists.delete(ms)
      })
      lists.set(ms, list)
    }
    const timer = new SharedTimer(work)
    const ofTimer = list
    ofTimer.add(timer, stopwatch())
    return () => ofTimer.cancel(timer)
  }
}

/** A timer in a list, or an object that is one beside what else it is. */
export abstract class ListedTimer {
  /** When it ends; null: it has ended, or is cancelled, and is in no list. This and its neighbours are set by the list. */
  dueMs: number | null = null
  previousTimer: ListedTimer | null = null
  nextTimer: ListedTimer | null = null

  abstract onDue(): void
}

class SharedTimer extends ListedTimer {
  override readonly onDue: () => void

  constructor(work: () => void) {
    super()
    this.onDue = work
  }
}

/** The timers of one length, the earliest first. */
export class TimerList {
  readonly #ms: number
  readonly #setTimer: SetTimer
  readonly #stopwatch: Stopwatch
  readonly #onEmpty: (ended: TimerList) => void
  #first: ListedTimer | null = null
  #last: ListedTimer | null = null
  /** Cancels the timer of the system. It may end before the first timer is due, which was not the first when it was set. */
  #cancelSystemTimer: (() => void) | null = null

  /** `onEmpty` is called when no timer is left. */
  constructor(
    ms: number,
    setTimer: SetTimer,
    stopwatch: Stopwatch,
    onEmpty: (ended: TimerList) => void = () => undefined,
  ) {
    this.#ms = ms
    this.#setTimer = setTimer
    this.#stopwatch = stopwatch
    this.#onEmpty = onEmpty
  }

  /** Adds a timer that is in no list. `nowMs` is what the stopwatch gives now. */
  add(timer: ListedTimer, nowMs: number): void {
    timer.dueMs = nowMs + this.#ms
    timer.previousTimer = this.#last
    if (this.#last === null) this.#first = timer
    else this.#last.nextTimer = timer
    this.#last = timer
    this.#cancelSystemTimer ??= this.#setTimer(this.#ms, () => this.#runDue())
  }

  /** Takes a timer out, if it is in the list. */
  cancel(timer: ListedTimer): void {
    if (timer.dueMs === null) return
    this.#remove(timer)
    if (this.#first === null) this.#end()
  }

  #runDue(): void {
    this.#cancelSystemTimer = null
    const nowMs = this.#stopwatch()
    try {
      for (let timer = this.#first; timer !== null && (timer.dueMs ?? 0) <= nowMs; timer = this.#first) {
        this.#remove(timer)
        timer.onDue()
      }
    } finally {
      this.#waitForFirst()
    }
  }

  /** Waits for the first timer, if the work that was done has not begun to wait for one that it set. */
  #waitForFirst(): void {
    this.#cancelSystemTimer?.()
    this.#cancelSystemTimer = null
    if (this.#first === null) this.#end()
    else {
      const leftMs = (this.#first.dueMs ?? 0) - this.#stopwatch()
      this.#cancelSystemTimer = this.#setTimer(Math.max(leftMs, 0), () => this.#runDue())
    }
  }

  #remove(timer: ListedTimer): void {
    timer.dueMs = null
    if (timer.previousTimer === null) this.#first = timer.nextTimer
    else timer.previousTimer.nextTimer = timer.nextTimer
    if (timer.nextTimer === null) this.#last = timer.previousTimer
    else timer.nextTimer.previousTimer = timer.previousTimer
    // A timer that ended would keep those that were set after it in memory.
    timer.previousTimer = null
    timer.nextTimer = null
  }

  /** A timer of the system that is left would keep the process alive. */
  #end(): void {
    this.#cancelSystemTimer?.()
    this.#cancelSystemTimer = null
    this.#onEmpty(this)
  }
}
