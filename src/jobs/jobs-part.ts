import { join, resolve } from "node:path"
import { createTimedPause } from "../base/concurrency.ts"
import { logError, withFields } from "../base/log.ts"
import { testDomainOf } from "../check/address/parse-subject.ts"
import type { Check } from "../check/check.ts"
import { JOB_LIMITS } from "../contract/jobs.ts"
import { METRIC_LABELS, type Sample } from "../contract/metrics.ts"
import type { CustomersService } from "../customers/customers.ts"
import { countCallbacks } from "../customers/jobs/callback-queue.ts"
import { replaceCallbackSecret } from "../customers/jobs/callback-secrets.ts"
import { countJobs } from "../customers/jobs/job-row.ts"
import type { Actor } from "../customers/store/change-log/actor.ts"
import type { Store } from "../customers/store/core/store.ts"
import type { StoredContext } from "../customers/stored-context.ts"
import { distinctInputsWithin } from "../rows/duplicates.ts"
import { type CollectionBounds, createCollector, NEVER } from "../rows/garbage-collector.ts"
import { createJobFiles } from "./job-files.ts"
import { createHolder, hasLocalHolderEnded } from "./job-holder.ts"
import { JobService } from "./job-service.ts"
import type { CommitBounds } from "./run-job.ts"
import { createLiveWatch, createTurns } from "./turns.ts"

/**
 * An upload leaves five times its bytes as garbage. Without this bound a list of 100 MB takes 220 MB beside an idle server, and not 100. Each collection
 * costs a thirtieth of that upload's processor time, and a live request that arrives meanwhile waits for 30 ms.
 */
const MOVED_BYTES = 33_554_432

/**
 * A server holds more than a command beside its garbage, so that is collected where a block of rows ends: few look-ups are under way then, which
 * the collection of young garbage keeps. Uploads and downloads leave garbage too, so that it is also collected after so many bytes.
 * With these bounds a list of a million rows holds 60 MB most of the time, and not 130 MB.
 */
const COLLECTION_BOUNDS_ALONE: CollectionBounds = {
  young: { rows: 2500, lookups: 100, bytes: 4_194_304 },
  all: { rows: 25_000, lookups: 2000, bytes: MOVED_BYTES },
}

/** Live requests slow jobs down, and with them their garbage. They would wait for a collection: 5 ms for the young garbage, 50 ms for all. */
const COLLECTION_BOUNDS_LIVE: CollectionBounds = {
  young: { rows: 10_000, lookups: NEVER, bytes: NEVER },
  all: { rows: 100_000, lookups: 10_000, bytes: MOVED_BYTES },
}

/** About one commit a second beside live requests, and ten at full speed. */
export const COMMIT_BOUNDS: CommitBounds = { rows: 8000, ms: 1000 }

/** The part of the memory of the process that a list may take to tell its duplicates. */
const DUPLICATES_SHARE = 1 / 16

const GIVEN_UP_REMEDY =
  "The results of the rows before it are kept. Look for the out-of-memory killer in the log of the system. Then send the list again without that row."

type JobsDirectory = { readonly MAILKIND_JOBS_DIR: string | null; readonly MAILKIND_DATA_DIR: string }

/** The settings that jobs read. */
type JobsSettings = JobsDirectory & {
  readonly MAILKIND_DATABASE_URL: object | null
  readonly MAILKIND_JOB_KEEP_HOURS: number
  readonly MAILKIND_JOB_BYTES_MAX: number
  readonly MAILKIND_TEST_DOMAIN: string
  readonly MAILKIND_CALLBACKS: string
}

type JobsContext = StoredContext<JobsSettings> & {
  readonly system: {
    readonly collectGarbage: (isFull: boolean) => void
    readonly processes: { readonly pid: number }
  }
  /** What this process may have of the memory that the processes of the server share. */
  readonly memoryBytes: number
}

/** What the server is busy with beside jobs. */
type ServerLoad = {
  readonly liveCount: number
  readonly inFlight: number
  readonly isUnderPressure: () => boolean
}

