import { expect } from "bun:test"
import { JOB_LIMITS, JOB_STATE_NAMES, JOB_TRANSITIONS, type JobTransitionName } from "../../../src/contract/jobs.ts"
import { exportAccount } from "../../../src/customers/accounts/account-export.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { beatJobs, claimNextJob, finishJob, HolderWatch, releaseJob } from "../../../src/customers/jobs/job-leases.ts"
import {
  applyTransition,
  deleteExpiredJobs,
  deleteJobOf,
  knownJobIds,
  queueJob,
} from "../../../src/customers/jobs/job-lifecycle.ts"
import { commitBlock } from "../../../src/customers/jobs/job-progress.ts"
import { findJob, listJobs } from "../../../src/customers/jobs/job-row.ts"
import { readCounts } from "../../../src/customers/usage/usage-rows.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { newAccount } from "../temp-store.ts"
import { bringInto, NO_PROGRESS, newJob, received, tryJob, withAccount } from "./jobs.ts"

const DAY = 20_000
const clock = () => 2000

test("each transition works from the states of the table, and from no other state", async () => {
  const { store, accountId } = await withAccount()
  for (const name of Object.keys(JOB_TRANSITIONS) as JobTransitionName[]) // the keys of the table
    for (const state of JOB_STATE_NAMES) {
      const { id } = await newJob(store, accountId)
      await bringInto(store, id, state)
      const from: readonly string[] = JOB_TRANSITIONS[name].from
      const { isMoved, now } = {
        isMoved: await applyTransition(store, id, name),
        now: await store.one<{ state: string }>("SELECT state FROM jobs WHERE id = $1", [id]),
      }
      expect({ name, state, isMoved, now }).toEqual({
        name,
        state,
        isMoved: from.includes(state),
        now: { state: from.includes(state) ? JOB_TRANSITIONS[name].to : state },
      })
      await store.run("DELETE FROM jobs")
    }
})

test("an account has a bounded number of jobs, of uploads at the same time, and of stored bytes", async () => {
  const { store, accountId } = await withAccount()
  const create = () => tryJob(store, accountId)
  for (let at = 0; at < JOB_LIMITS.uploadsPerAccountMax; at++) await newJob(store, accountId)
  expect(await create()).toBe("uploads")
  await store.run("UPDATE jobs SET state = 'queued', input_bytes = $1", [JOB_LIMITS.bytesPerAccountMax / 2])
  expect(await create()).toBe("bytes")
  await store.run("UPDATE jobs SET input_bytes = 1")
  for (let at = 2; at < JOB_LIMITS.jobsPerAccountMax; at++)
    await queueJob(store, await newJob(store, accountId), received(1, 1))
  expect(await create()).toBe("jobs")
})

test("uploads that begin at the same moment do not exceed the bound together", async () => {
  const { store, accountId } = await withAccount()
  const created = await Promise.all(Array.from({ length: 6 }, () => tryJob(store, accountId)))
  expect(created.filter(job => typeof job === "object")).toHaveLength(JOB_LIMITS.uploadsPerAccountMax)
})

test("one job of an account is checked at a time, the oldest first, and those of other accounts beside it", async () => {
  const { store, log, accountId } = await withAccount()
  const other = await newAccount(log, "john@example.com")
  const [first, second] = [await newJob(store, accountId, { at: 1 }), await newJob(store, accountId, { at: 2 })]
  const third = await newJob(store, other, { at: 3 })
  for (const job of [first, second, third]) await queueJob(store, job, received(1, 1))
  const claims = await Promise.all(Array.from({ length: 4 }, (_, at) => claimNextJob(store, clock, `p${at}`, true)))
  for (let at = 0; at < 4; at++) claims.push(await claimNextJob(store, clock, "later", true))
  const claimed = claims.flatMap(job => (job === null ? [] : [job]))
  expect(claimed.map(({ id }) => id).toSorted()).toEqual([first.id, third.id].toSorted())
  for (const job of claimed) await finishJob(store, job, { nowMs: 3000, keepHours: 48 })
  expect((await claimNextJob(store, clock, "p", true))?.id).toBe(second.id)
})

test("a block is charged, counted and recorded as done together, and not at all when too few units are left", async () => {
  const { store, accountId } = await withAccount()
  await queueJob(store, await newJob(store, accountId), received(1, 6))
  const job = await claimNextJob(store, clock, "me", true)
  if (job === null) throw new Error("no job")
  const block = {
    charged: { byCategory: { personal: 2, invalid: 1 }, byRecommendation: { review: 2, block: 1 } },
    progress: { ...NO_PROGRESS, rowsDone: 3, parts: [{ lease: 1, bytes: 70 }] },
  } as const
  const allowance = { day: DAY, perDay: 5, keyPerDay: null }
  expect(await commitBlock(store, job, block, allowance)).toEqual({ kind: "committed", leased: 3 })
  const more = { ...block, progress: { ...block.progress, rowsDone: 6 } }
  expect(await commitBlock(store, job, more, allowance)).toEqual({ kind: "units_used_up" })
  expect(await findJob(store, accountId, job.id)).toMatchObject({ rowsDone: 3, parts: [{ lease: 1, bytes: 70 }] })
  const counts = (await readCounts(store, accountId, DAY, DAY)).map(({ measure, count }) => [measure, count])
  expect(Object.fromEntries(counts)).toEqual({
    used: 3,
    batch_items: 3,
    "category:personal": 2,
    "category:invalid": 1,
    "recommendation:review": 2,
    "recommendation:block": 1,
  })
})

