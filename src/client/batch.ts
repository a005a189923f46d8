import { onAbort } from "./abort.ts"
import { isBatchOf } from "./answers.ts"
import type { BatchItemResult, Policy } from "./api-types.ts"
import { type Chunk, chunksOf, type PlacedItem } from "./chunks.ts"
import { CLIENT_DEFAULTS, GIVEN_UP_MAX, readCount } from "./options.ts"
import type { Failure, ItemOutcome } from "./outcome.ts"
import type { ClientRequests } from "./requests.ts"

/** The options of a batch. */
export type BatchOptions = {
  readonly policy?: Policy | undefined
  /** False asks DNS only for what decides the verdicts: `mail`, `workspace` and `integrations` hold only that. */
  readonly mail?: boolean | undefined
  /** How many requests are sent at the same time. */
  readonly concurrency?: number | undefined
  /** How often a request is tried again. */
  readonly retries?: number | undefined
  /** How long each try may take, in milliseconds. */
  readonly timeoutMs?: number | undefined
  /** Items whose request has not ended are unchecked from then on. */
  readonly signal?: AbortSignal | undefined
  /** Is called after every request, with the items that are done. If it fails, the batch does. */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined
}

/** How far a batch is. `total` is known if the items are an array. */
export type BatchProgress = {
  readonly done: number
  readonly checked: number
  readonly unchecked: number
  readonly total: number | undefined
}

/** What a batch may be made of. */
export type BatchItems = Iterable<string> | AsyncIterable<string>

/** `await` it for an array, or iterate over it with `for await`, which keeps only a few requests in memory. */
export type BatchRun = PromiseLike<ItemOutcome<BatchItemResult>[]> & AsyncIterable<ItemOutcome<BatchItemResult>>

type BatchDeps = {
  readonly ask: ClientRequests
  readonly timeoutMs: number
  readonly onOutcome: (outcome: ItemOutcome<BatchItemResult>) => void
}

/** What all requests of a batch share. */
type BatchState = { stopped: Failure | null; givenUpInARow: number; done: number; checked: number; isLeft: boolean }

/** Starts when it is awaited or iterated over. */
export function createBatchRun(deps: BatchDeps, items: BatchItems, options: BatchOptions): BatchRun {
  // A text is an iterable of its characters.
  if (typeof items === "string") throw new TypeError("mailkind: `items` must be a list of texts, not one text.")
  const concurrency = readCount("concurrency", options.concurrency, CLIENT_DEFAULTS.batchConcurrency, 1)
  const retries = readCount("retries", options.retries, CLIENT_DEFAULTS.batchRetries, 0)
  const timeoutMs = readCount("timeoutMs", options.timeoutMs, deps.timeoutMs, 1)
  const run = () => outcomes(deps, items, { ...options, concurrency, retries, timeoutMs })
  let all: Promise<ItemOutcome<BatchItemResult>[]> | null = null
  const collected = async () => {
    const list: ItemOutcome<BatchItemResult>[] = []
    for await (const outcome of run()) list.push(outcome)
    return list
  }
  return {
    [Symbol.asyncIterator]: run,
    // biome-ignore lint/suspicious/noThenProperty: a batch is awaited like a promise
    then: (fulfilled, rejected) => {
      all ??= collected()
      return all.then(fulfilled, rejected)
    },
  }
}

type ReadOptions = BatchOptions & { readonly concurrency: number; readonly retries: number; readonly timeoutMs: number }

/** The outcomes in the order of the items. At most `concurrency` requests are ahead of what was taken. */
async function* outcomes(
  deps: BatchDeps,
  items: BatchItems,
  options: ReadOptions,
): AsyncGenerator<ItemOutcome<BatchItemResult>, void> {
  const state: BatchState = { stopped: null, givenUpInARow: 0, done: 0, checked: 0, isLeft: false }
  const total = Array.isArray(items) ? items.length : undefined
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const unlisten = onAbort(options.signal, abort)
  if (options.signal?.aborted === true) abort()
  const begin = async (chunk: Chunk) => {
    const ended = await chunkOutcomes(deps, chunk, { ...options, signal: controller.signal }, state)
    if (state.isLeft) return ended
    for (const outcome of ended) deps.onOutcome(outcome)
    state.done += ended.length
    state.checked += ended.filter(({ outcome }) => outcome === "checked").length
    const { done, checked } = state
    await options.onProgress?.({ done, checked, unchecked: done - checked, total })
    return ended
  }
  const begun: Promise<readonly ItemOutcome<BatchItemResult>[]>[] = []
  try {
    for await (const chunk of chunksOf(items)) {
      const next = begin(chunk)
      next.catch(() => undefined) // it is awaited below, perhaps later
      begun.push(next)
      if (begun.length >= options.concurrency) yield* (await begun.shift()) ?? []
    }
    for (const next of begun) yield* await next
  } finally {
    // Whoever leaves the loop wants no further requests, and no news of those that are under way.
    state.isLeft = true
    unlisten()
    abort()
  }
}

async function chunkOutcomes(
  deps: BatchDeps,
  { items, isSent }: Chunk,
  options: ReadOptions,
  state: BatchState,
): Promise<readonly ItemOutcome<BatchItemResult>[]> {
  if (!isSent) return unchecked(items, UNSENDABLE)
  if (state.stopped !== null) return unchecked(items, state.stopped)
  const ended = await deps.ask({
    path: "/v1/check/batch",
    body: JSON.stringify({ items: items.map(({ item }) => item), policy: options.policy, mail: options.mail }),
    isAnswer: isBatchOf(items.length),
    retries: options.retries,
    timeoutMs: options.timeoutMs,
    hasDeadline: false,
    signal: options.signal,
  })
  if (ended.kind === "answer") {
    state.givenUpInARow = 0
    const { requestId, value } = ended
    return items.map(({ index, item }, at) => {
      const result = value.results[at]
      if (result === undefined) throw new RangeError("mailkind: a result is missing")
      return { outcome: "checked", result, requestId, index, item }
    })
  }
  return await afterFailure(deps, items, options, state, ended.failure)
}

/** What units are left are used for the first items. What no later request can get either stops the batch. */
async function afterFailure(
  deps: BatchDeps,
  items: readonly PlacedItem[],
  options: ReadOptions,
  state: BatchState,
  failure: Failure,
): Promise<readonly ItemOutcome<BatchItemResult>[]> {
  const left = failure.because === "quota_exceeded" ? (failure.problem?.remaining ?? 0) : 0
  if (left > 0 && left < items.length) {
    const first = await chunkOutcomes(deps, { items: items.slice(0, left), isSent: true }, options, state)
    return [...first, ...unchecked(items.slice(left), failure)]
  }
  state.givenUpInARow++
  const isFinal = ["quota_exceeded", "refused", "aborted"].includes(failure.because)
  // A problem with the items of this request says nothing about those of another.
  if (failure.problem?.code !== "invalid_input" && (isFinal || state.givenUpInARow >= GIVEN_UP_MAX))
    state.stopped = failure
  return unchecked(items, failure)
}

const unchecked = (items: readonly PlacedItem[], failure: Failure): readonly ItemOutcome<BatchItemResult>[] =>
  items.map(({ index, item }) => ({ ...failure, outcome: "unchecked", index, item }))

const UNSENDABLE: Failure = {
  because: "invalid_subject",
  message: "The item is not a text, or is longer than the API takes. It was not sent.",
  requestId: "",
}
