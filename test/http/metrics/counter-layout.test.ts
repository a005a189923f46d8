import { expect, test } from "bun:test"
import { SET_NAMES } from "../../../src/check/lists/sets.ts"
import { SOURCE_OUTCOMES } from "../../../src/check/refresh/refresh-state.ts"
import { LATENCY_BUCKETS_S, METRIC_LABELS, METRICS, type MetricName } from "../../../src/contract/metrics.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { NOTICES } from "../../../src/customers/notices/notices.ts"
import {
  cellIndex,
  clearGauges,
  createCounterShard,
  GAUGE_CELLS,
  labelIndex,
  metricLayout,
  prependCounterShards,
  SHARD_CELLS,
  seriesLabels,
  splitSharedMemory,
} from "../../../src/http/metrics/counter-layout.ts"

const NAMES = Object.keys(METRICS) as MetricName[] // the keys are those of METRICS

test("every cell of a column belongs to one series of one metric", () => {
  const cells = NAMES.flatMap(name => {
    const { seriesCells } = metricLayout(name)
    return seriesLabels(name).flatMap(labels => {
      const first = cellIndex(name, ...Object.values(labels))
      return Array.from({ length: seriesCells }, (_, at) => first + at)
    })
  })
  expect(cells.toSorted((a, b) => a - b)).toEqual(Array.from({ length: SHARD_CELLS }, (_, at) => at))
})

test("a column is small, whatever is asked of the server", () => {
  expect(SHARD_CELLS).toBeLessThan(8000)
})

test("a value that is none of its label's counts as the last, which stands for all others", () => {
  expect(METRIC_LABELS.code.at(-1)).toBe("other")
  expect(labelIndex("code", "418")).toBe(METRIC_LABELS.code.length - 1)
  expect(METRIC_LABELS.route.at(-1)).toBe("elsewhere")
  expect(labelIndex("route", "GET /v1/nothing")).toBe(METRIC_LABELS.route.length - 1)
})

test("labels say each thing once, and in few words", () => {
  for (const [label, values] of Object.entries(METRIC_LABELS)) {
    expect([label, new Set(values).size]).toEqual([label, values.length])
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9_]+$|^(?:GET|POST|PUT|DELETE) \/[\w/:.-]*$/)
  }
})

test("labels have what the parts of the house tell", () => {
  expect<readonly string[]>(METRIC_LABELS.set).toEqual(SET_NAMES)
  expect<readonly string[]>(METRIC_LABELS.source_outcome).toEqual(SOURCE_OUTCOMES)
  // Mails with the secret of a link are never kept in the outbox.
  const posted = Object.keys(NOTICES).filter(kind => kind !== "sign_in" && kind !== "invitation")
  expect<readonly string[]>(METRIC_LABELS.notice).toEqual([...posted, "other"])
  expect(METRIC_LABELS.route).toHaveLength(Object.keys(ROUTES).length + 1)
})

test("names say their unit and kind as Prometheus has it", () => {
  for (const name of NAMES) {
    expect(name).toMatch(/^mailkind_[a-z_]+$/)
    expect([name, name.endsWith("_total")]).toEqual([name, METRICS[name].kind === "counter"])
  }
  expect(LATENCY_BUCKETS_S.toSorted((a, b) => a - b)).toEqual([...LATENCY_BUCKETS_S])
})

test("what a process holds is told from what it has counted", () => {
  expect(GAUGE_CELLS).toContain(cellIndex("mailkind_http_in_flight"))
  expect(GAUGE_CELLS).not.toContain(cellIndex("mailkind_http_requests_total", "GET /v1/health", "200"))
})

test("memory that is shared has a column for each seat, and the rest behind them, in place", () => {
  const rest = Uint8Array.from({ length: 64 }, (_, at) => at)
  const memory = prependCounterShards(3, rest)
  const shared = splitSharedMemory(memory)
  expect(shared.shards.map(column => column.length)).toEqual([SHARD_CELLS, SHARD_CELLS, SHARD_CELLS])
  expect([...shared.rest]).toEqual([...rest])
  for (const [seat, column] of shared.shards.entries()) column.fill(seat + 1)
  expect([...shared.rest]).toEqual([...rest])
  shared.rest[0] = 99
  const seen = splitSharedMemory(memory)
  expect(seen.shards.map(column => [column[0], column.at(-1)])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ])
  expect(seen.rest[0]).toBe(99)
})

test("of a process that is gone the counts are kept, and nothing that it held", () => {
  const column = createCounterShard()
  const [held, counted] = [cellIndex("mailkind_leases_held"), cellIndex("mailkind_verdicts_degraded_total")]
  column.set([5], held)
  column.set([5], counted)
  clearGauges(column)
  expect([column[held], column[counted]]).toEqual([0, 5])
})
