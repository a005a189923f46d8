import type { LoadReport } from "./run.ts"
import { FAILURES } from "./tally.ts"

/** Tells a report to a person. */
export function reportText(url: string, report: LoadReport): string {
  const { latencyMs, lateMs, byStatus, byProblem, failures, rate } = report
  const failed = Object.entries(FAILURES).flatMap(([failure, description]) => {
    const count = failures[failure as keyof typeof FAILURES] // the keys are those of FAILURES
    return count === 0 ? [] : [`${count} × ${description}`]
  })
  const loop = rate === null ? "" : `${rate} requests per second, `
  return [
    `${url}, ${loop}${report.connections} connections, ${(report.elapsedMs / 1000).toFixed(2)} s`,
    `  answers     ${report.answers}, ${Math.round(report.answersPerSecond)} per second, bodies of ${Math.round(report.bodyBytes)} bytes`,
    `  latency ms  ${percentiles(latencyMs)}${rate === null ? "" : ", from when each request was due"}`,
    `  status      ${counts(byStatus)}`,
    `  problems    ${counts(byProblem)}`,
    `  failures    ${failed.join("; ") || "none"}`,
    ...(lateMs === null ? [] : [`  own delay   ${percentiles(lateMs)} ms of these latencies are this program's`]),
    `  own CPU     ${Math.round(report.cpuShare * 100)} % of a core${rate === null ? "" : ", most of it awake for the next moment"}`,
  ].join("\n")
}

const percentiles = (latency: LoadReport["latencyMs"]): string =>
  Object.entries(latency)
    .map(([name, ms]) => `${name.replace("_", ".")} ${ms.toFixed(3)}`)
    .join("  ")

const counts = (byName: Readonly<Record<string, number>>): string =>
  Object.entries(byName)
    .map(([name, count]) => `${name}: ${count}`)
    .join("  ") || "none"
