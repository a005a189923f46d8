import { isSystemError } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import { streamOf } from "../../base/streams.ts"
import { isoInstant } from "../../base/time.ts"
import { JOB_FORMATS, JOB_LIMITS, JOB_STATES } from "../../contract/jobs.ts"
import type { CallbackSecretBody, JobBody, JobEstimateBody, JobListBody } from "../../contract/jobs-schema.ts"
import { ROUTES } from "../../contract/routes.ts"
import { createBodyMark, idempotencyKeyHash } from "../../customers/idempotency/body-mark.ts"
import { type FormerRequest, findRequest } from "../../customers/idempotency/idempotent-requests.ts"
import { callbackSecretMadeAtMs, type NewCallbackSecret } from "../../customers/jobs/callback-secrets.ts"
import { type JobMoment, jobBody, readingBody } from "../../customers/jobs/job-body.ts"
import { reachedBound } from "../../customers/jobs/job-lifecycle.ts"
import { findJob, type Job, type JobOptions, listJobs } from "../../customers/jobs/job-row.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { Actor } from "../../customers/store/change-log/actor.ts"
import type { Store } from "../../customers/store/core/store.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { JobFiles } from "../../jobs/job-files.ts"
import type { JobService } from "../../jobs/job-service.ts"
import type { ListEstimate } from "../../jobs/list-estimate.ts"
import { readResults, resultsLength } from "../../jobs/read-results.ts"
import { type ListReading, RefusedList } from "../../jobs/receive-list.ts"
import { readSpreadsheet, sliceChunks, spreadsheetLength } from "../../jobs/safe-results.ts"
import { metered } from "../admission/metered.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import { invalidKey } from "../request/caller.ts"
import { callerActor } from "../request/caller-actor.ts"
import { idempotencyKeyOf } from "../request/idempotency-key.ts"
import {
  type ByteRange,
  parseResultsQuery,
  parseUploadQuery,
  type ResultsInput,
  requestedRange,
} from "../request/job-input.ts"
import { type ArrivingUpload, openUpload } from "../request/job-upload.ts"
import { FORM_BYTES_MAX, formBoundary } from "../request/multipart.ts"
import type { UploadDeps } from "../request/upload.ts"
import { headerFields } from "../response/caller-headers.ts"
import { otherRequest, REPLAYED_HEADER, stillRunning } from "../response/idempotency-problems.ts"
import { jobNotReady, noSuchJob, rangeNotSatisfiable, tooManyJobs } from "../response/job-problems.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { invalidInput, Problem } from "../response/problem.ts"
import { handlers } from "../router.ts"

/** What the jobs of the API are made of. */
export type JobsAccess = {
  readonly service: Pick<JobService, "receive" | "repeat" | "estimate" | "delete" | "canUseFolder">
  readonly store: Store
  readonly files: JobFiles
  /** The largest list. */
  readonly bytesMax: number
  readonly keepHours: number
  /** Whether callbacks may go to this host too (`MAILKIND_CALLBACKS=local`). */
  readonly allowsLocalCallbacks: boolean
  /** Makes the callback secret of an account, or replaces it. Null: the account is gone. */
  readonly replaceCallbackSecret: (accountId: string, actor: Actor) => Promise<NewCallbackSecret | null>
}

type JobRoutesDeps = UploadDeps & {
  readonly jobs: JobsAccess
  readonly responses: JsonResponses
  readonly units: UnitQuota
  readonly usage: UsageMeter
  readonly tiers: readonly TierLimits[]
  readonly testDomain: string
  readonly clock: Clock
}

const ACCEPTED = 202
const PARTIAL_CONTENT = 206
const NO_CONTENT = 204

