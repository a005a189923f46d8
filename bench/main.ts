import { join } from "node:path"
import { parseArgs } from "node:util"
import { bundledLists } from "../src/check/active-lists/lists-in-place.ts"
import { createCheck } from "../src/check/check.ts"
import { LISTS_ALONE } from "../src/check/lists-alone.ts"
import { BUNDLED_FILES, type CheckoutFiles } from "../src/system/files.ts"
import { createSystem } from "../src/system/system.ts"
import { accuracyBench, accuracyMisses, accuracyWitnesses } from "./accuracy/bench.ts"
import { BATCH_FULL, batchBench } from "./cases/batch.ts"
import { CHECK_FULL, checkBench } from "./cases/check.ts"
import { CLASSIFY_FULL, classifyBench } from "./cases/classify.ts"
import { DNS_FULL, dnsBench } from "./cases/dns.ts"
import { DNS_FLOOR_FULL, dnsFloorBench } from "./cases/dns-floor.ts"
import { HTTP_FULL, httpBench } from "./cases/http.ts"
import { JOBS_FULL, jobsBench } from "./cases/jobs.ts"
import { LISTS_FULL, listsReport } from "./cases/lists.ts"
import { NODES_FULL, nodesBench } from "./cases/nodes.ts"
import { PEERS_FULL, peersBench } from "./cases/peers.ts"
import { START_FULL, startBench } from "./cases/start.ts"
import { type Machine, machineText, thisMachine } from "./report/machine.ts"
import { MEASURED_FILE, measuredIn } from "./report/measured.ts"
import { budgetStatus, type Report, reportJson, reportText } from "./report/report.ts"
import { RESULTS_FILE, resultsMarkdown } from "./report/results.ts"

/** What is asked for besides the full scale. */
type Scaling = { readonly rounds?: number; readonly tables?: string }

const BENCHES: Readonly<Record<string, (scaling: Scaling) => Promise<Report>>> = {
  lists: async () => {
    const { files } = createSystem()
    if (files.bundled("lists.pack") === null) throw new Error("the lists are not built: bun run mailkind lists build")
    return await listsReport(LISTS_FULL, join(files.root, BUNDLED_FILES["lists.pack"]))
  },
  check: async scaling => {
    const system = createSystem()
    const lists = await bundledLists(system)
    return await checkBench(
      { ...CHECK_FULL, ...scaling },
      createCheck({ ...system, ...LISTS_ALONE, activeLists: () => lists }),
    )
  },
  dns: async scaling => {
    const system = createSystem()
    return await dnsBench({ ...DNS_FULL, ...scaling }, system, await bundledLists(system))
  },
  "dns-floor": async scaling => {
    const system = createSystem()
    return await dnsFloorBench({ ...DNS_FLOOR_FULL, ...scaling }, system, await bundledLists(system))
  },
  http: scaling => httpBench({ ...HTTP_FULL, ...scaling }),
  batch: scaling => batchBench({ ...BATCH_FULL, ...scaling }),
  classify: scaling => classifyBench({ ...CLASSIFY_FULL, ...scaling }),
  jobs: () => jobsBench(JOBS_FULL),
  nodes: scaling => nodesBench({ ...NODES_FULL, ...scaling }),
  start: () => startBench(START_FULL),
  peers: async scaling => peersBench({ ...PEERS_FULL, ...scaling }, await bundledLists(createSystem())),
  accuracy: ({ tables }) => accuracyBench(ownCheckout(), tables ?? null),
}

function ownCheckout(): CheckoutFiles {
  const { checkout } = createSystem()
  if (checkout === null) throw new Error("there is no checkout")
  return checkout
}

/** Benches that take many minutes, install packages, or need other servers; they run only when they are named. */
const LONG: readonly string[] = ["jobs", "nodes", "peers"]

