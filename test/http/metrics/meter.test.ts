import { describe, expect, test } from "bun:test"
import { LATENCY_BUCKETS_S, METRIC_LABELS } from "../../../src/contract/metrics.ts"
import { cellIndex, createCounterShard } from "../../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"

const LATENCY = "mailkind_http_request_duration_seconds"
const PAST_LAST = LATENCY_BUCKETS_S.length

function metered() {
  const column = createCounterShard()
  return { column, meter: new Meter(column), raised: () => [...column.entries()].filter(([, value]) => value !== 0) }
}

describe("an answer", () => {
  test("counts for its route and status, in one bucket, and in the sum", () => {
    const { meter, raised } = metered()
    meter.recordResponse(1, 429, 0.3)
    const latency = cellIndex(LATENCY, METRIC_LABELS.route[1] ?? "")
    const cells = [cellIndex("mailkind_http_requests_total", METRIC_LABELS.route[1] ?? "", "429"), latency + 4]
    expect(raised()).toEqual([
      ...cells.map((cell): [number, number] => [cell, 1]),
      [latency + PAST_LAST + 1, 0.3 / 1000],
    ])
  })

  test("counts in the bucket whose bound it just keeps, and past it in the next one", () => {
    for (const [at, bound] of LATENCY_BUCKETS_S.entries()) {
      const { column, meter } = metered()
      meter.recordResponse(0, 200, bound * 1000)
      meter.recordResponse(0, 200, bound * 1000 + 1e-6)
      const first = cellIndex(LATENCY, METRIC_LABELS.route[0])
      expect([column[first + at], column[first + at + 1]]).toEqual([1, 1])
    }
  })

  test.each([100, 418, 599, 600, 999])("of the odd status %d counts as another", status => {
    const { column, meter } = metered()
    meter.recordResponse(0, status, 0)
    expect(column[cellIndex("mailkind_http_requests_total", METRIC_LABELS.route[0], "other")]).toBe(1)
  })
})

test("a verdict counts by category and decisive reason, and where it was held or degraded", () => {
  const { column, meter } = metered()
  for (const category of METRIC_LABELS.category)
    for (const reason of METRIC_LABELS.reason)
      meter.recordVerdict(
        { category, reasons: [reason, "subaddress"], isDegraded: reason === "no_evidence" },
        reason === "mx_found",
      )
  for (const category of METRIC_LABELS.category)
    for (const reason of METRIC_LABELS.reason)
      expect(column[cellIndex("mailkind_verdicts_total", category, reason)]).toBe(1)
  expect(column[cellIndex("mailkind_verdicts_cached_total")]).toBe(METRIC_LABELS.category.length)
  expect(column[cellIndex("mailkind_verdicts_degraded_total")]).toBe(METRIC_LABELS.category.length)
})

test("processor time begins anew with each process, as gauges do", () => {
  const { column, meter } = metered()
  meter.show([["mailkind_process_cpu_seconds_total", 7]])
  new Meter(column).show([["mailkind_process_cpu_seconds_total", 3]])
  expect(column[cellIndex("mailkind_process_cpu_seconds_total")]).toBe(3)
})

test("a total that is counted elsewhere goes on where the process before has left it", () => {
  const { column, meter } = metered()
  meter.show([["mailkind_cache_hits_total", 7, "dns"]])
  const next = new Meter(column)
  next.show([["mailkind_cache_hits_total", 0, "dns"]])
  expect(column[cellIndex("mailkind_cache_hits_total", "dns")]).toBe(7)
  next.show([["mailkind_cache_hits_total", 3, "dns"]])
  expect(column[cellIndex("mailkind_cache_hits_total", "dns")]).toBe(10)
})
