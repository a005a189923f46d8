import { expect, test } from "bun:test"
import { join } from "node:path"
import { batchBench } from "../../bench/cases/batch.ts"
import { CLASSIFY_FULL, classifyBench } from "../../bench/cases/classify.ts"
import { dnsBench } from "../../bench/cases/dns.ts"
import { dnsFloorBench } from "../../bench/cases/dns-floor.ts"
import { httpBench } from "../../bench/cases/http.ts"
import { jobsBench } from "../../bench/cases/jobs.ts"
import { nodesBench } from "../../bench/cases/nodes.ts"
import { peersBench } from "../../bench/cases/peers.ts"
import { startBench } from "../../bench/cases/start.ts"
import { PEER_NAMES, PEER_PATHS, PEERS } from "../../bench/servers/peers.ts"
import { CHECKOUT, PRODUCT } from "../../bench/servers/product.ts"
import { runToEnd } from "../../bench/servers/server-process.ts"
import { FILE_FORMATS } from "../../src/rows/file-format.ts"
import { createSystem } from "../../src/system/system.ts"
import { MISSING_BALANCER } from "../e2e/nodes/balancer.ts"
import { lists } from "../support/app.ts"
import { PGBOUNCER } from "../support/pgbouncer.ts"
import { POSTGRES_PROGRAMS } from "../support/postgres.ts"
import { expectSane } from "./sane-report.ts"

const LIMIT_MS = 300_000

const LINES = 5_000
const TOLD_COST = join(import.meta.dir, "../../bench/servers/print-cost.ts")

test(
  "the DNS bench checks names cold, warm and while the server is dead, and fills a cache",
  async () => {
    const scale = { rounds: 2, names: 20, atOnce: 4, warmChecks: 50, deadChecks: 20, cacheNames: 200 }
    const report = await dnsBench(scale, createSystem(), lists)
    const budgets = [
      "dns_cache_entries",
      "dns_cache_memory",
      "dns_cold",
      "dns_cold_cost",
      "dns_dead",
      "dns_denied",
      "dns_first_dead",
      "dns_kinds",
      "dns_list_questions",
      "dns_own_hosts",
      "dns_recovery",
    ]
    expectSane(report, [...budgets, "dns_warm"])
    const questions = report.figures.find(({ name }) => name === "cold, questions a check")?.value
    // A machine that is busy otherwise is late to answer, and is asked again.
    expect([questions, Math.floor(questions ?? 0)]).toEqual([questions, 4])
    const ofOwnHosts = report.figures.find(({ name }) => name === "own hosts, questions a check")?.value
    expect([ofOwnHosts, Math.floor(ofOwnHosts ?? 0)]).toEqual([ofOwnHosts, 5])
  },
  LIMIT_MS,
)

test(
  "the bench of the DNS floor measures the floor, questions and checks in turn",
  async () => {
    const report = await dnsFloorBench({ rounds: 2, names: 20 }, createSystem(), lists)
    expectSane(report, [])
  },
  LIMIT_MS,
)

test(
  "the HTTP bench loads product and floor in turn, and the product in every way that a check is asked for",
  async () => {
    const scale = { connections: 4, rounds: 2, roundS: 0.6, warmupS: 0.1, ownListEntries: 20 }
    const report = await httpBench(scale, PRODUCT.source)
    expectSane(report, ["http", "http_half_load", "http_half_load_floor", "http_kinds", "http_p99", "http_variants"])
    expect(report.description[0]).toContain("personal")
    expect(report.figures[0]?.rounds).toHaveLength(2)
  },
  LIMIT_MS,
)

test(
  "the batch bench loads batches of each kind, single checks and a floor in turn",
  async () => {
    const report = await batchBench({ connections: 2, rounds: 1, roundS: 0.5, warmupS: 0.1, ownListEntries: 20 })
    expectSane(report, ["batch_floor", "batch_gzip", "batch_kinds", "batch_role", "batch_single"])
    expect(report.description[0]).toContain("100 items")
  },
  LIMIT_MS,
)

test(
  "the start bench starts the server in an empty and in a warm directory, tells what it holds and what its first checks cost, and what is not built",
  async () => {
    const scale = { rounds: 1, idleRounds: 1, idleS: 0.2, checks: 200 }
    const report = await startBench(scale, { source: PRODUCT.source, executable: null })
    expectSane(report, ["start", "start_checks", "start_memory"])
    expect(report.figures.map(({ name }) => name)).toEqual([
      "source, empty directory",
      "source, warm directory",
      "source, idle, resident",
      "source, idle, private",
      "source, until the first check",
      "source, first 200 checks",
    ])
    expect(report.description.join()).toContain("executable: not built")
  },
  LIMIT_MS,
)

