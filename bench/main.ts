import { join } from "node:path"
import { carriedLists, checkOver } from "../src/assemble.ts"
import { NO_CORRECTIONS } from "../src/check/check.ts"
import { offline } from "../src/check/outside.ts"
import { OWN_FILES, realWorld } from "../src/world.ts"
import { CHECK_FULL, checkBench } from "./check.ts"
import { CUSTOMERS_FULL, customersBench } from "./customers.ts"
import { DNS_FULL, dnsBench } from "./dns.ts"
import { HTTP_FULL, httpBench } from "./http.ts"
import { LISTS_FULL, listsReport } from "./lists-report.ts"
import { machineText, thisMachine } from "./machine.ts"
import { type Report, reportJson, reportText, standing } from "./report.ts"
import { START_FULL, startBench } from "./start.ts"

const BENCHES: Readonly<Record<string, () => Promise<Report>>> = {
  lists: async () => {
    const { files } = realWorld()
    if (files.own("lists.pack") === null) throw new Error("the lists are not built: bun run mailkind lists build")
    return await listsReport(LISTS_FULL, join(files.root, OWN_FILES["lists.pack"]))
  },
  check: async () => {
    const world = realWorld()
    const lists = await carriedLists(world)
    return await checkBench(
      CHECK_FULL,
      checkOver(world, () => lists, offline, NO_CORRECTIONS),
    )
  },
  dns: async () => {
    const world = realWorld()
    return await dnsBench(DNS_FULL, world, await carriedLists(world))
  },
  http: () => httpBench(HTTP_FULL),
  customers: () => customersBench(CUSTOMERS_FULL),
  start: () => startBench(START_FULL),
}

/** `bun run bench [name…] [--json]`. Exit codes: 0 every budget is held, 1 one is crossed, 2 wrong use. */
async function main(args: readonly string[]): Promise<number> {
  const asJson = args.includes("--json")
  const asked = args.filter(arg => arg !== "--json")
  const wrong = asked.filter(name => !Object.hasOwn(BENCHES, name))
  if (wrong.length > 0) {
    console.error(`there is no bench ${wrong.join(", ")}; benches: ${Object.keys(BENCHES).join(", ")}`)
    return 2
  }
  const machine = thisMachine()
  const reports: Report[] = []
  if (!asJson) console.log(machineText(machine))
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    const report = await bench()
    reports.push(report)
    if (!asJson) console.log(`\n${reportText(report)}`)
  }
  if (asJson) console.log(JSON.stringify({ machine, reports: reports.map(reportJson) }, null, 2))
  const isCrossed = reports.some(({ figures }) => figures.some(one => standing(one) === "crossed"))
  return isCrossed ? 1 : 0
}

process.exitCode = await main(Bun.argv.slice(2))
