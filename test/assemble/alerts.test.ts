import { expect } from "bun:test"
import { networkSamples } from "../../src/assemble/check/network.ts"
import { createStorePart, timeOperations } from "../../src/assemble/customers/store.ts"
import type { Part } from "../../src/assemble/part.ts"
import { FaultLog } from "../../src/base/fault-log.ts"
import { listsSamples } from "../../src/check/active-lists/lists-service.ts"
import { createTrustedTimeService } from "../../src/customers/nodes/trusted-time.ts"
import { writeConfirmedTime } from "../../src/customers/store/confirmed-time.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { createSystem, type System } from "../../src/system/system.ts"
import { post } from "../customers/notices/outbox-rows.ts"
import { newAccount } from "../customers/temp-store.ts"
import { knownLists } from "../support/app.ts"
import { type AlertCase, differingAlerts, scrapesOf, testRules, WELL_COUNT } from "../support/promtool.ts"
import { settled } from "../support/time.ts"
import { observedServer } from "./observed-server.ts"

type Server = Awaited<ReturnType<typeof observedServer>>

/** A server that has one fault from then on. */
type Fault = {
  readonly outside?: Partial<System>
  readonly parts?: readonly Part[]
  /** What is done before the first scrape. */
  readonly begins?: (server: Server) => unknown
  readonly happens: (server: Server) => unknown
  /** What the clock of Prometheus says when it has happened; absent: when the lists were built. */
  readonly nowMs?: number
  /** How many minutes after it the rules are looked at; absent: 40. */
  readonly minutes?: number
  /** The metrics that show it; absent: those of the parts. */
  readonly read?: (server: Server) => Promise<string>
}

const BUILT_AT_MS = Date.parse(knownLists.lists.pack.builtAt)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const GIB = 1024 ** 3

const real = createSystem()
const stats = real.processStats()

/** Each alert and a fault by which it fires, and no other does. */
const FAULTS: Readonly<Record<string, () => Fault>> = {
  MailkindDnsAway: () => {
    let isAway = false
    const queryCounts = { records: 9, no_data: 0, no_name: 0, timed_out: 0, unavailable: 0 }
    const answerCache = { entries: 0, hits: 0, misses: 0 }
    const stats = { isBreakerOpen: false, answerCache, tenantStats: null, queryCounts }
    return {
      parts: [{ samples: () => networkSamples(isAway, stats) }],
      happens: () => {
        isAway = true
      },
    }
  },
  MailkindDatabaseAway: () => {
    let isAway = false
    const store = { isUnavailable: () => isAway, connectionsInUse: () => 0 } as OpenStore // nothing else is asked
    return {
      parts: [createStorePart(store)],
      happens: () => {
        isAway = true
      },
    }
  },
  MailkindDatabaseSlow: () => ({
    happens: async ({ harness: { store }, own: { meter } }) => {
      let elapsedMs = 0
      const stopwatch = () => (elapsedMs += 700)
      const timed = timeOperations({ stopwatch }, store, meter)
      for (let count = 0; count < 20; count++) await timed.one("SELECT 1 AS one")
    },
  }),
  MailkindDescriptorsRunOut: () => {
    let open = 100
    return {
      outside: { processStats: () => ({ ...stats, descriptorCount: open, descriptorsMax: 1024 }) },
      happens: () => {
        open = 1000
      },
    }
  },
  MailkindLogLinesLost: () => {
    let lostLineCount = 0
    return {
      outside: { processStats: () => ({ ...stats, lostLineCount }) },
      happens: () => {
        lostLineCount = 40
      },
    }
  },
  MailkindDiskFull: () => {
    let freeBytes = 40 * GIB
    return {
      outside: { files: { ...real.files, diskSpace: async () => ({ freeBytes, sizeBytes: 50 * GIB }) } },
      happens: async ({ query }) => {
        freeBytes = 1_000_000
        await query()
      },
    }
  },
  MailkindRequestLogDrops: () => ({
    happens: async ({ harness }) => {
      for (let count = 0; count < 600; count++) await harness.ask("GET /v1/check?domain=stripe.com")
    },
  }),
  MailkindQuotaStoreFails: () => ({ happens: unitsAreLost }),
  // The answers of the harness are counted apart from its parts, by no process.
  MailkindFailing: () => ({
    happens: unitsAreLost,
    read: async ({ harness }) => (await harness.metrics()).replace(/^mailkind_workers_missing .*$/m, ""),
  }),
  MailkindUsageNotWritten: () => ({
    happens: async ({ harness }) => {
      await harness.ask("GET /v1/check?domain=stripe.com")
      await harness.time.tick(120_000)
    },
  }),
  MailkindJobsWait: () => ({
    happens: async ({ harness: { store, accountId }, query }) => {
      await store.run(
        "INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, created_at_ms) VALUES ('job_1', $1, 'k', 'queued', 'csv', 1, 'b2b', 1, 1)",
        [accountId],
      )
      await query()
    },
  }),
  MailkindMailsWait: () => ({
    happens: async ({ harness: { store, changes, clock }, query }) => {
      const accountId = await newAccount(changes, "jane@acme.com")
      await post(store, accountId, "key_1", clock() - 2 * HOUR_MS)
      await query()
    },
  }),
  MailkindListsOld: () => ({ happens: () => undefined, nowMs: BUILT_AT_MS + 15 * DAY_MS, minutes: 90 }),
  MailkindListsDamaged: () => {
    let isDamaged = false
    const damage = { noticed_at_ms: BUILT_AT_MS, file: "lists.pack", is_replaced: false }
    return {
      parts: [{ samples: () => listsSamples(knownLists, isDamaged ? damage : null) }],
      happens: () => {
        isDamaged = true
      },
    }
  },
  MailkindClockWrong: () => ({ ...hostClock(90_000, 0), nowMs: BUILT_AT_MS }),
  // It was behind, and is set.
  MailkindClockJumped: () => ({ ...hostClock(-DAY_MS, DAY_MS), nowMs: BUILT_AT_MS }),
}

