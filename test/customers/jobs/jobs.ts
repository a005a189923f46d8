import { JOB_STATE_NAMES, JOB_TRANSITIONS, type JobState } from "../../../src/contract/jobs.ts"
import type { StoredReading } from "../../../src/contract/reading.ts"
import { applyTransition, createJob } from "../../../src/customers/jobs/job-lifecycle.ts"
import { type Job, type JobOptions, NO_COUNTS } from "../../../src/customers/jobs/job-row.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { newId } from "../../../src/customers/store/core/id.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

/** What is asked for where nothing is. */
export const OPTIONS: JobOptions = {
  name: null,
  format: "text",
  column: null,
  hasHeader: true,
  policy: "b2b",
  includesTenant: true,
  tellsCanonical: false,
  tellsDuplicates: false,
  columns: null,
  callbackUrl: null,
}

/** A store with an account. */
export async function withAccount(tier = 0) {
  const store = await tempStore()
  const log = tempLog(store)
  return { store, log, accountId: await newAccount(log, "jane@example.com", tier) }
}

/** Creates a job, or is told of the bound that is reached. */
export const tryJob = (store: Store, accountId: string) =>
  createJob(
    { store, clock: () => 1000, random },
    {
      id: newId("job", random),
      accountId,
      keyId: "key_1",
      holder: "me",
      options: OPTIONS,
      keyHash: null,
      actor: SERVER_ACTOR,
    },
  )

/** A new job of the account, whose list is about to arrive. */
export async function newJob(store: Store, accountId: string, { at = 1000, holder = "me" } = {}): Promise<Job> {
  const created = await createJob(
    { store, clock: () => at, random },
    {
      id: newId("job", random),
      accountId,
      keyId: "key_1",
      holder,
      options: OPTIONS,
      keyHash: null,
      actor: SERVER_ACTOR,
    },
  )
  if (created === null || typeof created === "string") throw new Error(`no job: ${created}`)
  return created
}

/** Brings a new job into a state, by transitions of the table alone. */
export async function bringInto(store: Store, id: string, wanted: JobState): Promise<void> {
  const paths = new Map<JobState, readonly (keyof typeof JOB_TRANSITIONS)[]>([["receiving", []]])
  for (const _ of JOB_STATE_NAMES)
    for (const name of Object.keys(JOB_TRANSITIONS) as (keyof typeof JOB_TRANSITIONS)[]) // the keys of the table
      for (const from of JOB_TRANSITIONS[name].from) {
        const path = paths.get(from)
        if (path !== undefined && !paths.has(JOB_TRANSITIONS[name].to))
          paths.set(JOB_TRANSITIONS[name].to, [...path, name])
      }
  for (const name of paths.get(wanted) ?? []) await applyTransition(store, id, name)
}

/** Nothing is done. */
export const NO_PROGRESS = {
  inputOffset: 0,
  inputSkipped: 0,
  rowsDone: 0,
  unitsUsed: 0,
  busyMs: 0,
  parts: [],
  resultBytes: 0,
  counts: NO_COUNTS,
  stalledClaims: 1,
  suspectRow: null,
}

/** How a text is read. */
const TEXT_READING: StoredReading = {
  ...({ format: "text", hasMark: false, delimiter: ",", skippedLines: 0, hasHeader: false, width: 1 } as const),
  ...{ inputIndex: 0, kind: null, member: null, encoding: "utf-8" },
}

/** What a job stores of a list that has arrived. */
export const received = (inputBytes: number, rowsTotal: number) => ({ inputBytes, rowsTotal, reading: TEXT_READING })