/** The endpoints of jobs: upload a list, watch it, download its results, delete it. */
export const jobRoutes = (deps: JobRoutesDeps) =>
  handlers({
    postJob: exchange => upload(deps, exchange),
    getJobs: async exchange => {
      const jobs = await listJobs(deps.jobs.store, exchange.caller.account.id)
      return json(deps, exchange, { jobs: jobs.map(job => jobBody(job, momentOf(deps))) } satisfies JobListBody)
    },
    getJob: async exchange =>
      json(deps, exchange, jobBody(await ownJob(deps, exchange, exchange.params.id), momentOf(deps))),
    getJobResults: async exchange => {
      const wanted = parseResultsQuery(exchange.request)
      const job = await ownJob(deps, exchange, exchange.params.id)
      await assertFolder(deps)
      return await sendResults(deps, exchange, job, wanted)
    },
    postCallbackSecret: async exchange => {
      const { account, key } = exchange.caller
      const made = await deps.jobs.replaceCallbackSecret(account.id, callerActor(account.id, key.id))
      if (made === null) throw invalidKey("This key does not exist.")
      const body = { secret: made.secret, former_until: isoInstant(made.formerUntilMs) }
      return json(deps, exchange, body satisfies CallbackSecretBody)
    },
    deleteJob: async exchange => {
      const { account, key } = exchange.caller
      const actor = callerActor(account.id, key.id)
      if (!(await deps.jobs.service.delete(account.id, exchange.params.id, actor))) throw noSuchJob()
      return new Response(null, { status: NO_CONTENT, headers: plainHeaders(deps, exchange) })
    },
  })

const plainHeaders = ({ responses }: JobRoutesDeps, { id, lease }: Exchange): Record<string, string> => ({
  ...Object.fromEntries(responses.noContent(id, {}).headers),
  ...(lease === null ? {} : headerFields(lease.headers())),
})

const json = (
  { responses }: JobRoutesDeps,
  { id, lease }: Exchange,
  body: JobBody | JobListBody | JobEstimateBody | CallbackSecretBody,
  status = 200,
): Response => responses.serialized(JSON.stringify(body), id, status, lease?.headers())

async function ownJob({ jobs }: JobRoutesDeps, exchange: Exchange, id: string): Promise<Job> {
  const job = await findJob(jobs.store, callerOf(exchange).account.id, id)
  if (job === null) throw noSuchJob()
  return job
}

/** Receives a list, or only tells what it would cost. Nothing is stored of one that is refused or cut off. */
async function upload(deps: JobRoutesDeps, exchange: Exchange): Promise<Response> {
  const { request } = exchange
  const { bytesMax } = deps.jobs
  const bodyMax = formBoundary(request.headers.get("content-type")) === null ? bytesMax : bytesMax + FORM_BYTES_MAX
  if (Number(request.headers.get("content-length") ?? 0) > bodyMax) throw tooLarge(bytesMax)
  const list = await openUpload(request, deps)
  try {
    return await receive(deps, exchange, list)
  } catch (error) {
    throw uploadProblem(error, bytesMax)
  } finally {
    await list.close()
  }
}

async function receive(deps: JobRoutesDeps, exchange: Exchange, list: ArrivingUpload): Promise<Response> {
  const { request } = exchange
  const { key, account } = callerOf(exchange)
  const { service, store, bytesMax } = deps.jobs
  const { content: chunks } = list
  const { options, reading, isDry } = parseUploadQuery(request.url, list, deps.jobs.allowsLocalCallbacks)
  const upload = isDry ? null : repeatableUpload(deps, exchange, { options, reading })
  const before = upload === null ? null : await findRequest(store, { accountId: account.id, keyHash: upload.keyHash })
  if (upload !== null && before !== null) {
    const answer = await service.repeat(account.id, () => answerAgain(deps, exchange, { before, upload, chunks }))
    if (answer === "uploads") throw tooManyJobs(answer)
    return answer
  }
  const bound = await reachedBound(store, account.id)
  if (bound !== null) throw tooManyJobs(bound)
  if (!isDry) await assertFolder(deps)
  if (options.callbackUrl !== null) await assertCallbackSecret(store, account.id)
  if (isDry) return json(deps, exchange, (await estimateFor(deps, exchange, chunks, { options, reading })).body)
  const newJob = { accountId: account.id, keyId: key.id, options, reading, actor: callerActor(account.id, key.id) }
  const job = await service.receive(newJob, upload?.watch(chunks) ?? chunks, bytesMax, upload)
  // The account and its key were deleted meanwhile.
  if (job === null) throw invalidKey("This key does not exist.")
  if (typeof job === "string") throw tooManyJobs(job)
  return accepted(deps, exchange, job.id, acceptedText(deps, job))
}

