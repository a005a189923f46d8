import type { Pause } from "../base/concurrency.ts"
import type { LogMessage } from "../base/log-events.ts"
import { CoalescedRuns } from "../base/single-flight.ts"
import { createIntervals, type RunInterval } from "../base/time.ts"
import { type TrustedTime, whenTrusted } from "../base/trusted-clock.ts"
import { JOB_LIMITS } from "../contract/jobs.ts"
import {
  beatJobs,
  claimNextJob,
  HolderWatch,
  JOB_LEASE_BOUNDS,
  JOBS_POLLED,
  resumeJob,
} from "../customers/jobs/job-leases.ts"
import {
  bytesLeft,
  createJob,
  deletedJobIds,
  deleteExpiredJobs,
  deleteJob,
  deleteJobOf,
  type JobBound,
  knownJobIds,
  type NewJob,
  queueJob,
  removeDeletedJob,
  type StoppedJob,
  stoppedJobs,
} from "../customers/jobs/job-lifecycle.ts"
import { unitsLeft } from "../customers/jobs/job-progress.ts"
import type { Job } from "../customers/jobs/job-row.ts"
import { describeWrongFolder, type JobsFolderState } from "../customers/jobs/jobs-folder.ts"
import type { Actor } from "../customers/store/change-log/actor.ts"
import { newId } from "../customers/store/core/id.ts"
import type { DatabasePoll } from "../customers/store/poll/database-poll.ts"
import { inputFileName, jobIdOfFile } from "./job-files.ts"
import { checkJobFolder } from "./job-folder.ts"
import { estimateList, type ListEstimate } from "./list-estimate.ts"
import { type ListReading, storeList } from "./receive-list.ts"
import { isSuspect, JobInterrupted, type RunJobDeps, runJob } from "./run-job.ts"

/** What the service needs, besides what one job does. */
export type JobServiceDeps = Omit<RunJobDeps, "pause" | "onCleared"> & {
  readonly trustedTime: Pick<TrustedTime, "now">
  /** This process among all that share the database. */
  readonly holder: string
  /** Whether a holder is known to have ended. */
  readonly hasEnded: (holder: string) => boolean
  /** Whether servers on other machines may share the database. */
  readonly isStoreShared: boolean
  /** Where the files are, for the operator. */
  readonly folderPath: string
  readonly runInterval: RunInterval
  readonly poll: Pick<DatabasePoll, "add">
  /** Resolves when a few rows may be checked: live requests go first. */
  readonly waitForTurn: () => Promise<void>
  /** Lets all else be handled when lists were read for a few milliseconds. */
  readonly pauseReading: Pause
}

/** How an uploaded list is asked to be read. */
type AskedReading = { readonly reading: ListReading }

/** What makes an upload one that can be repeated: the hash of its key, its mark when its list has arrived, and its answer. */
type RepeatableUpload = {
  readonly keyHash: string
  readonly markText: () => string
  readonly answerFor: (job: Job) => string
}

/** How often this process removes what is left of deleted and expired jobs. */
const SWEEP_MS = 60_000
/** How long no job is begun after the disk or the store has failed. */
const PAUSE_AFTER_FAILURE_MS = 10_000

/** How long a job that has ended a process keeps others waiting: one of slow names alone may take an hour. */
const ALONE_MS_MAX = 30_000

type WrongFolderState = Exclude<JobsFolderState, { readonly kind: "own" }>

/** What is logged of a folder that cannot be used. */
const FOLDER_MESSAGES: { readonly [S in WrongFolderState["kind"]]: LogMessage } = {
  foreign: "the folder with the lists of jobs belongs to another database",
  not_shared: "other servers use another folder for the lists of jobs",
}

/** The folder cannot be used, although the disk is well. */
class WrongFolder extends Error {
  override readonly name = "WrongFolder"
  readonly code: string
  readonly reason: string
  readonly remedy: string

  constructor(state: WrongFolderState, path: string) {
    super(FOLDER_MESSAGES[state.kind])
    this.code = `jobs_folder_${state.kind}`
    const { reason, remedy } = describeWrongFolder(state, path)
    this.reason = reason
    this.remedy = remedy
  }
}

