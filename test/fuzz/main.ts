/**
 * `bun run fuzz [--requests N] [--seed S] [--connections C] [--from NUMBER] [--json]` asks a real server a million requests
 * that are wrong in every way that we know, the same on every run but for keys. A wrong answer is told with the words that
 * ask it alone. Exit codes: 0 all is well, 1 something is wrong, 2 wrong use.
 */

import { parseArgs } from "node:util"
import { machineText, thisMachine } from "../../bench/report/machine.ts"
import { median } from "../../bench/report/rounds.ts"
import { type FuzzReport, fuzz } from "./run.ts"

/** How late the event loop may be, and in which share of the seconds it may be later, because the machine was busy otherwise. */
const LAG_MAX_MS = 50
const LATE_SECONDS_MAX = 0.01

/** At the end its memory may be so many times what it was when it had warmed up. */
const GROWTH_MAX = 1.1

async function main(args: readonly string[]): Promise<number> {
  const number = (fallback: string) => ({ type: "string", default: fallback }) as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: number("1000000"),
      seed: number("1"),
      connections: number("32"),
      from: number("0"),
      json: { type: "boolean", default: false },
    },
  })
  const numbers = [values.requests, values.seed, values.connections, values.from].map(Number)
  const [requests = 0, seed = 0, connections = 0, from = 0] = numbers
  if (!numbers.every(value => Number.isSafeInteger(value) && value >= 0) || requests < 1 || connections < 1) {
    console.error("--requests, --seed, --connections and --from are whole numbers")
    return 2
  }
  if (!values.json) console.log(machineText(thisMachine()))
  const report = await fuzz({ requests, seed, connections, from }, done => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${requests}`)
  })
  const faults = faultsIn(report, seed)
  console.log(
    values.json
      ? JSON.stringify(
          {
            ...report,
            wrong: report.wrong.map(({ number, description }) => ({ number, description })),
            faults,
          },
          null,
          2,
        )
      : facts(report, faults),
  )
  return faults.length === 0 ? 0 : 1
}

/** What is wrong, in sentences. */
function faultsIn(
  { wrong, inLog, lagsMs, earlyBytes, lateBytes, descriptorsBefore, descriptorsAfter, exitCode }: FuzzReport,
  seed: number,
): readonly string[] {
  const faults = wrong.map(
    ({ number, description, request }) =>
      `${description}: bun run fuzz --requests 1 --seed ${seed} --from ${number}\n${JSON.stringify(request.bytes.toString("latin1").slice(0, 2000))}`,
  )
  faults.push(...inLog)
  if (lateBytes > earlyBytes * GROWTH_MAX && wrong.length === 0)
    faults.push(`memory grew from ${mb(earlyBytes)} to ${mb(lateBytes)}`)
  const late = lagsMs.filter(lagMs => lagMs > LAG_MAX_MS)
  if (late.length > lagsMs.length * LATE_SECONDS_MAX)
    faults.push(`the event loop was late by more than ${LAG_MAX_MS} ms in ${late.length} of ${lagsMs.length} seconds`)
  if (descriptorsAfter > descriptorsBefore) faults.push(`${descriptorsAfter - descriptorsBefore} connections are left`)
  if (exitCode !== 0) faults.push(`the server ended with ${exitCode}`)
  return faults
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

function facts(report: FuzzReport, faults: readonly string[]): string {
  const { requests, elapsedS, answers, served, earlyBytes, lateBytes } = report
  const count = Object.values(answers).reduce((sum, one) => sum + one, 0)
  return [
    `${count} of ${requests} requests in ${elapsedS.toFixed(0)} s, ${Math.round(count / elapsedS)} a second`,
    `answers: ${Object.entries(answers)
      .map(([name, times]) => `${name} ${times}`)
      .join(", ")}`,
    `${Object.keys(served).length} routes have served something`,
    `the event loop was late by at most ${Math.round(Math.max(0, ...report.lagsMs))} ms, in the middle of the seconds by ${Math.round(median(report.lagsMs))} ms`,
    `memory ${mb(earlyBytes)} in the fourth tenth, ${mb(lateBytes)} in the last; ${report.descriptorsBefore} sockets before, ${report.descriptorsAfter} after`,
    ...(faults.length === 0 ? ["nothing is wrong"] : faults),
  ].join("\n")
}

process.exitCode = await main(Bun.argv.slice(2))
