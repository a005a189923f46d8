import { expect, test } from "bun:test"
import { SET_NAMES } from "../../../src/check/lists/sets.ts"
import { SOURCE_OUTCOMES } from "../../../src/check/refresh/refresh-state.ts"
import { LABELS, LATENCY_BUCKETS_S, METRICS, type MetricName } from "../../../src/contract/metrics.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { NOTICES } from "../../../src/customers/notices/notices.ts"
import { COLUMN_CELLS, cellOf, GAUGE_CELLS, placeOf, positionOf, seriesOf } from "../../../src/http/metrics/layout.ts"

const NAMES = Object.keys(METRICS) as MetricName[] // the keys are those of METRICS

test("every cell of a column belongs to one series of one metric", () => {
  const cells = NAMES.flatMap(name => {
    const { width } = placeOf(name)
    return seriesOf(name).flatMap(labels => {
      const first = cellOf(name, ...Object.values(labels))
      return Array.from({ length: width }, (_, at) => first + at)
    })
  })
  expect(cells.toSorted((a, b) => a - b)).toEqual(Array.from({ length: COLUMN_CELLS }, (_, at) => at))
})

test("a column is small, whatever is asked of the server", () => {
  expect(COLUMN_CELLS).toBeLessThan(4000)
})

test("a value that is none of its label's counts as the last, which stands for all others", () => {
  expect(LABELS.code.at(-1)).toBe("other")
  expect(positionOf("code", "418")).toBe(LABELS.code.length - 1)
  expect(LABELS.route.at(-1)).toBe("elsewhere")
  expect(positionOf("route", "GET /v1/nothing")).toBe(LABELS.route.length - 1)
})

test("labels say each thing once, and in few words", () => {
  for (const [label, values] of Object.entries(LABELS)) {
    expect([label, new Set(values).size]).toEqual([label, values.length])
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9_]+$|^(?:GET|POST) \/[\w/:.-]*$/)
  }
})

test("labels have what the parts of the house tell", () => {
  expect<readonly string[]>(LABELS.set).toEqual(SET_NAMES)
  expect<readonly string[]>(LABELS.source_outcome).toEqual(SOURCE_OUTCOMES)
  // Sign-in mails are never kept in the outbox.
  const posted = Object.keys(NOTICES).filter(kind => kind !== "sign_in")
  expect<readonly string[]>(LABELS.notice).toEqual([...posted, "other"])
  expect(LABELS.route).toHaveLength(Object.keys(ROUTES).length + 1)
})

test("names say their unit and kind as Prometheus has it", () => {
  for (const name of NAMES) {
    expect(name).toMatch(/^mailkind_[a-z_]+$/)
    expect([name, name.endsWith("_total")]).toEqual([name, METRICS[name].kind === "counter"])
  }
  expect(LATENCY_BUCKETS_S.toSorted((a, b) => a - b)).toEqual([...LATENCY_BUCKETS_S])
})

test("what a process holds is told from what it has counted", () => {
  expect(GAUGE_CELLS).toContain(cellOf("mailkind_http_in_flight"))
  expect(GAUGE_CELLS).not.toContain(cellOf("mailkind_http_requests_total", "GET /v1/health", "200"))
})