const acceptedText = (deps: JobRoutesDeps, job: Job): string => JSON.stringify(jobBody(job, momentOf(deps)))

function accepted(
  { responses }: JobRoutesDeps,
  { id: requestId, lease }: Exchange,
  id: string,
  text: string,
): Response {
  const response = responses.serialized(text, requestId, ACCEPTED, lease?.headers())
  response.headers.set("Location", ROUTES.getJob.path.replace(":id", id))
  return response
}

/** The upload that an `Idempotency-Key` names; null: there is none. */
function repeatableUpload(deps: JobRoutesDeps, exchange: Exchange, asked: unknown) {
  const key = idempotencyKeyOf(exchange.request)
  if (key === null) return null
  const { watch, text: markText } = createBodyMark(key, [exchange.route, asked])
  const keyHash = idempotencyKeyHash(callerOf(exchange).account.id, key)
  return { keyHash, watch, markText, answerFor: (job: Job) => acceptedText(deps, job) }
}

type RepeatableUpload = NonNullable<ReturnType<typeof repeatableUpload>>

/** The answer that the same upload got before. The list is read to its end, since only then it is known to be the same. */
async function answerAgain(
  deps: JobRoutesDeps,
  exchange: Exchange,
  again: {
    readonly before: FormerRequest
    readonly upload: RepeatableUpload
    readonly chunks: AsyncIterable<Uint8Array>
  },
): Promise<Response> {
  const { before, upload, chunks } = again
  if (before.kind === "running") throw stillRunning()
  let bytes = 0
  for await (const chunk of upload.watch(chunks)) {
    bytes += chunk.length
    if (bytes > deps.jobs.bytesMax) throw tooLarge(deps.jobs.bytesMax)
  }
  if (upload.markText() !== before.bodyMac) throw otherRequest()
  const { id }: JobBody = JSON.parse(before.answer) // written by `acceptedText`
  const response = accepted(deps, exchange, id, before.answer)
  response.headers.set(REPLAYED_HEADER, "true")
  return response
}

/** Nobody could tell a callback without a signature from a forged one. */
async function assertCallbackSecret(store: Store, accountId: string): Promise<void> {
  if ((await callbackSecretMadeAtMs(store, accountId)) !== null) return
  const { method, path } = ROUTES.postCallbackSecret
  const detail = `Callbacks are signed, and you have no secret for that yet. Make it first: ${method} ${path}.`
  throw invalidInput([{ parameter: "callback", detail }])
}

/** The moment of a response. */
export const momentOf = ({
  jobs: { keepHours },
  clock,
}: {
  readonly jobs: Pick<JobsAccess, "keepHours">
  readonly clock: Clock
}): JobMoment => ({ nowMs: clock(), keepHours })

/** What a dry run tells, and for its page alone: the first rows of the list, and how many rows have the input of an earlier one. */
export type SeenList = { readonly body: JobEstimateBody } & Pick<ListEstimate, "sample" | "rowsRepeated">

/** What a list would cost the account, and how it is read. A dry run takes the place of an upload, and costs its unit unless it fails. */
export async function estimateFor(
  deps: Pick<JobRoutesDeps, "jobs" | "tiers" | "units" | "usage">,
  exchange: Exchange,
  chunks: AsyncIterable<Uint8Array>,
  list: { readonly options: JobOptions; readonly reading: ListReading },
): Promise<SeenList> {
  const { service, bytesMax } = deps.jobs
  const { key, account } = callerOf(exchange)
  const makeEstimate = async (): Promise<SeenList> => {
    const estimate = await service.estimate({ accountId: account.id, keyId: key.id, ...list }, chunks, bytesMax)
    if (estimate === null) throw invalidKey("This key does not exist.")
    if (typeof estimate === "string") throw tooManyJobs(estimate)
    const perDay = deps.tiers[account.tier]?.unitsPerDay ?? null
    const { reading, inputColumns, sample, rowsRepeated } = estimate
    const isOther = (index: number): boolean => reading.format === "csv" && index !== reading.inputIndex
    const body = {
      rows: estimate.rowsTotal,
      rows_skipped: estimate.rowsSkipped,
      rows_cleaned: estimate.rowsCleaned,
      unique_domains: estimate.uniqueDomains,
      units_needed: estimate.unitsNeeded,
      units_left: perDay === null ? null : await deps.units.readRemaining(account.id, perDay),
      columns: [...estimate.columnNames],
      other_columns: inputColumns.filter(isOther).map(index => index + 1),
      reading: readingBody(reading),
    }
    return { body, sample, rowsRepeated }
  }
  return await metered(deps, exchange, JOB_LIMITS.dryRunUnits, makeEstimate, () => ({ kind: "dry_run" }))
}

