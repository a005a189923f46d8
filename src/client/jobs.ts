import { onAbort } from "./abort.ts"
import { isRecord } from "./answers.ts"
import type { Job, JobEstimate, JobFormat, Policy, Recommendation } from "./api-types.ts"
import { failed, jsonOf, refused } from "./exchange.ts"
import { type CallOptions, type ClientSettings, GIVEN_UP_MAX, type OnceOptions, readCount } from "./options.ts"
import type { Failure, Reply } from "./outcome.ts"
import type { ClientPlatform } from "./platform.ts"
import { type ClientRequests, mapped, queryText, replyTo, type SingleCall, singleRequest, waited } from "./requests.ts"
import { retryDelayMs } from "./retry.ts"

/** A whole list. A stream is sent as it comes. */
export type ListFile = string | Uint8Array | Blob | ReadableStream<Uint8Array>

/** How a list is read and judged. What is absent of how it is read is found. `timeoutMs` is that of the whole upload, an hour if absent. */
export type UploadOptions = OnceOptions & {
  readonly format?: JobFormat | undefined
  readonly column?: string | undefined
  readonly header?: boolean | undefined
  /** The character between cells, such as `;`, or one of the words that the API knows, such as `tab`. */
  readonly delimiter?: string | undefined
  /** How many lines stand above the header, or above the first row. */
  readonly skip?: number | undefined
  readonly encoding?: string | undefined
  /** The sheet of an .xlsx workbook, by name or number. */
  readonly sheet?: string | undefined
  /** Whether a list is taken too in whose first rows nothing looks like an input. */
  readonly force?: boolean | undefined
  /** Whether results of CSV have a column `canonical_email`, and whether results have `duplicate_of`. */
  readonly canonical?: boolean | undefined
  readonly duplicates?: boolean | "mark" | undefined
  /** The columns of results of CSV beside those of the list, with commas. Absent: the usual ones. */
  readonly columns?: string | undefined
  readonly policy?: Policy | undefined
  readonly workspace?: boolean | undefined
  readonly name?: string | undefined
  readonly callback?: string | undefined
}

/** Which results are downloaded. `timeoutMs`: how long nothing of them may arrive. `from`: after so many bytes. */
export type ResultOptions = CallOptions & {
  readonly only?: readonly Recommendation[] | undefined
  /** `excel`: with a byte order mark, and without cells that a spreadsheet would run. Absent: as the list has them. */
  readonly format?: "excel" | undefined
  readonly from?: number | undefined
}

/** A list at the server. */
export type MailkindJob = {
  readonly id: string
  /** As the server gave it when this object was made. */
  readonly body: Job
  /**
   * How far it is, again and again until it is `done` or `failed`. It waits while the job is `stopped`, which continues by itself.
   * Throws a `JobError` when the server gives no answer several times in a row, or the job is deleted.
   */
  readonly progress: (options?: CallOptions) => AsyncGenerator<Job, undefined>
  /**
   * The bytes of the results, in order. A download that is cut off continues where it stopped. Throws a `JobError` when that fails several
   * times in a row; its `received` says how many bytes came, from which another call may continue.
   */
  readonly results: (options?: ResultOptions) => AsyncGenerator<Uint8Array, undefined>
  readonly delete: (options?: CallOptions) => Promise<Reply<null>>
}

/** Whole lists. */
export type MailkindJobs = {
  /** Uploads a list. Without `idempotencyKey` it is sent again only when the server has refused it for now: it must not be checked twice. */
  readonly create: (file: ListFile, options?: UploadOptions) => Promise<Reply<MailkindJob>>
  /** What a list would cost. Nothing of it is stored. */
  readonly estimate: (file: ListFile, options?: UploadOptions) => Promise<Reply<JobEstimate>>
  readonly get: (id: string, options?: CallOptions) => Promise<Reply<MailkindJob>>
  /** The newest first. */
  readonly list: (options?: CallOptions) => Promise<Reply<readonly Job[]>>
}

/** Why the progress or the results of a job ended early. */
export class JobError extends Error {
  override readonly name = "JobError"
  readonly failure: Failure
  /** How many bytes of the results came, with those before `from`. */
  readonly received: number

