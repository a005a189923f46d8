import { assert } from "../../base/errors.ts"
import type { Stopwatch } from "../../base/outside-world.ts"

/** Calls the work when all that has arrived by now was taken in. */
export type NextTick = (work: () => void) => void

/** How many requests wait at most: so many are answered at once, without waiting for others. */
export const BATCH_MAX = 256

/** What a request goes through until it is answered. */
export type Pipeline<T> = {
  /** Each is taken by all requests of a moment before any takes the next; the last one answers. */
  readonly stages: readonly PipelineStage<T>[]
  /** Answers where a step threw, or rejected. It never throws. */
  readonly onError: (task: T, error: unknown) => Response
  /** Hears of each answer, once, and how long it took. It never throws. */
  readonly onResponse: (task: T, response: Response, tookMs: number) => void
}

/** Undefined: the way goes on. A promise: the request has to wait for something, and goes the rest of its way alone. */
export type PipelineStage<T> = (task: T) => undefined | Response | Promise<undefined | Response>

/**
 * Gathers requests that arrive at one moment, and takes all of them through one step of their way before the next. The
 * processor's caches hold the code of a step, not of the whole way, and less between the system calls that read and write a
 * request: under load, to gather them is a fifth more answers, and to go step by step another twentieth. A request that
 * comes alone waits for nothing but the end of the event loop's turn.
 */
export class RequestBatcher<T> {
  readonly #nextTick: NextTick
  readonly #stopwatch: Stopwatch
  readonly #pipeline: Pipeline<T>
  readonly #stages: readonly { readonly step: PipelineStage<T>; readonly rest: readonly PipelineStage<T>[] }[]
  #open: OpenBatch<T> | null = null

  constructor(soon: NextTick, stopwatch: Stopwatch, way: Pipeline<T>) {
    this.#nextTick = soon
    this.#stopwatch = stopwatch
    this.#pipeline = way
    this.#stages = way.stages.map((step, at) => ({ step, rest: way.stages.slice(at + 1) }))
  }

  /** Has the task go its way, and gives its answer. It never rejects. */
  handle(task: T): Promise<Response> {
    this.#open ??= this.#openBatch()
    const gathering = this.#open
    const one: BatchEntry<T> = { task, response: undefined }
    if (gathering.entries.push(one) === BATCH_MAX) this.#runBatch(gathering)
    return gathering.done.then(() => responseOf(one))
  }

  #openBatch(): OpenBatch<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const gathering = { entries: [], done: promise, resolve, startedAtMs: this.#stopwatch() }
    this.#nextTick(() => this.#runBatch(gathering))
    return gathering
  }

  /** Nobody is waited for here. */
  #runBatch(gathering: OpenBatch<T>): void {
    if (this.#open !== gathering) return
    this.#open = null
    const { entries, startedAtMs } = gathering
    // These loops make no objects: at each step each request would leave one behind.
    for (const { step, rest } of this.#stages)
      for (const one of entries) one.response ??= this.#runStage(one.task, step, rest, startedAtMs)
    const tookMs = this.#stopwatch() - startedAtMs
    try {
      for (const { task, response: answer } of entries)
        if (answer !== undefined && !(answer instanceof Promise)) this.#pipeline.onResponse(task, answer, tookMs)
    } finally {
      gathering.resolve()
    }
  }

  #runStage(task: T, step: PipelineStage<T>, rest: readonly PipelineStage<T>[], sinceMs: number): PendingResponse {
    try {
      const taken = step(task)
      return taken instanceof Promise ? this.#finishAlone(task, taken, rest, sinceMs) : taken
    } catch (error) {
      return this.#pipeline.onError(task, error)
    }
  }

  async #finishAlone(
    task: T,
    waited: Promise<undefined | Response>,
    rest: readonly PipelineStage<T>[],
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
      assert(answer !== undefined, LAST_STAGE_RESPONDS)
    } catch (error) {
      answer = this.#pipeline.onError(task, error)
    }
    this.#pipeline.onResponse(task, answer, this.#stopwatch() - sinceMs)
    return answer
  }
}

const LAST_STAGE_RESPONDS = "the last step of a way answers"

type PendingResponse = undefined | Response | Promise<Response>

/** One of them; its answer is undefined as long as it is on its way. */
type BatchEntry<T> = { readonly task: T; response: PendingResponse }

type OpenBatch<T> = {
  readonly entries: BatchEntry<T>[]
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly startedAtMs: number
}

function responseOf<T>({ response: answer }: BatchEntry<T>): Response | Promise<Response> {
  assert(answer !== undefined, LAST_STAGE_RESPONDS)
  return answer
}