test("a process whose job another one has taken over charges nothing more", async () => {
  const { store, accountId } = await withAccount()
  await queueJob(store, await newJob(store, accountId), received(1, 1))
  const former = await claimNextJob(store, clock, "slow", true)
  if (former === null) throw new Error("no job")
  await releaseJob(store, former, true)
  const block = {
    charged: { byCategory: { personal: 1 }, byRecommendation: { review: 1 } },
    progress: NO_PROGRESS,
  } as const
  const allowance = { day: DAY, perDay: 5, keyPerDay: 5 }
  expect(await commitBlock(store, former, block, allowance)).toEqual({ kind: "lost" })
  const next = await claimNextJob(store, clock, "quick", true)
  expect(next?.lease).toBe(former.lease + 1)
  expect(await commitBlock(store, former, block, allowance)).toEqual({ kind: "lost" })
  expect(await store.all("SELECT * FROM units")).toEqual([])
})

test("a job is taken from a holder that was silent for too long, and an upload of one is deleted with its key", async () => {
  const { store, accountId } = await withAccount()
  await queueJob(store, await newJob(store, accountId), received(1, 1))
  const job = await claimNextJob(store, clock, "gone", true)
  const upload = await newJob(store, accountId, { holder: "gone" })
  const watch = new HolderWatch(100, () => false)
  await watch.takeOver(store, "me", () => true, 0)
  await beatJobs(store, "gone")
  await watch.takeOver(store, "me", () => true, 99)
  await watch.takeOver(store, "me", () => true, 198)
  expect((await findJob(store, accountId, job?.id ?? ""))?.state).toBe("running")
  await watch.takeOver(store, "me", () => true, 199)
  expect((await findJob(store, accountId, job?.id ?? ""))?.state).toBe("queued")
  expect(await store.all("SELECT state, file_key, name FROM jobs WHERE id = $1", [upload.id])).toEqual([
    { state: "deleted", file_key: null, name: null },
  ])
})

test("a process gives up the jobs on which it does not work any more, and keeps the others", async () => {
  const { store, accountId } = await withAccount()
  await queueJob(store, await newJob(store, accountId), received(1, 1))
  const job = await claimNextJob(store, clock, "me", true)
  const watch = new HolderWatch(100, () => true)
  await watch.takeOver(store, "me", () => true, 0)
  expect((await findJob(store, accountId, job?.id ?? ""))?.state).toBe("running")
  await watch.takeOver(store, "me", () => false, 0)
  expect((await findJob(store, accountId, job?.id ?? ""))?.state).toBe("queued")
})

test("a job is taken at once from a holder that is known to have ended", async () => {
  const { store, accountId } = await withAccount()
  await queueJob(store, await newJob(store, accountId), received(1, 1))
  const job = await claimNextJob(store, clock, "dead", true)
  await new HolderWatch(100, holder => holder === "dead").takeOver(store, "me", () => true, 0)
  expect((await findJob(store, accountId, job?.id ?? ""))?.state).toBe("queued")
})

test("the jobs of other accounts and deleted jobs cannot be found, listed or deleted", async () => {
  const { store, log, accountId } = await withAccount()
  const other = await newAccount(log, "john@example.com")
  const { id } = await newJob(store, accountId)
  expect(await findJob(store, other, id)).toBeNull()
  expect(await deleteJobOf(log, other, id)).toBe(false)
  expect(await deleteJobOf(log, accountId, id)).toBe(true)
  expect(await deleteJobOf(log, accountId, id)).toBe(false)
  expect([await findJob(store, accountId, id), await listJobs(store, accountId)]).toEqual([null, Object.assign([])])
})

test("a job that has ended is deleted after the hours that it is kept, and no other", async () => {
  const { store, accountId } = await withAccount()
  const [ended, waiting] = [await newJob(store, accountId), await newJob(store, accountId)]
  await bringInto(store, ended.id, "running")
  await finishJob(store, { ...ended, lease: 0 }, { nowMs: 5000, keepHours: 48 })
  await queueJob(store, waiting, received(1, 1))
  expect(await deleteExpiredJobs(store, trustedAt(5000 + 48 * 3_600_000 - 1), 48)).toBe(0)
  expect(await deleteExpiredJobs(store, trustedAt(5000 + 48 * 3_600_000), 48)).toBe(1)
  expect([...(await knownJobIds(store))]).toEqual([waiting.id])
})

test("the export of an account has its jobs without the keys of their files, and its deletion deletes them", async () => {
  const { store, log, accountId } = await withAccount()
  const { id, fileKey } = await newJob(store, accountId)
  let text = ""
  for await (const part of exportAccount(store, 0, accountId)) text += part
  expect(JSON.parse(text).jobs).toMatchObject([{ id, state: "receiving", counts: {} }])
  expect(text).not.toContain(Buffer.from(fileKey ?? []).toString("base64"))
  await removeAccount(log, accountId)
  expect(await store.all("SELECT id FROM jobs")).toEqual([])
})
