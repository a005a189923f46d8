import { expect, test } from "bun:test"
import { join } from "node:path"
import { CLASSIFY_FULL, classifyBench } from "../../bench/cases/classify.ts"
import { CHECKOUT } from "../../bench/servers/product.ts"
import { runToEnd } from "../../bench/servers/server-process.ts"
import { FILE_FORMATS } from "../../src/rows/reading-plan.ts"

const LIMIT_MS = 120_000
const LINES = 5_000
const TOLD_COST = join(import.meta.dir, "../../bench/servers/print-cost.ts")

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