/**
 * `bun run bench [name…] [--json] [--report] [--rounds N]`: without names all but the long ones; `--report` writes the results file
 * as well; `--rounds` is for check, dns, dns-floor, http, batch, classify, nodes and peers.
 * `accuracy --misses` lists the wrong verdicts instead, `accuracy --witnesses` tells which sources copy from which (`--lists DIR`: with
 * the downloads in the lists folder of a server), and `accuracy --tables DIR` measures by the tables of a folder too. Exit codes: 0 every budget holds, 1 one is crossed, 2 wrong use.
 */
async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args)
  if (typeof parsed === "string") {
    console.error(parsed)
    return 2
  }
  if (!parsed.listsMisses && !parsed.listsWitnesses) return await runBenches(parsed)
  const lines = parsed.listsMisses
    ? await accuracyMisses(ownCheckout())
    : accuracyWitnesses(ownCheckout(), parsed.listsFolder)
  for (const line of lines) console.log(line)
  return 0
}

/** Runs the benches, prints and writes what they measured, and gives the exit code. */
async function runBenches({ names, isJson, isReport, scaling }: BenchArguments): Promise<number> {
  const machine = thisMachine()
  const reports: Report[] = []
  if (!isJson) console.log(machineText(machine))
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (names.length > 0 ? !names.includes(name) : LONG.includes(name)) continue
    const report = await bench(scaling)
    reports.push(report)
    if (!isJson) console.log(`\n${reportText(report)}`)
    // After each bench, so that a run that is broken off keeps what it has measured.
    if (isReport) await writeResults(machine, [report])
  }
  if (!isJson && names.length === 0)
    console.log(
      `\nleft out, since they take many minutes, install packages or need other servers: bun run bench ${LONG.join(" ")}`,
    )
  if (isJson) console.log(JSON.stringify({ machine, reports: reports.map(reportJson) }, null, 2))
  const isCrossed = reports.some(({ figures }) => figures.some(one => budgetStatus(one) === "crossed"))
  return isCrossed ? 1 : 0
}

async function writeResults(machine: Machine, reports: readonly Report[]): Promise<void> {
  const root = join(import.meta.dir, "..")
  const file = Bun.file(join(root, RESULTS_FILE))
  const before = (await file.exists()) ? await file.text() : ""
  const after = resultsMarkdown(before, machine, reports)
  await file.write(after)
  await Bun.write(join(root, MEASURED_FILE), `${JSON.stringify(measuredIn(after), null, 2)}\n`)
}

type BenchArguments = Exclude<ReturnType<typeof parseArguments>, string>

/** The arguments of the command, or a sentence that says what is wrong with them. */
function parseArguments(args: readonly string[]) {
  try {
    const flag = { type: "boolean", default: false } as const
    const options = {
      json: flag,
      lists: { type: "string" },
      misses: flag,
      report: flag,
      rounds: { type: "string" },
      tables: { type: "string" },
      witnesses: flag,
    } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const wrong = positionals.filter(name => !Object.hasOwn(BENCHES, name))
    if (wrong.length > 0) return `there is no bench ${wrong.join(", ")}; benches: ${Object.keys(BENCHES).join(", ")}`
    const misplaced = (["misses", "tables", "witnesses"] as const).find(option => values[option])
    if (misplaced !== undefined && positionals.join() !== "accuracy")
      return `--${misplaced} is for the bench accuracy alone`
    if (values.lists !== undefined && !values.witnesses) return "--lists is for --witnesses alone"
    const rounds = Number(values.rounds ?? 1)
    if (!Number.isInteger(rounds) || rounds < 1) return "--rounds wants a whole number from 1 on"
    const scaling: Scaling = {
      ...(values.rounds === undefined ? {} : { rounds }),
      ...(values.tables === undefined ? {} : { tables: values.tables }),
    }
    return {
      ...{ names: positionals, isJson: values.json, isReport: values.report, scaling },
      ...{ listsMisses: values.misses, listsWitnesses: values.witnesses, listsFolder: values.lists ?? null },
    }
  } catch (fault) {
    if (fault instanceof TypeError) return fault.message
    throw fault
  }
}

process.exitCode = await main(Bun.argv.slice(2))
