/**
 * `bun run faults [NAME…] [--times N] [--executable] [--json]` does to a real server what goes wrong in years, and tells fault by
 * fault what was done, how often, what was lost, and how long it took until the server served again. `--executable`: to
 * `dist/mailkind` in place of the checkout. Exit codes: 0 every promise was kept, 1 one was broken, 2 wrong use.
 */

import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { machineText, thisMachine } from "../../../bench/report/machine.ts"
import { PRODUCT, PROGRAM } from "../../../bench/servers/product.ts"
import { endPostgres } from "../../support/postgres-databases.ts"
import { breachesOf, type Fault, type Found } from "./fault.ts"
import { FAULTS } from "./faults.ts"

/** One line of what is told. */
type Row = { readonly name: string; readonly promise: string } & (
  | { readonly leftOut: string }
  | (Found & { readonly broken: readonly string[]; readonly tookMs: number })
)

type Invocation = {
  readonly names: readonly string[]
  readonly times: number | null
  readonly program: readonly string[]
  readonly isJson: boolean
}

async function main(args: readonly string[]): Promise<number> {
  const input = readArguments(args)
  if (typeof input === "string") {
    console.error(input)
    return 2
  }
  if (!input.isJson) console.log(machineText(thisMachine()))
  const rows: Row[] = []
  for (const [name, fault] of Object.entries<Fault>(FAULTS)) {
    if (input.names.length > 0 && !input.names.includes(name)) continue
    const row = await rowOf(name, fault, input)
    rows.push(row)
    if (!input.isJson) console.log(`\n${textOf(row)}`)
  }
  const broken = rows.filter(row => "broken" in row && row.broken.length > 0)
  if (input.isJson) console.log(JSON.stringify({ machine: thisMachine(), rows }, null, 2))
  else console.log(`\n${tableOf(rows)}`)
  return broken.length > 0 ? 1 : 0
}

function readArguments(args: readonly string[]): Invocation | string {
  try {
    const isAsked = { type: "boolean", default: false } as const
    const options = { times: { type: "string" }, executable: isAsked, json: isAsked } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const wrong = positionals.filter(name => !Object.hasOwn(FAULTS, name))
    if (wrong.length > 0) return `there is no fault ${wrong.join(", ")}; faults: ${Object.keys(FAULTS).join(", ")}`
    const times = values.times === undefined ? null : Number(values.times)
    if (times !== null && !(Number.isSafeInteger(times) && times > 0)) return "--times is a whole number from 1"
    const [executable] = PRODUCT.executable ?? []
    if (values.executable && (executable === undefined || !existsSync(executable)))
      return "the executable is not built: bun run build"
    const program = values.executable && executable !== undefined ? [executable] : PROGRAM
    return { names: positionals, times, program, isJson: values.json }
  } catch (fault) {
    if (fault instanceof TypeError) return fault.message
    throw fault
  }
}

async function rowOf(name: string, { promise, times, does }: Fault, invocation: Invocation): Promise<Row> {
  const startedAt = performance.now()
  const doing = { times: invocation.times ?? times.long, isLong: true, program: invocation.program, random: seeded(1) }
  const found = await does(doing).catch(
    (fault: unknown): Found => ({
      did: "",
      times: 0,
      acknowledged: 0,
      breaches: [String(fault)],
      backMs: null,
      memory: null,
    }),
  )
  if ("leftOut" in found) return { name, promise, leftOut: found.leftOut }
  return { name, promise, ...found, broken: breachesOf(found, true), tookMs: performance.now() - startedAt }
}

function textOf(row: Row): string {
  if ("leftOut" in row) return `${row.name}: ${row.promise}\n  left out: ${row.leftOut}`
  const { name, promise, did, broken, tookMs, saw } = row
  return [
    `${name}: ${promise}`,
    `  ${did} (${Math.round(tookMs / 1000)} s)`,
    ...broken.map(description => `  broken: ${description}`),
    ...(saw === undefined ? [] : [saw]),
  ].join("\n")
}

const HEADS = ["fault", "times", "acknowledged", "lost or wrong", "served again", "memory before", "after"]

function tableOf(rows: readonly Row[]): string {
  const cells = [HEADS, ...rows.map(cellsOf)]
  const widths = HEADS.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0)))
  return cells
    .map(row =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
    )
    .join("\n")
}

function cellsOf(row: Row): readonly string[] {
  if ("leftOut" in row) return [row.name, "left out", "", "", "", "", ""]
  const { name, times, acknowledged, broken, backMs, memory } = row
  const mb = (bytes: number | undefined): string => (bytes === undefined ? "" : `${Math.round(bytes / 1e6)} MB`)
  const back = backMs === null ? "" : `${Math.round(backMs)} ms`
  return [name, String(times), String(acknowledged), String(broken.length), back, mb(memory?.before), mb(memory?.after)]
}

process.exitCode = await main(Bun.argv.slice(2))
await endPostgres()