/** Checks the jobs of all accounts, a few at a time, and removes what is left of those that are deleted. */
export class JobService {
  readonly #deps: JobServiceDeps
  readonly #watch: HolderWatch
  readonly #runs = new Map<string, Promise<void>>()
  readonly #uploads = new Set<string>()
  /** How many uploads of an account are read once more. */
  readonly #repeats = new Map<string, number>()
  readonly #intervals: { readonly start: () => void; readonly stop: () => void }
  readonly #looks = new CoalescedRuns(() => this.#try("jobs were not looked for", () => this.#look()))
  readonly #sweeps = new CoalescedRuns(() => this.#try("old jobs were not removed", () => this.#sweep()))
  /** Null: it could not be found out. */
  #folder: JobsFolderState["kind"] | null = null
  #isStopping = false
  /** Since when a job is checked alone that has ended a process and is not past the rows that may have been the cause; null: none is. */
  #aloneSinceMs: number | null = null
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(deps: JobServiceDeps) {
    this.#deps = deps
    this.#watch = new HolderWatch(JOB_LEASE_BOUNDS.deadAfterMs, deps.hasEnded)
    this.#intervals = createIntervals(deps.runInterval, [
      [JOB_LEASE_BOUNDS.beatMs, () => void this.#try("the lease of jobs was not renewed", () => this.#beat())],
      [SWEEP_MS, () => void this.sweep()],
    ])
    deps.poll.add({
      columns: { jobsLeft: JOBS_POLLED },
      observe: ({ rows: [{ jobsLeft }] }) => jobsLeft === 1 && void this.look(),
    })
  }

  /** The number of jobs that this process checks now. */
  get runningCount(): number {
    return this.#runs.size
  }

  /** Whether the files of jobs can be read and written here. Never rejects. */
  async canUseFolder(): Promise<boolean> {
    if (this.#folder === null)
      await this.#try("the folder with the lists of jobs cannot be used", () => this.#checkFolder())
    return this.#folder === "own"
  }

  /** The number of lists that this process receives now. */
  get uploadsCount(): number {
    return this.#uploads.size
  }

  /**
   * Receives a list and queues its job. Gives the bound of the account that holds it back; null: the account is gone. Throws a `RefusedList`,
   * and leaves nothing behind then, or when the upload is cut short.
   */
  async receive(
    { reading, ...list }: Omit<NewJob, "id" | "holder" | "keyHash"> & AskedReading,
    chunks: AsyncIterable<Uint8Array>,
    bytesMax: number,
    repeatable: RepeatableUpload | null = null,
  ): Promise<Job | JobBound | null> {
    const { random, holder } = this.#deps
    const id = newId("job", random)
    this.#uploads.add(id)
    try {
      const job = await createJob(this.#deps, { ...list, id, holder, keyHash: repeatable?.keyHash ?? null })
      if (job === null || typeof job === "string") return job
      return await this.#store({ job, reading, repeatable }, chunks, bytesMax)
    } finally {
      this.#uploads.delete(id)
      void this.look()
    }
  }

  /** Reads an upload once more that has made its job already. So many of an account may be read at once as it may have uploads. */
  async repeat<T>(accountId: string, read: () => Promise<T>): Promise<T | "uploads"> {
    const running = this.#repeats.get(accountId) ?? 0
    if (running >= JOB_LIMITS.uploadsPerAccountMax) return "uploads"
    this.#repeats.set(accountId, running + 1)
    try {
      return await read()
    } finally {
      const left = (this.#repeats.get(accountId) ?? 1) - 1
      if (left > 0) this.#repeats.set(accountId, left)
      else this.#repeats.delete(accountId)
    }
  }

  /** Tells what a list would take, in the place of an upload. Gives and throws the same, and leaves nothing behind. */
  async estimate(
    { reading, ...list }: Pick<NewJob, "accountId" | "keyId" | "options"> & AskedReading,
    chunks: AsyncIterable<Uint8Array>,
    bytesMax: number,
  ): Promise<ListEstimate | JobBound | null> {
    const { random, holder, store } = this.#deps
    const id = newId("job", random)
    this.#uploads.add(id)
    try {
      const place = await createJob(this.#deps, { ...list, id, holder, keyHash: null, actor: null })
      if (place === null || typeof place === "string") return place
      try {
        return await estimateList(this.#deps, chunks, reading, bytesMax)
      } finally {
        await deleteJob(store, id)
        await removeDeletedJob(store, id)
      }
    } finally {
      this.#uploads.delete(id)
    }
  }

  async #store(
    { job, reading, repeatable }: { readonly job: Job; readonly repeatable: RepeatableUpload | null } & AskedReading,
    chunks: AsyncIterable<Uint8Array>,
    bytesMax: number,
  ): Promise<Job | null> {
    const { store, files, clock } = this.#deps
    try {
      const list = await storeList(this.#deps, job, reading, chunks, bytesMax)
      const answerFor = repeatable?.answerFor ?? null
      const upload = answerFor && { bodyMac: repeatable?.markText() ?? "", nowMs: clock(), answerFor }
      return await queueJob(store, job, list, upload)
    } catch (error) {
      // The row goes first: without its key the file cannot be read.
      await deleteJob(store, job.id)
      await files.remove(inputFileName(job.id))
      await removeDeletedJob(store, job.id)
      throw error
    }
  }

  /** Deletes a job of the account with its files. False: it has none with this id. */
  async delete(accountId: string, id: string, actor: Actor): Promise<boolean> {
    const { store, clock } = this.#deps
    const isDeleted = await deleteJobOf({ store, clock, actor }, accountId, id)
    if (isDeleted) void this.sweep()
    return isDeleted
  }

  start(): void {
    this.#intervals.start()
    void this.sweep()
    void this.look()
  }

  /** Gives back the jobs that are being checked. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#intervals.stop()
    await this.#looks.stop()
    await this.#sweeps.stop()
    await Promise.all(this.#runs.values())
  }

  /** Resolves when no job is being checked here. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs.values())
  }

  /** Takes over jobs of processes that have ended, resumes stopped ones, and begins those whose turn it is. Never rejects. */
  async look(): Promise<void> {
    this.#looks.request()
    await this.#looks.idle()
  }

  async #look(): Promise<void> {
    const { store, stopwatch, holder } = this.#deps
    const isAtWork = (id: string): boolean => this.#runs.has(id) || this.#uploads.has(id)
    if (await this.#watch.takeOver(store, holder, isAtWork, stopwatch())) this.#sweeps.request()
    for (const job of await stoppedJobs(store)) if (await this.#mayResume(job)) await resumeJob(store, job.id)
    await this.#claim()
  }

  /** Deletes expired jobs, and removes the files and rows of deleted ones and the files of no job. Never rejects. */
  async sweep(): Promise<void> {
    this.#sweeps.request()
    await this.#sweeps.idle()
  }

  async #sweep(): Promise<void> {
    const { store, files, trustedTime, keepHours } = this.#deps
    await whenTrusted(trustedTime, nowMs => deleteExpiredJobs(store, nowMs, keepHours))
    const folder = await this.#checkFolder()
    const deleted = await deletedJobIds(store)
    // The files are listed first: a job whose file is among them is known by then.
    const names = (await files.names()).map(name => ({ name, id: jobIdOfFile(name) }))
    const known = names.some(({ id }) => id !== null) ? await knownJobIds(store) : new Set()
    const isOwn = folder === "own"
    for (const { name, id } of names) {
      // In the folder of another database, a job that is not known here may be one of its.
      const isLeft = id !== null && (isOwn ? !known.has(id) : deleted.includes(id))
      if (isLeft) await files.remove(name)
    }
    // Else the files are elsewhere, and whoever has them removes them.
    if (isOwn) for (const id of deleted) await removeDeletedJob(store, id)
  }

  /** Finds out whose the folder is, and complains if it cannot be used. */
  async #checkFolder(): Promise<JobsFolderState["kind"]> {
    this.#folder = null
    const { isStoreShared, folderPath, onError } = this.#deps
    const state = await checkJobFolder(this.#deps, isStoreShared)
    if (state.kind !== "own") onError(FOLDER_MESSAGES[state.kind], new WrongFolder(state, folderPath))
    this.#folder = state.kind
    return state.kind
  }

  async #beat(): Promise<void> {
    if (this.#runs.size + this.#uploads.size === 0) return
    await beatJobs(this.#deps.store, this.#deps.holder)
  }

  async #mayResume({ accountId, keyId, tier, isSuspended, keyUnitsPerDay, reason }: StoppedJob): Promise<boolean> {
    if (isSuspended) return false
    if (reason === "account_suspended") return true
    const { store, today, unitsPerDayOf } = this.#deps
    if (reason === "space_used_up") return (await bytesLeft(store, accountId)) > 0
    const allowance = { day: today(), perDay: unitsPerDayOf(tier), keyPerDay: keyUnitsPerDay }
    return (await unitsLeft(store, { accountId, keyId }, allowance)) !== 0
  }

  async #claim(): Promise<void> {
    const { store, clock, holder, stopwatch } = this.#deps
    if (!(await this.canUseFolder())) return
    const isAlone = () => this.#aloneSinceMs !== null && stopwatch() - this.#aloneSinceMs < ALONE_MS_MAX
    const hasRoom = () => this.#runs.size < JOB_LIMITS.runningPerProcessMax && !isAlone()
    while (hasRoom() && stopwatch() >= this.#pausedUntilMs) {
      const job = this.#isStopping ? null : await claimNextJob(store, clock, holder, this.#runs.size === 0)
      if (job === null) return
      if (isSuspect(job)) this.#aloneSinceMs = stopwatch()
      this.#runs.set(job.id, this.#run(job))
    }
  }

  async #run(job: Job): Promise<void> {
    try {
      await runJob({ ...this.#deps, pause: () => this.#pause(), onCleared: () => this.#clearSuspect() }, job)
    } catch (error) {
      this.#pausedUntilMs = this.#deps.stopwatch() + PAUSE_AFTER_FAILURE_MS
      this.#deps.onError("a job was interrupted", error, job.id)
    } finally {
      this.#runs.delete(job.id)
      if (isSuspect(job)) this.#aloneSinceMs = null
    }
    void this.look()
  }

  #clearSuspect(): void {
    this.#aloneSinceMs = null
    void this.look()
  }

  async #pause(): Promise<void> {
    if (this.#isStopping) throw new JobInterrupted()
    await this.#deps.waitForTurn()
  }

  async #try(message: LogMessage, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#deps.onError(message, error)
    }
  }
}
