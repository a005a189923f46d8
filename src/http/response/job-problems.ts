import { JOB_LIMITS, JOB_STATES, type JobState } from "../../contract/jobs.ts"
import type { JobBound } from "../../customers/jobs/job-lifecycle.ts"
import { stillRunning } from "./idempotency-problems.ts"
import { Problem } from "./problem.ts"

const BOUND_MESSAGES: { readonly [B in Exclude<JobBound, "repeated">]: string } = {
  jobs: `The account has ${JOB_LIMITS.jobsPerAccountMax} jobs already. Delete one.`,
  uploads: `The account uploads ${JOB_LIMITS.uploadsPerAccountMax} lists already. Wait until one of them has ended.`,
  bytes: "The lists and results of the account take too much space. Delete a job.",
}

/** The problem 409 `too_many_jobs`, or that of an upload whose idempotency key is in use. */
export const tooManyJobs = (bound: JobBound): Problem =>
  bound === "repeated" ? stillRunning() : new Problem("too_many_jobs", BOUND_MESSAGES[bound])

/** The problem 415 `unsupported_media_type`. */
export const unsupportedList = (): Problem =>
  new Problem(
    "unsupported_media_type",
    "A list is text, CSV, NDJSON, a JSON array, an .xlsx workbook, or one of these in a gzip or zip file. Send it so: curl --data-binary @list.csv -H 'Content-Type: text/csv' -H 'Authorization: Bearer …', or as a form: curl -F file=@list.csv.",
  )

/** The problem 409 `job_not_ready`. */
export const jobNotReady = (state: JobState): Problem =>
  new Problem("job_not_ready", `The job is \`${state}\`. ${JOB_STATES[state].description}`)

/** The problem 416 `range_not_satisfiable`, for results of so many bytes. */
export const rangeNotSatisfiable = (length: number): Problem =>
  new Problem(
    "range_not_satisfiable",
    `The results have ${length} bytes.`,
    {},
    { "Content-Range": `bytes */${length}` },
  )

/** The problem 404 `not_found` of a job. */
export const noSuchJob = (): Problem => new Problem("not_found", "The account has no job with this id.")
