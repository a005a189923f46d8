import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { findJob, type Job, type JobOptions } from "../../src/customers/jobs/job-row.ts"
import { createKey } from "../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import { createJobFiles, type JobFiles } from "../../src/jobs/job-files.ts"
import { JobService, type JobServiceDeps } from "../../src/jobs/job-service.ts"
import { type ResultFilter, readResults, resultsLength } from "../../src/jobs/read-results.ts"
import type { ListReading } from "../../src/jobs/receive-list.ts"
import { OPTIONS, withAccount } from "../customers/jobs/jobs.ts"
import { random } from "../customers/temp-store.ts"
import { check } from "../support/app.ts"
import { trustedTime } from "../support/clock.ts"
import { FOUND, partsOf } from "../support/file-rows.ts"
import { onTestEnd } from "../support/on-test-end.ts"

/** How a list is read for which no more is asked than its job stores. Nothing of it has to look like an input. */
export const readingOf = ({
  format,
  column,
  hasHeader,
}: Pick<JobOptions, "format" | "column" | "hasHeader">): ListReading => ({
  ...{ ...FOUND, encoding: null, isForced: true, format, column, hasHeader },
})

/** All bytes of an iteration as text. */
export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk.slice())
  return Buffer.concat(parts).toString()
}

/** An account of a tier with a key, a folder for its jobs, and services that stand for processes; what is given replaces what they need. */
export async function jobDesk(perDay: number | null = null) {
  const { store, log, accountId } = await withAccount()
  const { key } = await createKey(log, random, { accountId, name: null, kind: "secret", origins: [] }).then(made => {
    if (made.kind !== "created") throw new Error(made.kind)
    return made
  })
  const folder = mkdtempSync(join(tmpdir(), "mailkind-jobs-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const files = createJobFiles(folder)
  const state = { day: 20_000, perDay, now: 1_000_000, errors: [] as unknown[], givenUpAt: [] as number[] }
  const process = (holder: string, more: Partial<JobServiceDeps> = {}): JobService =>
    new JobService({
      store,
      files,
      random,
      check,
      ownListMatch: () => NO_OWN_LIST_MATCH,
      testDomain: "mailkind.test",
      clock: () => state.now,
      trustedTime: trustedTime(() => state.now),
      stopwatch: () => state.now,
      unitsPerDayOf: () => state.perDay,
      today: () => state.day,
      onLeased: () => undefined,
      onGivenUp: (_, row) => void state.givenUpAt.push(row),
      holder,
      hasEnded: other => other.startsWith("dead"),
      keepHours: 48,
      isStoreShared: false,
      folderPath: folder,
      onChecked: () => undefined,
      commitBounds: { rows: 1000, ms: 1000 },
      distinctInputsMax: 1000,
      runInterval: () => () => undefined,
      poll: { add: () => undefined },
      waitForTurn: async () => undefined,
      pauseReading: () => undefined,
      isTurnOver: () => false,
      onError: (_, error) => void state.errors.push(error),
      ...more,
    })
  /** Uploads a list by a process that checks none. */
  const upload = async (
    list: string | Uint8Array,
    options: Partial<JobOptions> = {},
    bytesMax = 10_000_000,
  ): Promise<Job> => {
    const uploader = process("uploader")
    await uploader.stop()
    const asked = { ...OPTIONS, ...options }
    const made = await uploader.receive(
      { accountId, keyId: key.id, options: asked, reading: readingOf(asked), actor: SERVER_ACTOR },
      partsOf(list),
      bytesMax,
    )
    if (made === null || typeof made === "string") throw new Error(`no job: ${made}`)
    return made
  }
  const jobOf = async (id: string): Promise<Job> => {
    const job = await findJob(store, accountId, id)
    if (job === null) throw new Error("no such job")
    return job
  }
  /** Lets a process work until it finds nothing more to do. */
  const workOff = async (service: JobService): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await service.look()
      await service.idle()
    }
  }
  return {
    ...{ store, log, accountId, keyId: key.id, files, state, process, upload, jobOf, workOff },
    results: async (id: string, only: ResultFilter = null, from = 0, to = Number.POSITIVE_INFINITY): Promise<string> =>
      await textOf(readResults(files, await jobOf(id), only, from, to)),
    lengthOf: async (id: string, only: ResultFilter = null) => resultsLength(await jobOf(id), only),
    left: () => readdirSync(folder).filter(name => !name.startsWith("installation.")),
    folder,
  }
}

/** Wraps the files of jobs so that `fault` is called before each write and sync, and may throw. */
export const withFaults = (files: JobFiles, fault: (kind: "write" | "sync") => void): JobFiles => ({
  ...files,
  create: async name => {
    const file = await files.create(name)
    return {
      ...file,
      write: async (bytes, at) => {
        fault("write")
        await file.write(bytes, at)
      },
      sync: async () => {
        fault("sync")
        await file.sync()
      },
    }
  },
})