/** Another server, which a balancer may ask next, may have the folder. */
export async function assertFolder({ jobs: { service } }: Pick<JobRoutesDeps, "jobs">): Promise<void> {
  if (!(await service.canUseFolder())) throw diskProblem("This server cannot reach the lists of jobs now.")
}

const diskProblem = (detail: string): Problem => new Problem("overloaded", detail, { retry_after: DISK_RETRY_S })

const tooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The list is larger than ${bytesMax} bytes.`, { limit: bytesMax })

/** How long a client waits after the disk of the server was full. */
const DISK_RETRY_S = 60

/** The problem of an upload that failed; what is no fault of the list or the disk, as it is. */
export function uploadProblem(error: unknown, bytesMax: number): unknown {
  if (error instanceof RefusedList)
    return error.reason === "too_large" ? tooLarge(bytesMax) : invalidInput([{ pointer: "", detail: error.message }])
  if (isSystemError(error, "ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "ENFILE", "EFBIG"))
    return diskProblem("The server cannot store the list now. Nothing of it is kept.")
  return error
}

/** Sends results block by block, from the byte that the client asks for. */
async function sendResults(
  deps: JobRoutesDeps,
  exchange: Exchange,
  job: Job,
  { only, isForSpreadsheet }: ResultsInput,
): Promise<Response> {
  const { request } = exchange
  const { files } = deps.jobs
  const { mediaType, extension, results } = JOB_FORMATS[job.format]
  if (isForSpreadsheet && results !== "csv")
    throw invalidInput([{ parameter: "format", detail: "The results of this list are no table. Leave `format` out." }])
  if (!JOB_STATES[job.state].hasResults) throw jobNotReady(job.state)
  const plainLength = resultsLength(job, only)
  // The results only grow, so their length tells their state.
  const entityTag = `"${job.id}.${plainLength}${isForSpreadsheet ? ".excel" : ""}"`
  const headers = {
    ...plainHeaders(deps, exchange),
    "Content-Type": mediaType,
    "Content-Disposition": `attachment; filename="${job.id}.${extension}"`,
    "Accept-Ranges": "bytes",
    ETag: entityTag,
  }
  if (request.headers.get("if-none-match")?.trim() === entityTag)
    return new Response(null, { status: 304, headers: { ...headers, "Content-Length": "0" } })
  // How long they are tells only reading them, so they are sent without a length unless a part is asked for.
  if (isForSpreadsheet && !request.headers.has("range"))
    return new Response(streamOf(readSpreadsheet(files, job, only)), { headers })
  const length = isForSpreadsheet ? await spreadsheetLength(files, job, only) : plainLength
  const range = requestedRange(request, length, entityTag)
  if (range === "unsatisfiable") throw rangeNotSatisfiable(length)
  const { from, to } = range ?? { from: 0, to: length }
  const body = streamOf(
    isForSpreadsheet
      ? sliceChunks(readSpreadsheet(files, job, only), from, to)
      : readResults(files, job, only, from, to),
  )
  const sized = { ...headers, "Content-Length": String(to - from) }
  return range === null
    ? new Response(body, { headers: sized })
    : new Response(body, { status: PARTIAL_CONTENT, headers: { ...sized, ...contentRange({ from, to }, length) } })
}

const contentRange = ({ from, to }: ByteRange, length: number) => ({
  "Content-Range": `bytes ${from}-${to - 1}/${length}`,
})
