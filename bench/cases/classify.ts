/** How fast does `classify` go through a file, and does its memory stay flat however long the file is? */

import { rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "bun"
import { FILE_FORMATS, type FileFormat } from "../../src/rows/file-format.ts"
import { writeLines, writeMix } from "../mix/files.ts"
import { linesOfKind, MIX_DESCRIPTION, MIX_KINDS, type MixKind } from "../mix/mix.ts"
import { costFigure, lowerHalfMean, spreadFigure } from "../report/processor-time.ts"
import { type Figure, figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { CHECKOUT, emptyDirectory } from "../servers/product.ts"
import { CAN_PIN, type Program, runMeasured } from "../servers/server-process.ts"

/** How much the bench does. A round classifies the mix in each format once, and a text of each kind. */
export type ClassifyScale = {
  readonly rounds: number
  readonly lines: number
  readonly kinds: readonly MixKind[]
  readonly kindLines: number
  /** Lines of the text whose run tells the memory. */
  readonly memoryLines: number
}

/** The scale of a figure that may be told. */
export const CLASSIFY_FULL: ClassifyScale = {
  rounds: 5,
  lines: 500_000,
  kinds: MIX_KINDS,
  kindLines: 100_000,
  memoryLines: 10_000_000,
}

const TOLD_COST = fileURLToPath(import.meta.resolve("../servers/print-cost.ts"))
const TIMEOUT_MS = 600_000
/** What a run took. */
type Run = { readonly ms: number; readonly cpuMs: number }

/** Runs the bench. Rejects when a program fails, or not every line has its result. */
export async function classifyBench(scale: ClassifyScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const fileOf = (format: FileFormat) => join(directory.path, `inputs.${format}`)
  const out = join(directory.path, "results")
  for (const format of FILE_FORMATS) await writeMix(fileOf(format), format, scale.lines)
  const runs = await interleaved(FILE_FORMATS, scale.rounds, async (format): Promise<Run> => {
    const { ms, cpuMs, reply } = await timed(classifying(fileOf(format), out), out)
    expectAll(JSON.parse(reply), scale.lines)
    return { ms, cpuMs }
  })
  const kinds = await kindCosts(scale, directory.path, out)
  await writeMix(fileOf("text"), "text", scale.memoryLines)
  return reportOf(scale, runs, kinds, await longRun(fileOf("text"), out, scale.memoryLines))
}

/** Microseconds of processor time a line of each kind, without the start of the process. */
async function kindCosts(
  { rounds, kinds, kindLines }: ClassifyScale,
  directory: string,
  out: string,
): Promise<Readonly<Partial<Record<MixKind, readonly number[]>>>> {
  const fileOf = (name: string) => join(directory, `${name}.txt`)
  for (const kind of kinds) await writeLines(fileOf(kind), "text", kindLines, linesOfKind(kind))
  await writeMix(fileOf(START), "text", 1)
  const found = await interleaved([START, ...kinds], rounds, async name => {
    const { cpuMs, reply } = await timed(classifying(fileOf(name), out), out)
    expectAll(JSON.parse(reply), name === START ? 1 : kindLines)
    return cpuMs
  })
  const startMs = lowerHalfMean(found[START])
  const costs = kinds.map(kind => [kind, found[kind].map(ms => ((ms - startMs) * 1000) / kindLines)] as const)
  return Object.fromEntries(costs)
}

/** The name of the run over one line. */
const START = "start"

const classifying = (input: string, out: string): Program["command"] => [
  ...CHECKOUT,
  ...["classify", input, "--offline", "--jobs", "1", "--out", out, "--json"],
]

/** One run, from the start of its process to its end. Its results are removed, so that no disk works on them in the next. */
async function timed(command: Program["command"], out: string) {
  const startedAt = performance.now()
  const { out: reply, cpuMs } = await runMeasured({ command, core: "server" }, TIMEOUT_MS)
  const ms = performance.now() - startedAt
  await rm(out)
  return { ms, cpuMs, reply }
}

/** A run over a long file: how long it took by the clock and of the processor, and the most that it ever had resident. */
type LongRun = { readonly ms: number; readonly cpuMs: number; readonly peakBytes: number }

async function longRun(input: string, out: string, lines: number): Promise<LongRun> {
  const [bun, ...words] = classifying(input, out)
  const { ms, reply } = await timed([bun, "--preload", TOLD_COST, ...words], out)
  const costAt = reply.trimEnd().lastIndexOf("\n") + 1
  expectAll(JSON.parse(reply.slice(0, costAt)), lines)
  const { peakBytes, cpuMs } = JSON.parse(reply.slice(costAt))
  // JSON has no NaN, which is what a system that does not tell gives.
  return { ms, cpuMs, peakBytes: peakBytes ?? Number.NaN }
}

function expectAll({ results }: { readonly results: number }, lines: number): void {
  if (results !== lines) throw new Error(`${lines} lines, but ${results} results`)
}

function reportOf(
  { rounds, lines, kindLines, memoryLines }: ClassifyScale,
  runs: Readonly<Record<FileFormat, readonly Run[]>>,
  kinds: Readonly<Partial<Record<MixKind, readonly number[]>>>,
  { ms, cpuMs, peakBytes }: LongRun,
): Report {
  const costOf = (format: FileFormat) => runs[format].map(run => (run.cpuMs * 1000) / lines)
  const perSecond = (format: FileFormat) => runs[format].map(run => (lines / run.ms) * 1000)
  const figuresOf = (format: FileFormat): Figure[] => [
    costFigure(format, "µs/line", costOf(format), format === "text" ? "classify_lines" : "classify_rows"),
    medianFigure(`${format}, throughput`, "lines/s", perSecond(format)),
  ]
  const spread = spreadFigure("dearest kind ÷ cheapest", kinds, "classify_kinds")
  return {
    bench: "classify",
    description: [
      `classify FILE --offline --jobs 1 --out OTHER, ${lines} lines of the realistic mix`,
      ...MIX_DESCRIPTION,
      "processor time of the process from its start to its end, so its own start is part of it; every round reads the same file and writes a new one",
      `kinds: texts of ${kindLines} lines of one kind each, without the start; forms are at domains that recur`,
      `${rounds} rounds of each, order turned each round; ${CAN_PIN ? "each bound to core 0 (taskset)" : "not bound to cores"}`,
      `memory: the most that the process of one run over ${memoryLines} lines of text ever had resident (VmHWM)`,
      spread.description,
    ],
    figures: [
      ...FILE_FORMATS.flatMap(figuresOf),
      ...Object.entries(kinds).map(([kind, costs]) => costFigure(`kind ${kind}`, "µs/line", costs)),
      spread.figure,
      figure("resident memory", "MB", peakBytes / 1e6, "classify_memory"),
      figure(`text of ${memoryLines} lines`, "lines/s", (memoryLines / ms) * 1000),
      figure(`text of ${memoryLines} lines, CPU`, "µs/line", (cpuMs * 1000) / memoryLines),
    ],
  }
}