test.if(process.platform === "linux")(
  "what a program took is told at its end, whatever its parent holds",
  async () => {
    const [bun, main] = CHECKOUT
    const heldBytes = new Uint8Array(500_000_000).fill(1)
    const out = await runToEnd({ command: [bun, "--preload", TOLD_COST, main, "version"] }, "", LIMIT_MS)
    const { peakBytes, cpuMs } = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "")
    expect(peakBytes).toBeGreaterThan(10_000_000)
    expect(peakBytes).toBeLessThan(heldBytes.length)
    expect(cpuMs).toBeGreaterThan(0)
  },
  LIMIT_MS,
)

test(
  "the classify bench runs each format in turn, and tells speed and memory",
  async () => {
    const report = await classifyBench({
      rounds: 2,
      lines: LINES,
      kinds: ["role", "unknown"],
      kindLines: LINES,
      memoryLines: 2 * LINES,
    })
    // A short text of a kind may cost no more than the start of a process, which is not counted.
    const measured = report.figures.filter(({ name }) => !name.includes("kind"))
    for (const { name, value } of measured) expect([name, value > 0]).toEqual([name, true])
    expect(report.figures.flatMap(({ budget }) => budget ?? []).join(" ")).toBe(
      "classify_lines classify_rows classify_rows classify_kinds classify_memory",
    )
    for (const format of FILE_FORMATS) {
      expect(report.figures.find(({ name }) => name === format)?.rounds).toHaveLength(2)
    }
    expect(report.description.join()).toContain("own start")
    expect(CLASSIFY_FULL.memoryLines).toBe(10_000_000)
  },
  LIMIT_MS,
)

test(
  "the bench of peers measures the product beside peers that need no package, on each path, and tells which one cannot be had",
  async () => {
    const peers = PEER_NAMES.filter(name => PEERS[name].package === null)
    const scale = { peers, rounds: 1, roundS: 0.5, warmAnswers: 10, coldRate: 50, lines: 500 }
    const report = await peersBench(scale, lists)
    const values = new Map(report.figures.map(({ name, value }) => [name, value]))
    for (const path of PEER_PATHS)
      expect([path, (values.get(`${path}, mailkind: resident`) ?? 0) > 0]).toEqual([path, true])
    for (const name of peers.flatMap(name => PEERS[name].paths.map(path => `${path}, ${name}: resident`)))
      expect([name, (values.get(name) ?? 0) > 0 || report.description.join().includes("left out: node")]).toEqual([
        name,
        true,
      ])
    // A check asks four. On a busy machine some are asked again, and those of the first answers may have been asked before the count began.
    expect(values.get("cold, mailkind: questions")).toBeGreaterThan(3)
    expect(values.get("cached, mailkind: questions")).toBeLessThan(1)
  },
  LIMIT_MS,
)

test(
  "the bench of lists has one checked by a server and by classify with equal results, and tells its rate, its memory and what live requests notice",
  async () => {
    const scale = { rounds: 1, rows: 4000, domains: 1200, quietMs: 200, lists: 3, listRows: 60_000 }
    const report = await jobsBench({ ...scale, liveRounds: 1, liveS: 1, liveRate: 100 })
    const budgets = report.figures.flatMap(({ budget }) => budget ?? [])
    expect(budgets.toSorted()).toEqual(["jobs_live", "jobs_live", "jobs_memory", "jobs_rows"])
    const values = new Map(report.figures.map(({ name, value }) => [name, value]))
    // How often a question is asked again depends on the machine.
    const told = ["server", "classify", "server, questions", "classify, questions"]
    for (const name of [...told, "live p99 alone, DNS off", "live p99 beside lists, with DNS"])
      expect([name, (values.get(name) ?? 0) > 0]).toEqual([name, true])
  },
  LIMIT_MS,
)

const isMissing = POSTGRES_PROGRAMS === null || PGBOUNCER === null || MISSING_BALANCER !== null

test.skipIf(isMissing)(
  `the bench of nodes loads one node and three behind a balancer and a pooler in turn, and tells what both of those cost${isMissing ? " [postgresql, pgbouncer or haproxy: not installed]" : ""}`,
  async () => {
    const scale = { connections: 2, rounds: 1, roundS: 1, checksRate: 50, batchesRate: 5, warmAnswers: 1 }
    const report = await nodesBench(scale)
    const values = new Map(report.figures.map(({ name, value }) => [name, value]))
    expect([...new Set(report.figures.flatMap(({ budget }) => budget ?? []))]).toEqual(["nodes_cost"])
    for (const kind of ["listed", "cached", "batch"])
      for (const subject of ["alone", "postgres", "nodes"])
        expect([kind, subject, (values.get(`${kind}, ${subject}`) ?? 0) > 0]).toEqual([kind, subject, true])
  },
  LIMIT_MS,
)
