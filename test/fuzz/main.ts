/**
 * `bun run fuzz [--requests N] [--seed S] [--connections C] [--from NUMBER] [--json]` asks a real server a million requests
 * that are wrong in every way that we know, the same on every run but for keys. A wrong answer is told with the words that
 * ask it alone. `bun run fuzz --zones N` has it check so many domains instead, in whose zones anything may stand, and
 * `bun run fuzz --readers N` gives each reader of bytes from outside so many texts and judges the most expensive ones. Exit codes:
 * 0 all is well, 1 something is wrong, 2 wrong use.
 */

import { parseArgs } from "node:util"
import { machineText, thisMachine } from "../../bench/report/machine.ts"
import { median } from "../../bench/report/rounds.ts"
import { fuzzReaders } from "./reader-run.ts"
import { type FuzzReport, fuzz } from "./run.ts"
import { fuzzZones } from "./zone-run.ts"

/**
 * How late the event loop may be, and in which share of the seconds it may be later, because the machine was busy otherwise. The
 * first tenth of them does not count: whatever is used for the first time is loaded and compiled then, which takes up to 400 ms.
 */
const LAG_MAX_MS = 50
const LATE_SECONDS_MAX = 0.01
const WARM_UP_SHARE = 0.1

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
      zones: number("0"),
      readers: number("0"),
      json: { type: "boolean", default: false },
    },
  })
  const numbers = [values.requests, values.seed, values.connections, values.from, values.zones, values.readers].map(
    Number,
  )
  const [requests = 0, seed = 0, connections = 0, from = 0, zones = 0, readers = 0] = numbers
  if (!numbers.every(value => Number.isSafeInteger(value) && value >= 0) || requests < 1 || connections < 1) {
    console.error("--requests, --seed, --connections, --from, --zones and --readers are whole numbers")
    return 2
  }
  if (!values.json) console.log(machineText(thisMachine()))
  if (readers > 0) return await fuzzReaders({ cases: readers, seed }, values.json)
  if (zones > 0) return await runZones({ zones, seed, connections }, values.json)
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

async function runZones(scale: Parameters<typeof fuzzZones>[0], isJson: boolean): Promise<number> {
  const report = await fuzzZones(scale, done => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${scale.zones}`)
  })
  const { zones, elapsedS, questions, answers, degraded, wrong, inLog, lagsMs, exitCode } = report
  const faults = [...wrong, ...inLog, ...lateFaults(lagsMs)]
  if (exitCode !== 0) faults.push(`the server ended with ${exitCode}`)
  const lines = [
    `${zones} zones in ${elapsedS.toFixed(0)} s, ${questions} questions, ${degraded} degraded at first`,
    ...[answerCounts(answers), lagFacts(lagsMs)],
    ...(faults.length === 0 ? ["nothing is wrong"] : faults),
  ]
  console.log(isJson ? JSON.stringify({ ...report, faults }, null, 2) : lines.join("\n"))
  return faults.length === 0 ? 0 : 1
}

const answerCounts = (answers: Readonly<Record<string, number>>): string =>
  `answers: ${Object.entries(answers)
    .map(([name, times]) => `${name} ${times}`)
    .join(", ")}`

const warm = (lagsMs: readonly number[]): readonly number[] => lagsMs.slice(Math.floor(lagsMs.length * WARM_UP_SHARE))

function lagFacts(lagsMs: readonly number[]): string {
  const atMost = (some: readonly number[]): number => Math.round(Math.max(0, ...some))
  return `the event loop was late by at most ${atMost(lagsMs)} ms, ${atMost(warm(lagsMs))} ms when it was warm, in the middle of the seconds by ${Math.round(median(lagsMs))} ms`
}

function lateFaults(allLagsMs: readonly number[]): readonly string[] {
  const lagsMs = warm(allLagsMs)
  const late = lagsMs.filter(lagMs => lagMs > LAG_MAX_MS)
  if (late.length <= lagsMs.length * LATE_SECONDS_MAX) return []
  return [`the event loop was late by more than ${LAG_MAX_MS} ms in ${late.length} of ${lagsMs.length} warm seconds`]
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
  faults.push(...lateFaults(lagsMs))
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
    answerCounts(answers),
    `${Object.keys(served).length} routes have served something`,
    lagFacts(report.lagsMs),
    `memory ${mb(earlyBytes)} in the fourth tenth, ${mb(lateBytes)} in the last; ${report.descriptorsBefore} sockets before, ${report.descriptorsAfter} after`,
    ...(faults.length === 0 ? ["nothing is wrong"] : faults),
  ].join("\n")
}

process.exitCode = await main(Bun.argv.slice(2))
