/**
 * How fast does `classify` go through a file, how much of that would a program keep that only splits lines and writes
 * constants, and does its memory stay flat however long the file is?
 */

import { rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "bun"
import { FILE_FORMATS, type FileFormat } from "../../src/cli/classify/result-format.ts"
import { type Figure, figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { CHECKOUT, emptyDirectory } from "../servers/product.ts"
import { CAN_PIN, type Program, runToEnd } from "../servers/server-process.ts"
import { INPUTS_SAY, writeInputs } from "./classify-inputs.ts"

/** How much the bench does. A round classifies a file of each format once. */
export type ClassifyScale = {
  readonly rounds: number
  readonly lines: number
  /** Lines of the text whose run tells the memory. */
  readonly memoryLines: number
}

/** The scale of a figure that may be told. */
export const CLASSIFY_FULL: ClassifyScale = { rounds: 5, lines: 1_000_000, memoryLines: 10_000_000 }

const FLOOR = fileURLToPath(import.meta.resolve("../servers/baseline-classify.ts"))
const TOLD_COST = fileURLToPath(import.meta.resolve("../servers/print-cost.ts"))
const TIMEOUT_MS = 600_000
/** Results are as long in the first lines as in all. */
const TRIED_LINES_MAX = 20_000

const SUBJECTS = FILE_FORMATS.flatMap(format => [format, `${format} floor`] as const)
type Subject = (typeof SUBJECTS)[number]

/** Runs the bench. Rejects when a program fails, or not every line has its result. */
export async function classifyBench(scale: ClassifyScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const fileOf = (format: FileFormat): string => join(directory.path, `inputs.${format}`)
  const out = join(directory.path, "results")
  const bytes = { text: 0, csv: 0, ndjson: 0 }
  for (const format of FILE_FORMATS) {
    bytes[format] = await resultBytes(fileOf(format), format, Math.min(scale.lines, TRIED_LINES_MAX), out)
    await writeInputs(fileOf(format), format, scale.lines)
  }
  const measure = async (subject: Subject): Promise<number> => {
    const format = FILE_FORMATS.find(one => subject.startsWith(one)) ?? "text"
    const command = subject === format ? classifying(fileOf(format), out) : floor(fileOf(format), out, bytes[format])
    const { ms, resultsBytes } = await timed(command, out)
    const missing = scale.lines - resultsBytes / bytes[format]
    if (Math.abs(missing) > scale.lines / 20) throw new Error(`${subject}: not every line has its result`)
    return (scale.lines / ms) * 1000
  }
  const rounds = await interleaved(SUBJECTS, scale.rounds, measure)
  await writeInputs(fileOf("text"), "text", scale.memoryLines)
  return reportOf(scale, rounds, bytes, await longRun(fileOf("text"), out, scale.memoryLines))
}

const classifying = (input: string, out: string): Program["command"] => [
  ...CHECKOUT,
  ...["classify", input, "--offline", "--jobs", "1", "--out", out, "--json"],
]

const floor = (input: string, out: string, bytes: number): Program["command"] => [
  ...([process.execPath, FLOOR] as const),
  ...[input, out, String(Math.round(bytes))],
]

/** The mean length of a result with its line feed, found in the first lines; it needs no other file. */
async function resultBytes(input: string, format: FileFormat, lines: number, out: string): Promise<number> {
  await writeInputs(input, format, lines)
  const { reply, resultsBytes } = await timed(classifying(input, out), out)
  expectAll(JSON.parse(reply), lines)
  return resultsBytes / lines
}

/** One run, from the start of its process to its end. Its results are removed, so that no disk works on them in the next. */
async function timed(command: Program["command"], out: string) {
  const startedAt = performance.now()
  const reply = await runToEnd({ command, core: "server" }, "", TIMEOUT_MS)
  const ms = performance.now() - startedAt
  const resultsBytes = Bun.file(out).size
  await rm(out)
  return { ms, reply, resultsBytes }
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
  { rounds, lines, memoryLines }: ClassifyScale,
  perSecond: Readonly<Record<Subject, readonly number[]>>,
  bytes: Readonly<Record<FileFormat, number>>,
  { ms, cpuMs, peakBytes }: LongRun,
): Report {
  const figuresOf = (format: FileFormat): Figure[] => {
    const floors = perSecond[`${format} floor`]
    return [
      medianFigure(format, "lines/s", perSecond[format], format === "text" ? "classify_lines" : null),
      medianFigure(`${format} floor`, "lines/s", floors),
      medianFigure(`${format} ÷ floor`, "", ratios(perSecond[format], floors)),
    ]
  }
  const lengths = FILE_FORMATS.map(format => `${Math.round(bytes[format])} in ${format}`)
  return {
    bench: "classify",
    description: [
      `classify FILE --offline --out OTHER, ${lines} lines: ${INPUTS_SAY}`,
      "lines a second from the start of the process to its end, so its own start is part of them; every round reads the same file and writes a new one",
      `floor: splits the same lines and writes a constant JSON for each, as long as the mean result: ${lengths.join(", ")} bytes`,
      `${rounds} rounds of each, order turned each round; ${CAN_PIN ? "each bound to core 0 (taskset)" : "not bound to cores"}`,
      `memory: the most that the process of one run over ${memoryLines} lines of text ever had resident (VmHWM)`,
    ],
    figures: [
      ...FILE_FORMATS.flatMap(figuresOf),
      figure("resident memory", "MB", peakBytes / 1e6, "classify_memory"),
      figure(`text of ${memoryLines} lines`, "lines/s", (memoryLines / ms) * 1000),
      figure(`text of ${memoryLines} lines, CPU`, "µs/line", (cpuMs * 1000) / memoryLines),
    ],
  }
}