/** The folder with the files of jobs. */
export const jobsDirectory = ({ MAILKIND_JOBS_DIR: own, MAILKIND_DATA_DIR: data }: JobsDirectory): string =>
  own ?? join(data, "jobs")

const inputsMaxOf = ({ memoryBytes }: JobsContext): number =>
  distinctInputsWithin(memoryBytes * DUPLICATES_SHARE, JOB_LIMITS.distinctInputsMax)

/** Checks the lists of jobs in this process, and gives the API what it needs of them. */
export function createJobsService(
  context: JobsContext,
  check: Check,
  { units, unitNotices, tiers, ownLists }: Pick<CustomersService, "units" | "unitNotices" | "tiers" | "ownLists">,
  load: ServerLoad,
) {
  const { system, settings, store, log, trustedTime, poll } = context
  const { clock, stopwatch, random, nextTick, setTimer, runInterval } = system
  const holder = createHolder(system.processes.pid, random)
  // Other machines share a PostgreSQL database, and their process ids mean nothing here.
  const isLocal = settings.MAILKIND_DATABASE_URL === null
  const keepHours = settings.MAILKIND_JOB_KEEP_HOURS
  const isLive = createLiveWatch(() => load.liveCount, stopwatch)
  const boundsNow = () => (isLive() ? COLLECTION_BOUNDS_LIVE : COLLECTION_BOUNDS_ALONE)
  const collectAfter = createCollector(system.collectGarbage, boundsNow)
  const files = createJobFiles(jobsDirectory(settings), bytes => collectAfter({ bytes }))
  const { wait: waitForTurn, isOver: isTurnOver } = createTurns({
    nextTick,
    setTimer,
    stopwatch,
    isLive,
    jobsCount: () => service.runningCount,
    isBusy: () => load.inFlight > service.uploadsCount,
    isUnderPressure: () => load.isUnderPressure(),
  })
  const service: JobService = new JobService({
    ...{ store, files, random, clock, stopwatch, trustedTime, runInterval, check, waitForTurn, holder, keepHours },
    ...{ poll, isStoreShared: !isLocal, folderPath: resolve(jobsDirectory(settings)) },
    pauseReading: createTimedPause(nextTick, stopwatch),
    ...{ isTurnOver, onChecked: collectAfter, commitBounds: COMMIT_BOUNDS, distinctInputsMax: inputsMaxOf(context) },
    ownListMatch: (accountId, subject) => ownLists.lookup(accountId, subject),
    testDomain: testDomainOf(settings.MAILKIND_TEST_DOMAIN),
    unitsPerDayOf: tier => tiers[tier]?.unitsPerDay ?? null,
    today: () => units.today(),
    onLeased: leased => unitNotices.noteLeased(leased),
    hasEnded: other => isLocal && hasLocalHolderEnded(other, holder),
    onGivenUp: (job, row) =>
      log("error", "a list is given up, since it ended its process twice", { job, row, remedy: GIVEN_UP_REMEDY }),
    onError: (message, error, job) =>
      logError(job === undefined ? log : withFields(log, { job }), message, jobsDirectory(context.settings))(error),
  })
  const jobs = {
    ...{ service, store, files, keepHours },
    replaceCallbackSecret: (accountId: string, actor: Actor) =>
      replaceCallbackSecret({ store, clock, random, actor }, accountId),
    ...{ bytesMax: settings.MAILKIND_JOB_BYTES_MAX, allowsLocalCallbacks: settings.MAILKIND_CALLBACKS === "local" },
  }
  const queriedSamples = [{ read: () => jobSamples(store), failure: "the jobs were not counted" }] as const
  return { jobs, service, part: { start: () => service.start(), stop: () => service.stop(), queriedSamples } }
}

async function jobSamples(store: Store): Promise<readonly Sample[]> {
  const counts = new Map((await countJobs(store)).map(({ state, count }) => [state, count]))
  const { waiting, givenUp } = await countCallbacks(store)
  return [
    ...METRIC_LABELS.job_state.map((state): Sample => ["mailkind_jobs", counts.get(state) ?? 0, state]),
    ["mailkind_callbacks_waiting", waiting],
    ["mailkind_callbacks_given_up", givenUp],
  ]
}
