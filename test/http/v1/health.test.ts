import { expect, test } from "bun:test"
import { INITIAL_REFRESH_STATE, type SourceState } from "../../../src/check/refresh/refresh-state.ts"
import type { Health } from "../../../src/contract/schemas.ts"
import { healthReport } from "../../../src/http/v1/health.ts"
import { knownLists } from "../../support/app.ts"

const STATE: SourceState = { url: "https://a.example/", outcome: "taken", says: "", checked_at_ms: 5, changed_at_ms: 0 }

const refreshOf = (sources: Readonly<Record<string, SourceState>>) =>
  healthReport({
    ...{
      version: "1",
      commit: null,
      listsDamage: null,
      isBehind: false,
      waitingUntilMs: null,
      isRefreshScheduled: true,
      dnsStatus: "ok" as const,
      isClockInDoubt: false,
      isDatabaseAway: false,
      databaseAnsweredMsAgo: null,
      uptimeMs: 0,
      nowMs: 65_000,
    },
    activeLists: { ...knownLists, refreshState: { ...INITIAL_REFRESH_STATE, refreshed_at_ms: 5, sources } },
  }).lists.refresh

test("health tells of each source what became of it and how many of its names were left out", () => {
  const mixed = { ...STATE, left_out: { count: 2, names: ["gmail.com", "stripe.com"] } }
  expect(refreshOf({ good: STATE, mixed })).toMatchObject({
    status: "ok",
    sources: { good: { outcome: "taken", left_out: 0 }, mixed: { outcome: "taken", left_out: 2 } },
  })
})

test("health tells of a source that was refused, such as a poisoned window", () => {
  expect(refreshOf({ good: STATE, bad: { ...STATE, outcome: "refused", says: "It may be poisoned." } })).toMatchObject({
    status: "failing",
    sources: { good: { outcome: "taken" }, bad: { outcome: "refused" } },
  })
})

const reportOf = (
  refreshedAtMs: number,
  nowMs: number,
  isDatabaseAway = false,
  dnsStatus: Health["dns"]["status"] = "ok",
) =>
  healthReport({
    ...{
      version: "1",
      commit: null,
      listsDamage: null,
      isBehind: false,
      waitingUntilMs: null,
      isRefreshScheduled: true,
      dnsStatus,
      isDatabaseAway,
      databaseAnsweredMsAgo: null,
      isClockInDoubt: false,
      uptimeMs: 0,
      nowMs,
    },
    activeLists: { ...knownLists, refreshState: { ...INITIAL_REFRESH_STATE, refreshed_at_ms: refreshedAtMs } },
  })

test("health tells how old the lists are: since they were built, or since a refresh that could use a source", () => {
  const builtAtMs = Date.parse(knownLists.lists.pack.builtAt)
  expect(reportOf(0, builtAtMs + 90_500).lists.age_seconds).toBe(90)
  expect(reportOf(builtAtMs + 60_000, builtAtMs + 90_500).lists.age_seconds).toBe(30)
  expect(reportOf(0, builtAtMs - 5000).lists.age_seconds).toBe(0)
})

test("health tells whether the database is away", () => {
  expect([reportOf(0, 0).database, reportOf(0, 0, true).database]).toEqual([
    { status: "ok", answered_ms_ago: null },
    { status: "away", answered_ms_ago: null },
  ])
})

test("health is degraded while DNS does not answer, and not where the operator turned it off", () => {
  const seen = (["ok", "unavailable", "off"] as const).map(status => reportOf(0, 0, false, status))
  expect(seen.map(({ status, dns }) => [status, dns.status])).toEqual([
    ["ok", "ok"],
    ["degraded", "unavailable"],
    ["ok", "off"],
  ])
})
