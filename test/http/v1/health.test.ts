import { expect, test } from "bun:test"
import { INITIAL_REFRESH_STATE, type SourceState } from "../../../src/check/refresh/refresh-state.ts"
import { healthReport } from "../../../src/http/v1/health.ts"
import { knownLists } from "../../support/app.ts"

const STATE: SourceState = { url: "https://a.example/", outcome: "taken", says: "", checked_at_ms: 5, changed_at_ms: 0 }

const refreshOf = (sources: Readonly<Record<string, SourceState>>) =>
  healthReport({
    ...{ version: "1", isRefreshScheduled: true, isDnsUnavailable: false, uptimeMs: 0 },
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
