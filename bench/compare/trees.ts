import { join } from "node:path"
import { ROUTES } from "../../src/contract/routes.ts"
import { type CheckAnswers, type CheckRound, checkAnswers, checkRound } from "../load/check-rounds.ts"
import { linesOfKind, ORDINARY, take } from "../mix/mix.ts"
import { interleaved } from "../report/rounds.ts"
import { emptyDirectory, KEEPING_MEMORY, productSettings } from "../servers/product.ts"
import { startServer } from "../servers/server-process.ts"
import type { Measured } from "./figures.ts"
import { expectSameVerdicts } from "./verdicts.ts"
import type { Tree } from "./worktree.ts"

/** Both trees, and how they are measured: each round starts each of them anew, one after the other. */
export type Comparison = {
  readonly ours: Pick<Tree, "path">
  readonly theirs: Pick<Tree, "path">
  readonly rounds: number
  readonly connections: number
  readonly roundS: number
  /** Load on a fresh server before its figures count. */
  readonly warmupS: number
  /** Ends the comparison between two measurements. */
  readonly signal: AbortSignal
}

/** What was measured, and what is to be told beside it. */
export type ComparisonResult = { readonly description: readonly string[]; readonly measured: readonly Measured[] }

/** What a comparison can be about. */
export const COMPARISONS = {
  http: { message: "POST /v1/check over HTTP", run: compareHttp },
  check: {
    message: "one check in process, each kind known and new",
    run: comparison => compareBench("check", comparison),
  },
  batch: { message: "an item of a batch, each kind", run: comparison => compareBench("batch", comparison) },
  classify: { message: "a line of a file, each kind", run: comparison => compareBench("classify", comparison) },
  dns: { message: "a cold check, each kind", run: comparison => compareBench("dns", comparison) },
  digest: {
    message: "the verdicts of a million inputs, byte for byte; 1 is the exit code when they differ",
    run: compareDigest,
  },
} as const satisfies Record<
  string,
  { readonly message: string; readonly run: (comparison: Comparison) => Promise<ComparisonResult> }
>

const SIDES = ["ours", "theirs"] as const
/** A fresh process has its own memory layout and compiled code, which differ by chance: rounds within one would agree too well. */
const FRESH = "fresh processes each round, in an order that turns about"

/** What is told of a load on a server. */
const HTTP_FIGURES = [
  { name: "server CPU", unit: "µs/answer", better: "less", isCost: true, of: (round: CheckRound) => round.serverCpuUs },
  {
    name: "throughput",
    unit: "answers/s",
    better: "more",
    isCost: false,
    of: (round: CheckRound) => round.answersPerSecond,
  },
  { name: "p99", unit: "ms", better: "less", isCost: false, of: (round: CheckRound) => round.latencyMs.p99 },
] as const

async function compareHttp(comparison: Comparison): Promise<ComparisonResult> {
  const { rounds, connections, roundS, warmupS, signal } = comparison
  const { ours, theirs } = await interleaved(SIDES, rounds, side => {
    signal.throwIfAborted()
    return httpRound(comparison[side], comparison)
  })
  const isAlike = [...ours, ...theirs].every(({ answers }) => Bun.deepEquals(answers, ours[0]?.answers))
  return {
    description: [
      `POST /v1/check, secret key, ${connections} connections, ${rounds} rounds of ${roundS} s after ${warmupS} s of warm-up`,
      FRESH,
      ...(isAlike ? [] : ["the trees do not answer alike: their answers differ in length or category"]),
    ],
    measured: HTTP_FIGURES.map(({ of, ...figure }) => ({
      ...figure,
      ours: ours.map(({ round }) => of(round)),
      theirs: theirs.map(({ round }) => of(round)),
    })),
  }
}

const ADDRESSES = 200

type HttpRound = { readonly round: CheckRound; readonly answers: CheckAnswers }

async function httpRound(tree: Pick<Tree, "path">, size: Comparison): Promise<HttpRound> {
  await using directory = await emptyDirectory()
  await using server = await startServer({
    command: [process.execPath, join(tree.path, "src", "main.ts"), "serve"],
    environment: { ...(await settingsFor(tree, directory.path)), ...KEEPING_MEMORY },
    core: "server",
  })
  const load = {
    path: ROUTES.postCheck.path,
    bodies: take(linesOfKind(ORDINARY), ADDRESSES).map(email => JSON.stringify({ email })),
    authorization: `Bearer ${await server.key()}`,
  }
  const answers = await checkAnswers(server, load)
  const { connections, roundS: durationS, warmupS } = size
  return { round: await checkRound(server, load, { connections, durationS, warmupS }), answers }
}

/** The product's settings that a tree knows: one of before does not start with others. */
async function settingsFor({ path }: Pick<Tree, "path">, directory: string): Promise<Readonly<Record<string, string>>> {
  const table = await Bun.file(join(path, "src", "config", "settings.ts")).text()
  return Object.fromEntries(Object.entries(productSettings(directory)).filter(([name]) => table.includes(`${name}:`)))
}

/**
 * Runs the bench of each tree over its own product, and compares the processor times that both find: a bench imports the modules of its
 * product, which have other places and names in another tree.
 */
async function compareBench(bench: string, comparison: Comparison): Promise<ComparisonResult> {
  const { rounds, signal } = comparison
  const found = await interleaved(SIDES, rounds, side => {
    signal.throwIfAborted()
    return benchCosts(bench, comparison[side], signal)
  })
  const [first = {}] = found.ours
  const names = Object.keys(first).filter(name => found.theirs.every(figures => figures[name] !== undefined))
  const valuesOf = (side: (typeof SIDES)[number], name: string): readonly number[] =>
    found[side].map(figures => figures[name]?.value ?? Number.NaN)
  return {
    description: [`\`bench ${bench}\` of each tree, ${rounds} rounds`, FRESH],
    measured: names.map(name => ({
      name,
      unit: first[name]?.unit ?? "",
      better: "less",
      isCost: true,
      ours: valuesOf("ours", name),
      theirs: valuesOf("theirs", name),
    })),
  }
}

const DIGEST_INPUTS = 1_000_000

async function compareDigest({ ours, theirs }: Comparison): Promise<ComparisonResult> {
  const mainOf = ({ path }: Pick<Tree, "path">) => join(path, "src", "main.ts")
  const sha256 = await expectSameVerdicts(mainOf(ours), mainOf(theirs), DIGEST_INPUTS)
  return { description: [`both trees judge all ${DIGEST_INPUTS} inputs alike: SHA-256 ${sha256}`], measured: [] }
}

type Cost = { readonly name: string; readonly value: number; readonly unit: string }

/** How many rounds a bench has within one of ours. */
const BENCH_ROUNDS = 3

/** Runs the bench that stands in a tree, which exits with 1 when a budget is crossed, and gives its processor times by name. */
async function benchCosts(
  bench: string,
  tree: Pick<Tree, "path">,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Cost>>> {
  const command = [process.execPath, join("bench", "main.ts"), bench, "--json", "--rounds", String(BENCH_ROUNDS)]
  const child = Bun.spawn(command, { cwd: tree.path, stdin: "ignore", stdout: "pipe", stderr: "pipe", signal })
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) > 1 || !out.startsWith("{"))
    throw new Error(`the bench ${bench} over ${tree.path} failed: ${complaint.trim()}`)
  const { reports }: { reports: { figures: Cost[] }[] } = JSON.parse(out)
  const costs = reports.flatMap(({ figures }) => figures.filter(({ unit }) => unit.startsWith("µs")))
  return Object.fromEntries(costs.map(cost => [cost.name, cost]))
}
