/**
 * How much sooner is a file classified by two processes than by one? Unlike `bench classify`, the processes are not bound to one
 * core.
 */

import { rm } from "node:fs/promises"
import { join } from "node:path"
import { FILE_FORMATS, type FileFormat } from "../../src/rows/result-format.ts"
import { writeMix } from "../mix/files.ts"
import { medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { CHECKOUT, emptyDirectory } from "../servers/product.ts"
import { runToEnd } from "../servers/server-process.ts"

/** How much the bench does. A round classifies the file of each format once with one process and once with two. */
export type ClassifyJobsScale = { readonly rounds: number; readonly lines: number }

/** The scale of a figure that may be told. */
export const CLASSIFY_JOBS_FULL: ClassifyJobsScale = { rounds: 5, lines: 1_500_000 }

const TIMEOUT_MS = 600_000
const JOBS = ["1", "2"] as const

/** Runs the bench. Rejects when the results of two processes are not those of one. */
export async function classifyJobsBench({ rounds, lines }: ClassifyJobsScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const figures = []
  for (const format of FILE_FORMATS) {
    const input = join(directory.path, `inputs.${format}`)
    await writeMix(input, format, lines)
    const outs = JOBS.map(jobs => join(directory.path, `results-${jobs}`))
    const measure = (jobs: (typeof JOBS)[number]) => classifyMs(input, join(directory.path, `results-${jobs}`), jobs)
    const { 1: one, 2: two } = await interleaved(JOBS, rounds, measure)
    await expectSame(outs)
    figures.push(...figuresOf(format, lines, one, two))
  }
  return {
    bench: "classify-jobs",
    description: [
      `classify FILE --offline --jobs 1 and --jobs 2, ${lines} lines of the realistic mix`,
      "from the start of the process to its end; both give the same bytes",
      `${rounds} rounds of each, order turned each round, on all cores`,
    ],
    figures,
  }
}

/** How long a run takes, its start included. */
async function classifyMs(input: string, out: string, jobs: string): Promise<number> {
  await rm(out, { force: true })
  const startedAt = performance.now()
  await runToEnd(
    { command: [...CHECKOUT, "classify", input, "--offline", "--jobs", jobs, "--out", out] },
    "",
    TIMEOUT_MS,
  )
  return performance.now() - startedAt
}

async function expectSame(files: readonly string[]): Promise<void> {
  const hashes = await Promise.all(
    files.map(async file => {
      const hasher = new Bun.CryptoHasher("sha256")
      for await (const part of Bun.file(file).stream()) hasher.update(part)
      return hasher.digest("hex")
    }),
  )
  if (new Set(hashes).size !== 1) throw new Error("two processes gave other results than one")
}

const figuresOf = (format: FileFormat, lines: number, one: readonly number[], two: readonly number[]) => [
  medianFigure(
    `${format}, one process`,
    "lines/s",
    one.map(ms => (lines / ms) * 1000),
  ),
  medianFigure(
    `${format}, two processes`,
    "lines/s",
    two.map(ms => (lines / ms) * 1000),
  ),
  medianFigure(`${format}, one ÷ two`, "", ratios(one, two)),
]
