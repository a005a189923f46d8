import { assert } from "../../base/errors.ts"
import type { Stopwatch } from "../../base/outside-world.ts"

/** Calls `work` at the end of this turn of the event loop, when everything that has arrived by now was handled. */
export type NextTick = (work: () => void) => void

/** How many requests a batch has at most. A full batch runs at once. */
export const BATCH_MAX = 256

/** The stages of a request, from its arrival to its response. */
export type Pipeline<T> = {
  /** All requests of a batch pass a stage before any enters the next. The last stage must return a response. */
  readonly stages: readonly PipelineStage<T>[]
  /** Makes the response when a stage throws or rejects. It must not throw. */
  readonly onError: (task: T, error: unknown) => Response
  /** Is called once for each response, with the time since the batch was opened. It must not throw. */
  readonly onResponse: (task: T, response: Response, tookMs: number) => void
}

/**
 * One stage. `undefined` means: go on with the next stage. A response ends the request. A promise means: this request leaves
 * the batch and finishes alone.
 */
export type PipelineStage<T> = (task: T) => undefined | Response | Promise<undefined | Response>

/**
 * Collects the requests that arrive in one turn of the event loop and runs them stage by stage (DECISIONS 25). The
 * processor's caches hold the code of one stage, but not of the whole pipeline, and not across the system calls that read
 * and write a request: under load batching gives a fifth more responses, and running stage by stage another twentieth. A
 * request that arrives alone waits only for the end of the turn.
 */
export class RequestBatcher<T> {
  readonly #nextTick: NextTick
  readonly #stopwatch: Stopwatch
  readonly #pipeline: Pipeline<T>
  /** Each stage with the stages after it. */
  readonly #stages: readonly { readonly stage: PipelineStage<T>; readonly rest: readonly PipelineStage<T>[] }[]
  #open: OpenBatch<T> | null = null

  constructor(nextTick: NextTick, stopwatch: Stopwatch, pipeline: Pipeline<T>) {
    this.#nextTick = nextTick
    this.#stopwatch = stopwatch
    this.#pipeline = pipeline
    this.#stages = pipeline.stages.map((stage, index) => ({ stage, rest: pipeline.stages.slice(index + 1) }))
  }

  /** Sends the task through the pipeline and resolves with its response. It never rejects. */
  handle(task: T): Promise<Response> {
    this.#open ??= this.#openBatch()
    const batch = this.#open
    const entry: BatchEntry<T> = { task, response: undefined }
    if (batch.entries.push(entry) === BATCH_MAX) this.#runBatch(batch)
    return batch.done.then(() => responseOf(entry))
  }

  #openBatch(): OpenBatch<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const batch = { entries: [], done: promise, resolve, startedAtMs: this.#stopwatch() }
    this.#nextTick(() => this.#runBatch(batch))
    return batch
  }

  /** Runs synchronously: a request that has to wait leaves the batch. */
  #runBatch(batch: OpenBatch<T>): void {
    if (this.#open !== batch) return
    this.#open = null
    const { entries, startedAtMs } = batch
    // These loops allocate nothing: otherwise each stage would leave an object behind for each request.
    for (const { stage, rest } of this.#stages)
      for (const entry of entries) entry.response ??= this.#runStage(entry.task, stage, rest, startedAtMs)
    const tookMs = this.#stopwatch() - startedAtMs
    try {
      for (const { task, response } of entries)
        if (response !== undefined && !(response instanceof Promise)) this.#pipeline.onResponse(task, response, tookMs)
    } finally {
      batch.resolve()
    }
  }

  #runStage(task: T, stage: PipelineStage<T>, rest: readonly PipelineStage<T>[], startedAtMs: number): PendingResponse {
    try {
      const result = stage(task)
      return result instanceof Promise ? this.#finishAlone(task, result, rest, startedAtMs) : result
    } catch (error) {
      return this.#pipeline.onError(task, error)
    }
  }

  async #finishAlone(
    task: T,
    pending: Promise<undefined | Response>,
    rest: readonly PipelineStage<T>[],
    startedAtMs: number,
  ): Promise<Response> {
    let response: undefined | Response
    try {
      response = await pending
      for (const stage of rest) {
        if (response !== undefined) break
        // No `await` where a stage returns at once, so nothing else runs between two stages.
        const result = stage(task)
        response = result instanceof Promise ? await result : result
      }
      assert(response !== undefined, LAST_STAGE_RESPONDS)
    } catch (error) {
      response = this.#pipeline.onError(task, error)
    }
    this.#pipeline.onResponse(task, response, this.#stopwatch() - startedAtMs)
    return response
  }
}

const LAST_STAGE_RESPONDS = "the last stage of a pipeline returns a response"

type PendingResponse = undefined | Response | Promise<Response>

/** A request of a batch. Its response is undefined while it is in the pipeline. */
type BatchEntry<T> = { readonly task: T; response: PendingResponse }

type OpenBatch<T> = {
  readonly entries: BatchEntry<T>[]
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly startedAtMs: number
}

function responseOf<T>({ response }: BatchEntry<T>): Response | Promise<Response> {
  assert(response !== undefined, LAST_STAGE_RESPONDS)
  return response
}
