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
    return list.add(work)
  }
}

/** One timer in the list of its length. Once it has ended or is cancelled, it is in no list. */
type SharedTimer = {
  readonly dueMs: number
  readonly work: () => void
  isWaiting: boolean
  previous: SharedTimer | null
  next: SharedTimer | null
}

/** The timers of one length, the earliest first. */
class TimerList {
  readonly #ms: number
  readonly #setTimer: SetTimer
  readonly #stopwatch: Stopwatch
  readonly #onEmpty: (ended: TimerList) => void
  #first: SharedTimer | null = null
  #last: SharedTimer | null = null
  /** Cancels the timer of the system. It may end before the first timer is due, which was not the first when it was set. */
  #cancelSystemTimer: (() => void) | null = null

  /** `onEmpty` is called when no timer is left: then the list is not used again. */
  constructor(ms: number, setTimer: SetTimer, stopwatch: Stopwatch, onEmpty: (ended: TimerList) => void) {
    this.#ms = ms
    this.#setTimer = setTimer
    this.#stopwatch = stopwatch
    this.#onEmpty = onEmpty
  }

  /** Adds a timer. The returned function cancels it. */
  add(work: () => void): () => void {
    const timer: SharedTimer = {
      dueMs: this.#stopwatch() + this.#ms,
      work,
      isWaiting: true,
      previous: this.#last,
      next: null,
    }
    if (this.#last === null) this.#first = timer
    else this.#last.next = timer
    this.#last = timer
    this.#cancelSystemTimer ??= this.#setTimer(this.#ms, () => this.#runDue())
    return () => {
      if (!timer.isWaiting) return
      this.#remove(timer)
      if (this.#first === null) this.#end()
    }
  }

  #runDue(): void {
    this.#cancelSystemTimer = null
    const nowMs = this.#stopwatch()
    try {
      for (let timer = this.#first; timer !== null && timer.dueMs <= nowMs; timer = this.#first) {
        this.#remove(timer)
        timer.work()
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
    else
      this.#cancelSystemTimer = this.#setTimer(Math.max(this.#first.dueMs - this.#stopwatch(), 0), () => this.#runDue())
  }

  #remove(timer: SharedTimer): void {
    timer.isWaiting = false
    if (timer.previous === null) this.#first = timer.next
    else timer.previous.next = timer.next
    if (timer.next === null) this.#last = timer.previous
    else timer.next.previous = timer.previous
    // A timer that ended would keep those that were set after it in memory.
    timer.previous = null
    timer.next = null
  }

  /** A timer of the system that is left would keep the process alive. */
  #end(): void {
    this.#cancelSystemTimer?.()
    this.#cancelSystemTimer = null
    this.#onEmpty(this)
  }
}
