import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { CLASSIFY_FULL, classifyBench } from "../../bench/cases/classify.ts"
import { INPUTS_SAY, writeInputs } from "../../bench/cases/classify-inputs.ts"
import { classifyJobsBench } from "../../bench/cases/classify-jobs.ts"
import { CHECKOUT, emptyDirectory } from "../../bench/servers/product.ts"
import { runToEnd } from "../../bench/servers/server-process.ts"
import { FILE_FORMATS } from "../../src/cli/classify/result-format.ts"

const LIMIT_MS = 120_000
const LINES = 5_000
const FLOOR = join(import.meta.dir, "../../bench/servers/baseline-classify.ts")
const TOLD_COST = join(import.meta.dir, "../../bench/servers/print-cost.ts")

/** The domains of a text of so many lines. */
async function domainsOf(lines: number): Promise<readonly string[]> {
  await using directory = await emptyDirectory()
  const path = join(directory.path, "inputs")
  await writeInputs(path, "text", lines)
  return (await Bun.file(path).text())
    .trimEnd()
    .split("\n")
    .map(line => line.replace(/^.*@/, ""))
}

describe("inputs", () => {
  test("are as many as are asked for, also beyond a page, and the same every time", async () => {
    const domains = await domainsOf(20_000)
    expect(domains).toHaveLength(20_000)
    expect(domains.slice(0, LINES)).toEqual([...(await domainsOf(LINES))])
    expect(await domainsOf(0)).toEqual([""])
  })

  test("are at domains that come again in seven of ten lines, and at some that come once in the others", async () => {
    const domains = await domainsOf(20_000)
    const byDomain = Object.values(Object.groupBy(domains, domain => domain)).map(lines => lines?.length ?? 0)
    const once = byDomain.filter(count => count === 1).length
    expect(once / domains.length).toBeCloseTo(0.3, 1)
    // Ten domains of each kind, and three hundred companies.
    expect(byDomain.length - once).toBe(330)
    expect(INPUTS_SAY).toContain("30 % at domains that come once")
  })

  test("are the same addresses in every format", async () => {
    await using directory = await emptyDirectory()
    const addresses = FILE_FORMATS.map(async format => {
      const path = join(directory.path, format)
      await writeInputs(path, format, 50)
      return (await Bun.file(path).text()).match(/[\w.]+@[\w.-]+/g)
    })
    const [text, csv, ndjson] = await Promise.all(addresses)
    expect(text).toHaveLength(50)
    expect([csv, ndjson]).toEqual([text, text])
  })
})

test(
  "the floor writes a line of the wanted length for each line that it reads",
  async () => {
    await using directory = await emptyDirectory()
    const [input, output] = [join(directory.path, "inputs"), join(directory.path, "results")]
    await writeInputs(input, "text", LINES)
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
    const report = await classifyBench({ rounds: 2, lines: LINES, memoryLines: 2 * LINES })
    for (const { name, value } of report.figures) expect([name, value > 0]).toEqual([name, true])
    expect(report.figures.flatMap(({ budget }) => budget ?? [])).toEqual(["classify_lines", "classify_memory"])
    for (const format of FILE_FORMATS) {
      expect(report.figures.find(({ name }) => name === format)?.rounds).toHaveLength(2)
      expect(report.figures.find(({ name }) => name === `${format} ÷ floor`)?.value).toBeLessThan(1)
    }
    expect(report.description.join()).toContain("own start")
    expect(CLASSIFY_FULL.memoryLines).toBe(10_000_000)
  },
  LIMIT_MS,
)

test(
  "the bench of processes runs one and two over files that are long enough for two, which give the same bytes",
  async () => {
    const report = await classifyJobsBench({ rounds: 1, lines: 50_000 })
    expect(report.figures.map(({ name }) => name)).toContain("csv, one ÷ two")
    for (const { value, rounds } of report.figures) expect([value > 0, rounds.length]).toEqual([true, 1])
  },
  LIMIT_MS,
)
