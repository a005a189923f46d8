import { assert } from "../base/assert.ts"
import type { Stopwatch } from "../base/clock.ts"

/** Calls the work when all that has arrived by now was taken in. */
export type Soon = (work: () => void) => void

/** How many requests wait at most: so many are answered at once, without waiting for others. */
export const COHORT_MAX = 256

/** What a request goes through until it is answered. */
export type Way<T> = {
  /** Each is taken by all requests of a moment before any takes the next; the last one answers. */
  readonly steps: readonly Step<T>[]
  /** Answers where a step threw, or rejected. It never throws. */
  readonly refused: (task: T, error: unknown) => Response
  /** Hears of each answer, once, and how long it took. It never throws. */
  readonly ended: (task: T, response: Response, tookMs: number) => void
}

/** Undefined: the way goes on. A promise: the request has to wait for something, and goes the rest of its way alone. */
export type Step<T> = (task: T) => undefined | Response | Promise<undefined | Response>

/**
 * Gathers requests that arrive at one moment, and takes all of them through one step of their way before the next. The
 * processor's caches hold the code of a step, not of the whole way, and less between the system calls that read and write a
 * request: under load, to gather them is a fifth more answers, and to go step by step another twentieth. A request that
 * comes alone waits for nothing but the end of the event loop's turn.
 */
export class Cohort<T> {
  readonly #soon: Soon
  readonly #stopwatch: Stopwatch
  readonly #way: Way<T>
  readonly #steps: readonly { readonly step: Step<T>; readonly rest: readonly Step<T>[] }[]
  #gathering: Gathering<T> | null = null

  constructor(soon: Soon, stopwatch: Stopwatch, way: Way<T>) {
    this.#soon = soon
    this.#stopwatch = stopwatch
    this.#way = way
    this.#steps = way.steps.map((step, at) => ({ step, rest: way.steps.slice(at + 1) }))
  }

  /** Has the task go its way, and gives its answer. It never rejects. */
  answered(task: T): Promise<Response> {
    this.#gathering ??= this.#begin()
    const gathering = this.#gathering
    const one: Going<T> = { task, answer: undefined }
    if (gathering.all.push(one) === COHORT_MAX) this.#end(gathering)
    return gathering.done.then(() => answerOf(one))
  }

  #begin(): Gathering<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const gathering = { all: [], done: promise, resolve, sinceMs: this.#stopwatch() }
    this.#soon(() => this.#end(gathering))
    return gathering
  }

  /** Nobody is waited for here. */
  #end(gathering: Gathering<T>): void {
    if (this.#gathering !== gathering) return
    this.#gathering = null
    const { all, sinceMs } = gathering
    // These loops make no objects: at each step each request would leave one behind.
    for (const { step, rest } of this.#steps)
      for (const one of all) one.answer ??= this.#taken(one.task, step, rest, sinceMs)
    const tookMs = this.#stopwatch() - sinceMs
    try {
      for (const { task, answer } of all)
        if (answer !== undefined && !(answer instanceof Promise)) this.#way.ended(task, answer, tookMs)
    } finally {
      gathering.resolve()
    }
  }

  #taken(task: T, step: Step<T>, rest: readonly Step<T>[], sinceMs: number): Answer {
    try {
      const taken = step(task)
      return taken instanceof Promise ? this.#alone(task, taken, rest, sinceMs) : taken
    } catch (error) {
      return this.#way.refused(task, error)
    }
  }

  async #alone(
    task: T,
    waited: Promise<undefined | Response>,
    rest: readonly Step<T>[],
    sinceMs: number,
  ): Promise<Response> {
    let answer: undefined | Response
    try {
      answer = await waited
      for (const step of rest) {
        if (answer !== undefined) break
        // Where nothing has to be waited for, nothing comes between two steps.
        const taken = step(task)
        answer = taken instanceof Promise ? await taken : taken
      }
      assert(answer !== undefined, LAST_ANSWERS)
    } catch (error) {
      answer = this.#way.refused(task, error)
    }
    this.#way.ended(task, answer, this.#stopwatch() - sinceMs)
    return answer
  }
}

const LAST_ANSWERS = "the last step of a way answers"

type Answer = undefined | Response | Promise<Response>

/** One of them; its answer is undefined as long as it is on its way. */
type Going<T> = { readonly task: T; answer: Answer }

type Gathering<T> = {
  readonly all: Going<T>[]
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly sinceMs: number
}

function answerOf<T>({ answer }: Going<T>): Response | Promise<Response> {
  assert(answer !== undefined, LAST_ANSWERS)
  return answer
}