  constructor(failure: Failure, received = 0) {
    super(failure.message)
    this.failure = failure
    this.received = received
  }
}

const UPLOAD_TIMEOUT_MS = 3_600_000

/** The pauses between two looks at a job: growing while it runs, and the last one while it is stopped. */
const LOOK_MS = { first: 500, growth: 1.5, max: 5000, stopped: 60_000 } as const

type JobsDeps = { readonly platform: ClientPlatform; readonly settings: ClientSettings; readonly ask: ClientRequests }

/** The methods for whole lists. */
export function createJobs(deps: JobsDeps): MailkindJobs {
  const upload = <R>(
    file: ListFile,
    options: UploadOptions,
    dry: boolean,
    isAnswer: (value: unknown) => value is R & object,
  ) => {
    const { timeoutMs, retries, signal, idempotencyKey, ...query } = options
    return send(
      deps,
      {
        path: `/v1/jobs${queryText({ ...query, dry: dry || undefined })}`,
        body: file,
        contentType: "text/plain",
        isAnswer,
        idempotencyKey,
        retriesOnlyRefusals: idempotencyKey === undefined,
        hasDeadline: false,
      },
      // What was read of a stream is gone.
      { timeoutMs: timeoutMs ?? UPLOAD_TIMEOUT_MS, retries: file instanceof ReadableStream ? 0 : retries, signal },
    )
  }
  const jobOf = (body: Job): MailkindJob => ({
    id: body.id,
    body,
    progress: options => progressOf(deps, body.id, options),
    results: options => resultsOf(deps, body.id, options),
    delete: (options = {}) =>
      send(deps, { path: pathOf(body.id), method: "DELETE", body: null, isAnswer: isNothing }, options),
  })
  const list = async (options: CallOptions = {}): Promise<Reply<readonly Job[]>> =>
    mapped(await send(deps, { path: "/v1/jobs", body: null, isAnswer: isJobList }, options), ({ jobs }) => jobs)
  return Object.freeze({
    create: async (file: ListFile, options: UploadOptions = {}) =>
      mapped(await upload(file, options, false, isJob), jobOf),
    estimate: (file: ListFile, options: UploadOptions = {}) => upload(file, options, true, isEstimate),
    get: async (id: string, options: CallOptions = {}) =>
      mapped(await send(deps, { path: pathOf(id), body: null, isAnswer: isJob }, options), jobOf),
    list,
  })
}

const pathOf = (id: string): string => `/v1/jobs/${encodeURIComponent(id)}`

const send = <R>({ ask, settings }: JobsDeps, call: SingleCall<R>, options: CallOptions): Promise<Reply<R>> =>
  replyTo(ask, singleRequest(settings, call, options))

const isJob = (value: unknown): value is Job => isRecord(value) && typeof value["id"] === "string" && "state" in value
const isJobList = (value: unknown): value is { readonly jobs: readonly Job[] } =>
  isRecord(value) && Array.isArray(value["jobs"])
const isEstimate = (value: unknown): value is JobEstimate => isRecord(value) && typeof value["rows"] === "number"
const isNothing = (value: unknown): value is null => value === null

async function* progressOf(deps: JobsDeps, id: string, options: CallOptions = {}): AsyncGenerator<Job, undefined> {
  const request = { path: pathOf(id), body: null, isAnswer: isJob }
  let [pauseMs, failures] = [LOOK_MS.first as number, 0]
  for (;;) {
    const reply = await send(deps, request, options)
    if (reply.outcome === "answered") {
      failures = 0
      yield reply.result
      const { state } = reply.result
      if (state === "done" || state === "failed") return
      pauseMs = state === "stopped" ? LOOK_MS.stopped : Math.min(pauseMs * LOOK_MS.growth, LOOK_MS.max)
    } else {
      const delayMs = delayAfter(deps, reply, ++failures)
      if (delayMs === null) throw new JobError(reply)
      pauseMs = Math.max(LOOK_MS.first, delayMs)
    }
    if (!(await waited(deps.platform, pauseMs, options.signal))) throw new JobError(failureOf("aborted"))
  }
}

