import { expect, test } from "bun:test"
import { reportText } from "../../../bench/load/report-text.ts"
import type { LoadReport } from "../../../bench/load/run.ts"

const latencyMs = { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5.4321 }
const report: LoadReport = {
  connections: 64,
  rate: null,
  elapsedMs: 2000,
  answers: 100,
  warmupAnswers: 5,
  answersPerSecond: 50,
  bodyBytes: 1200.4,
  latencyMs,
  lateMs: null,
  byStatus: { "200": 88, "429": 12 },
  byProblem: { "429 rate_limited": 12 },
  failures: { refused: 0, closed: 2, unreadable: 0, unanswered: 0, skipped: 0, unsent: 0 },
  cpuShare: 0.314,
}

test("a person is told throughput, latency, statuses, problems, failures and what the program itself took", () => {
  expect(reportText("http://localhost/", report)).toBe(
    [
      "http://localhost/, 64 connections, 2.00 s",
      "  answers     100, 50 per second, bodies of 1200 bytes",
      "  latency ms  p50 1.000  p90 2.000  p99 3.000  p99.9 4.000  max 5.432",
      "  status      200: 88  429: 12",
      "  problems    429 rate_limited: 12",
      "  failures    2 × the connection closed before the answer's end",
      "  own CPU     31 % of a core",
    ].join("\n"),
  )
})

test("with a rate it is told what latency counts from, and how late the program was", () => {
  const text = reportText("http://localhost/", { ...report, rate: 500, lateMs: latencyMs })
  expect(text).toContain("500 requests per second, 64 connections")
  expect(text).toContain("from when each request was due")
  expect(text).toContain("  own delay   p50 1.000")
})
