import type { LoadReport } from "./run.ts"
import { FAILURES } from "./tally.ts"

/** Tells a report to a person. */
export function reportText(url: string, report: LoadReport): string {
  const { latencyMs, byStatus, failures } = report
  const percentiles = Object.entries(latencyMs).map(([name, ms]) => `${name.replace("_", ".")} ${ms.toFixed(3)}`)
  const statuses = Object.entries(byStatus).map(([status, count]) => `${status}: ${count}`)
  const failed = Object.entries(FAILURES).flatMap(([failure, says]) => {
    const count = failures[failure as keyof typeof FAILURES] // the keys are those of FAILURES
    return count === 0 ? [] : [`${count} × ${says}`]
  })
  return [
    `${url}, ${report.connections} connections, ${(report.elapsedMs / 1000).toFixed(2)} s`,
    `  answers     ${report.answers}, ${Math.round(report.answersPerSecond)} a second, bodies of ${Math.round(report.bodyBytes)} bytes`,
    `  latency ms  ${percentiles.join("  ")}`,
    `  status      ${statuses.join("  ") || "none"}`,
    `  failures    ${failed.join("; ") || "none"}`,
    `  own CPU     ${Math.round(report.cpuShare * 100)} % of a core`,
  ].join("\n")
}