/** The table that units are leased from is gone. */
async function unitsAreLost({ harness }: Server): Promise<void> {
  await harness.store.run("DROP TABLE units")
  expect((await harness.ask("GET /v1/check?domain=stripe.com")).status).toBe(500)
}

/** A server whose clock is ahead of the true one by so much, and then jumps. */
function hostClock(aheadMs: number, jumpMs: number): Fault {
  const state = { nowMs: BUILT_AT_MS + aheadMs }
  const part: Part[] = []
  const readings: (() => unknown)[] = []
  const runInterval = (_: number, work: () => unknown) => {
    readings.push(work)
    return () => undefined
  }
  const system = { ...real, runInterval, clock: () => state.nowMs, stopwatch: () => 0 }
  return {
    parts: [{ samples: () => part.flatMap(({ samples }) => samples?.() ?? []) }],
    begins: async ({ harness: { store } }) => {
      // A server has run until now.
      await writeConfirmedTime(store, { confirmedAtMs: state.nowMs, heldMs: 0 }, 0)
      const log = () => undefined
      const faults = new FaultLog(log, { ...system, describe: () => ({}) })
      const trusted = await createTrustedTimeService({ system, log, settings: {} }, faults, store, {
        add: () => undefined,
      })
      part.push(trusted)
      trusted.start()
      await settled()
    },
    happens: async () => {
      state.nowMs += jumpMs
      for (const read of readings) read()
      await settled()
    },
  }
}

/** The parts of a server whose database and DNS answer and whose clock is right. */
const wellParts = (nowMs: number): readonly Part[] => [
  createStorePart({ isUnavailable: () => false, connectionsInUse: () => 0 } as OpenStore), // nothing else is asked
  {
    samples: () => [
      ["mailkind_dns_up", 1],
      ["mailkind_clock_trusted", 1],
      ["mailkind_clock_timestamp_seconds", nowMs / 1000],
    ],
  },
]

/** What was scraped of a server before and after a fault. */
async function afterFault(alert: string, fault: Fault): Promise<AlertCase> {
  const nowMs = fault.nowMs ?? BUILT_AT_MS
  const server = await observedServer({ ...fault, parts: [...wellParts(nowMs), ...(fault.parts ?? [])] })
  await fault.begins?.(server)
  server.over.start()
  await server.query()
  const read = () => (fault.read ?? (({ exposition }: Server) => exposition()))(server)
  const before = await read()
  await fault.happens(server)
  const after = await read()
  await server.over.stop()
  const at = `${WELL_COUNT + (fault.minutes ?? 40)}m`
  return { name: alert, every: "1m", at, scraped: scrapesOf(before, after, nowMs / 1000), firing: [alert] }
}

testRules("a fault moves the metrics by which its alert fires, alone", async () => {
  const cases: AlertCase[] = []
  for (const [alert, fault] of Object.entries(FAULTS)) cases.push(await afterFault(alert, fault()))
  const well: Fault = { happens: () => undefined }
  cases.push({ ...(await afterFault("a server without a fault", well)), firing: [] })
  expect(await differingAlerts(cases)).toBe("")
})