/** After how long to try again after so many failures in a row; null: not at all. */
const delayAfter = ({ platform, settings }: JobsDeps, failure: Failure, failures: number): number | null =>
  failures >= GIVEN_UP_MAX ? null : retryDelayMs(failure, failures, settings.retryWaitMaxMs, platform.random)

const failureOf = (because: Failure["because"], requestId = ""): Failure => failed({ requestId }, because).failure

async function* resultsOf(
  deps: JobsDeps,
  id: string,
  { only, format, from = 0, timeoutMs, signal }: ResultOptions = {},
): AsyncGenerator<Uint8Array, undefined> {
  const path = `${pathOf(id)}/results${queryText({ only: only?.join(","), format })}`
  const silenceMs = readCount("timeoutMs", timeoutMs, deps.settings.batchTimeoutMs, 1)
  const place: Place = { at: from, entityTag: null }
  for (let failures = 0; ; ) {
    const before = place.at
    const failure = yield* download(deps, path, place, silenceMs, signal)
    if (failure === null) return
    failures = place.at > before ? 1 : failures + 1
    const delayMs = delayAfter(deps, failure, failures)
    if (delayMs === null) throw new JobError(failure, place.at)
    if (!(await waited(deps.platform, delayMs, signal))) throw new JobError(failureOf("aborted"), place.at)
  }
}

/** How far a download is, and of which version of the results. */
type Place = { at: number; entityTag: string | null }

/** Gives the bytes from a place on, and moves it. Null: they are complete. */
async function* download(
  { platform, settings }: JobsDeps,
  path: string,
  place: Place,
  silenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, Failure | null> {
  const controller = new AbortController()
  const requestId = platform.newId()
  const watch = createWatch(platform, silenceMs, signal, () => controller.abort())
  try {
    const response = await watch.during(
      platform.fetch(settings.url + path, {
        headers: { ...settings.headers, Accept: "*/*", "X-Request-Id": requestId, ...rangeFrom(place) },
        redirect: "manual",
        signal: controller.signal,
      }),
    )
    if (response.status === 416 && response.headers.get("Content-Range") === `bytes */${place.at}`) return null
    if (response.status !== (place.at === 0 ? 200 : 206)) return await watch.during(refusal(response, requestId))
    place.entityTag = response.headers.get("ETag")
    const reader = response.body?.getReader()
    for (;;) {
      const part = reader === undefined ? null : await watch.during(reader.read())
      if (part === null || part.done) return null
      place.at += part.value.length
      yield part.value
    }
  } catch {
    return failureOf(watch.cause() ?? "unreachable", requestId)
  } finally {
    watch.end()
    controller.abort()
  }
}

/** The headers that ask for the rest, of the same results. */
const rangeFrom = ({ at, entityTag }: Place): Readonly<Record<string, string>> => ({
  ...(at === 0 ? {} : { Range: `bytes=${at}-` }),
  ...(at === 0 || entityTag === null ? {} : { "If-Range": entityTag }),
})

/** What a response without results says. Results that have changed since are `refused`: what came belongs to others. */
async function refusal(response: Response, requestId: string): Promise<Failure> {
  const { status } = response
  if (status < 400) return failed({ requestId }, "refused", { status }).failure
  return refused({ requestId }, response, await jsonOf(response)).failure
}

/** Ends what takes too long without a sign of life, or is aborted. */
function createWatch(platform: ClientPlatform, silenceMs: number, signal: AbortSignal | undefined, stop: () => void) {
  let cause: "timeout" | "aborted" | null = null
  let reject = (_: Error): void => undefined
  const stopped = new Promise<never>((_, fail) => {
    reject = fail
  })
  stopped.catch(() => undefined)
  const end = (because: "timeout" | "aborted"): void => {
    cause ??= because
    reject(new Error(because))
    stop()
  }
  const unlisten = onAbort(signal, () => end("aborted"))
  if (signal?.aborted === true) end("aborted")
  return {
    during: async <T>(work: Promise<T>): Promise<T> => {
      const cancel = platform.after(silenceMs, () => end("timeout"))
      try {
        return await Promise.race([stopped, work])
      } finally {
        cancel()
      }
    },
    cause: () => cause,
    end: unlisten,
  }
}
