import { describe, expect, test } from "bun:test"
import { METRIC_LABELS, METRICS, type MetricName } from "../../../src/contract/metrics.ts"
import { createCounterShard, metricLayout } from "../../../src/http/metrics/counter-layout.ts"
import { renderExposition } from "../../../src/http/metrics/exposition.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"
import { samplesOf } from "../../support/prometheus.ts"

const BUILD = { version: "1.0.0", commit: "2f9b1c07d3ae", bun: "1.4.5" }

/** The columns of workers, each at work and otherwise as it is told. */
async function facts(...workers: readonly ((meter: Meter) => void)[]) {
  const columns = workers.map(work => {
    const column = createCounterShard()
    const meter = new Meter(column)
    meter.show([["mailkind_process_start_time_seconds", 1]])
    work(meter)
    return column
  })
  return samplesOf(renderExposition(columns, BUILD).text)
}

describe("of several workers", () => {
  test("what was counted is summed up, and a flag is the worse one's", async () => {
    const samples = await facts(
      meter => {
        meter.increment("mailkind_problems_total", 2, "not_found")
        meter.show([["mailkind_dns_up", 1]])
        meter.show([["mailkind_usage_flush_lag_seconds", 4]])
      },
      meter => {
        meter.increment("mailkind_problems_total", 3, "not_found")
        meter.show([["mailkind_usage_flush_lag_seconds", 1]])
      },
    )
    expect(samples.get('mailkind_problems_total{problem="not_found"}')).toBe(5)
    expect(samples.get("mailkind_dns_up")).toBe(0)
    expect(samples.get("mailkind_usage_flush_lag_seconds")).toBe(4)
  })

  test("each tells of its own process", async () => {
    const samples = await facts(
      meter => meter.show([["mailkind_process_heap_bytes", 10]]),
      meter => meter.show([["mailkind_process_heap_bytes", 20]]),
    )
    expect(samples.get('mailkind_process_heap_bytes{worker="0"}')).toBe(10)
    expect(samples.get('mailkind_process_heap_bytes{worker="1"}')).toBe(20)
  })

  test("one that is gone is counted still, and holds nothing: what it cannot tell is not zero", async () => {
    const gone = createCounterShard()
    new Meter(gone).increment("mailkind_problems_total", 3, "not_found")
    const here = createCounterShard()
    new Meter(here).show([["mailkind_process_start_time_seconds", 1]])
    new Meter(here).show([["mailkind_dns_up", 1]])
    const samples = samplesOf(renderExposition([gone, here], BUILD).text)
    expect(samples.get('mailkind_problems_total{problem="not_found"}')).toBe(3)
    expect(samples.get("mailkind_dns_up")).toBe(1)
    expect(samples.has('mailkind_process_heap_bytes{worker="0"}')).toBe(false)
    expect(samples.get('mailkind_process_heap_bytes{worker="1"}')).toBe(0)
    expect(samples.get("mailkind_workers_missing")).toBe(1)
  })

  test("while none serves they are missing, counts stay, and nothing says that database or DNS is away", () => {
    const gone = createCounterShard()
    new Meter(gone).increment("mailkind_workers_ended_total", 1)
    const samples = samplesOf(renderExposition([gone, createCounterShard()], BUILD).text)
    expect([samples.get("mailkind_workers_missing"), samples.get("mailkind_workers_ended_total")]).toEqual([2, 1])
    const gauges = Object.entries(METRICS).filter(
      ([name, { kind }]) => kind === "gauge" && name !== "mailkind_workers_missing",
    )
    expect(gauges.filter(([name]) => samples.has(name))).toEqual([])
  })
})

test("a latency has its buckets one within the other, its sum and its count", async () => {
  const samples = await facts(
    meter => meter.recordResponse(0, 200, 0.2),
    meter => {
      meter.recordResponse(0, 200, 3)
      meter.recordResponse(0, 200, 60_000)
    },
  )
  const route = METRIC_LABELS.route[0]
  const bucket = (le: string) =>
    samples.get(`mailkind_http_request_duration_seconds_bucket{route="${route}",le="${le}"}`)
  expect(["0.0001", "0.00025", "0.0025", "0.005", "10", "+Inf"].map(bucket)).toEqual([0, 1, 1, 2, 2, 3])
  expect(samples.get(`mailkind_http_request_duration_seconds_sum{route="${route}"}`)).toBeCloseTo(60.0032)
  expect(samples.get(`mailkind_http_request_duration_seconds_count{route="${route}"}`)).toBe(3)
})

test("every metric is told under its name, with its labels and values from the tables alone", async () => {
  const full = createCounterShard().fill(1)
  const { text, mediaType } = renderExposition([full], BUILD)
  expect(mediaType).toBe("text/plain; version=0.0.4; charset=utf-8")
  for (const name of Object.keys(METRICS) as MetricName[]) {
    // the keys are those of METRICS
    const { kind, description } = METRICS[name]
    expect(text).toContain(`# HELP ${name} ${description}\n# TYPE ${name} ${kind}\n`)
    const samples = [...samplesOf(text).keys()].filter(key =>
      new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{|$)`).test(key),
    )
    const { seriesCount, seriesCells } = metricLayout(name)
    expect([name, samples.length]).toEqual([name, seriesCount * (kind === "histogram" ? seriesCells + 1 : 1)])
  }
  for (const [, label = "", value = ""] of text.matchAll(/[{,](\w+)="([^"]*)"/g)) {
    if (["le", "worker", "version", "commit", "bun"].includes(label)) continue
    const values: readonly string[] = METRIC_LABELS[label as keyof typeof METRIC_LABELS]
    expect(values).toContain(value)
  }
  expect(samplesOf(text).get('mailkind_build_info{version="1.0.0",commit="2f9b1c07d3ae",bun="1.4.5"}')).toBe(1)
})

test("a label is escaped as the text format wants it", () => {
  const { text, mediaType } = renderExposition([], { version: 'a"b\\c', commit: "2f9b1c07d3ae", bun: "1\n2" })
  expect(text).toEndWith('mailkind_build_info{version="a\\"b\\\\c",commit="2f9b1c07d3ae",bun="1\\n2"} 1\n')
  expect(mediaType).toBe("text/plain; version=0.0.4; charset=utf-8")
})
