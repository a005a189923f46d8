/**
 * Is this tree, as it is, faster or slower than a commit? Both run in turn on the same machine; what differs less than
 * rounds of one tree differ among each other is called noise.
 */

import { join } from "node:path"
import { parseArgs } from "node:util"
import { machineText, thisMachine } from "../report/machine.ts"
import { compared, comparedText } from "./figures.ts"
import { COMPARISONS } from "./trees.ts"
import { buildLists, commitOf, UnknownRef, worktreeOf } from "./worktree.ts"

const USAGE = `bun run bench:compare REF [option…]
  REF               a commit, branch or tag, checked out into a temporary directory while it is measured
  --bench NAME      ${Object.entries(COMPARISONS)
    .map(([name, { message }]) => `${name}: ${message}`)
    .join("\n                    ")}
                    (http)
  --rounds N        rounds, from 2 to 99 (9)
  --connections N   connections of the load (64)
  --duration S      seconds of load a round (2)
  --json            as JSON
Exit codes: 0 compared, whatever the difference in speed; 1 it could not be, or verdicts differ; 2 wrong use; 130 interrupted.`

const ROOT = join(import.meta.dir, "../..")
const WARMUP_S = 2

type Options = {
  readonly ref: string
  readonly bench: keyof typeof COMPARISONS
  readonly rounds: number
  readonly connections: number
  readonly roundS: number
  readonly json: boolean
}

/** The options, or the sentence that says what is wrong with them. */
function readOptions(args: readonly string[]): Options | string {
  const read = parsed(args)
  if (typeof read === "string") return read
  const { values, positionals } = read
  const [ref, ...surplus] = positionals
  if (ref === undefined || surplus.length > 0) return "give one commit, branch or tag"
  const isBench = (name: string): name is Options["bench"] => Object.hasOwn(COMPARISONS, name)
  if (!isBench(values.bench))
    return `there is no comparison ${values.bench}; there are ${Object.keys(COMPARISONS).join(", ")}`
  const [rounds, connections, roundS] = [values.rounds, values.connections, values.duration].map(Number)
  if (!isWhole(rounds, 2, 99)) return "--rounds wants a whole number from 2 to 99"
  if (!isWhole(connections, 1, 4096)) return "--connections wants a whole number from 1 to 4096"
  if (roundS === undefined || !(roundS >= 0.1 && roundS <= 60)) return "--duration wants a number from 0.1 to 60"
  return { ref, bench: values.bench, rounds, connections, roundS, json: values.json }
}

const isWhole = (value: number | undefined, min: number, max: number): value is number =>
  value !== undefined && Number.isInteger(value) && value >= min && value <= max

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        bench: { type: "string", default: "http" },
        rounds: { type: "string", default: "9" },
        connections: { type: "string", default: "64" },
        duration: { type: "string", default: "2" },
        json: { type: "boolean", default: false },
      },
    })
  } catch (fault) {
    if (fault instanceof TypeError) return fault.message
    throw fault
  }
}

async function compare({ ref, bench, json, ...sizes }: Options, signal: AbortSignal): Promise<void> {
  const commit = commitOf(ROOT, ref)
  const machine = thisMachine()
  await using theirs = await worktreeOf(ROOT, commit, signal)
  await buildLists(ROOT, signal)
  const { description, measured } = await COMPARISONS[bench].run({
    ...sizes,
    ours: { path: ROOT },
    theirs,
    warmupS: WARMUP_S,
    signal,
  })
  const rows = measured.map(compared)
  const names = ["this tree", `${ref} (${commit})`] as const
  if (json) console.log(JSON.stringify({ machine, ref, commit, description, compared: rows }, null, 2))
  else {
    const table = rows.length === 0 ? [] : ["", comparedText(names, rows)]
    console.log([machineText(machine), "", ...description, ...table].join("\n"))
  }
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === "string") {
    console.error(`${options}\n\n${USAGE}`)
    return 2
  }
  const interruption = new AbortController()
  // What is under way ends, and everything that was started or written for it is disposed of on the way out.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interruption.abort())
  try {
    await compare(options, interruption.signal)
    return 0
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault
    console.error(interruption.signal.aborted ? "interrupted" : fault.message)
    if (interruption.signal.aborted) return 130
    return fault instanceof UnknownRef ? 2 : 1
  }
}

process.exitCode = await main(Bun.argv.slice(2))
