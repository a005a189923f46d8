import { expect, test } from "bun:test"
import { join } from "node:path"
import { CLASSIFY_FULL, classifyBench } from "../../bench/cases/classify.ts"
import { writeMix } from "../../bench/mix/files.ts"
import { CHECKOUT, emptyDirectory } from "../../bench/servers/product.ts"
import { runToEnd } from "../../bench/servers/server-process.ts"
import { FILE_FORMATS } from "../../src/rows/result-format.ts"

const LIMIT_MS = 120_000
const LINES = 5_000
const FLOOR = join(import.meta.dir, "../../bench/servers/baseline-classify.ts")
const TOLD_COST = join(import.meta.dir, "../../bench/servers/print-cost.ts")

test(
  "the floor writes a line of the wanted length for each line that it reads",
  async () => {
    await using directory = await emptyDirectory()
    const [input, output] = [join(directory.path, "inputs"), join(directory.path, "results")]
    await writeMix(input, "text", LINES)
    await runToEnd({ command: [process.execPath, FLOOR, input, output, "80"] }, "", LIMIT_MS)
    const text = await Bun.file(output).text()
    expect(text).toHaveLength(LINES * 80)
    expect(new Set(text.trimEnd().split("\n")).size).toBe(1)
    expect(Object.keys(JSON.parse(text.slice(0, 80)))).toEqual(["filler"])
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
  "the classify bench runs each format and its floor in turn, and tells speed, memory and what a floor keeps",
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
      expect(report.figures.find(({ name }) => name === `${format} floor ÷ ${format}`)?.value).toBeLessThan(1)
    }
    expect(report.description.join()).toContain("own start")
    expect(CLASSIFY_FULL.memoryLines).toBe(10_000_000)
  },
  LIMIT_MS,
)
