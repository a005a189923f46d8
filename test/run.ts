/**
 * `bun test/run.ts [FILE OR FOLDER…] [--long] [--update-timings]` runs the tests in several processes side by side, the slowest
 * files first. It makes once what they share: a directory for temporary files, the executable, and a PostgreSQL server and a
 * browser as far as these are installed. All of them but the executable are removed when it ends, also by Ctrl-C. `--long` runs
 * the files `*.long.test.ts`, which it leaves out otherwise. The files of few failed tests run again, alone. A file that does not end is
 * named and killed, and the others go on. `bun run test FILE` runs tests without it: they start what they need.
 */

import { availableParallelism } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { TEST_EXECUTABLE } from "../bench/servers/product.ts"
import { BROWSER_URL, isBrowserMissing, startBrowser } from "./e2e/browser/browser.ts"
import { buildExecutable } from "./support/executable.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "./support/postgres.ts"
import { makeTemplate, POSTGRES_PORT } from "./support/postgres-databases.ts"
import { RUN_DIRECTORY, runDirectory } from "./support/run-directory.ts"
import { watchFiles } from "./support/running-files.ts"
import { countsIn, filesToRunAgain, type RunCounts } from "./support/second-run.ts"

const TIMINGS = join(import.meta.dir, "timings.json")

/** Many tests wait for processes most of their time: with two test processes more than cores none is idle. */
const PROCESSES = availableParallelism() + 2

/** What the names of files end in that hold tests of minutes. */
const LONG = "long.test"

/** A file that takes less is not told in the timings: these are for what has to start first. */
const TIMING_MS_MIN = 1000

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { long: { type: "boolean", default: false }, "update-timings": { type: "boolean", default: false } },
  })
  const isTiming = values["update-timings"]
  const chosen = values.long && positionals.length === 0 ? [LONG] : positionals
  await using stack = new AsyncDisposableStack()
  const directory = runDirectory()
  stack.defer(directory.remove)
  process.env["TMPDIR"] = directory.path
  const services = { [RUN_DIRECTORY]: directory.path, ...(await startServices(stack)) }
  const timings = join(directory.path, "timings.json")
  await Bun.write(timings, Bun.file(TIMINGS))
  const isInterrupted = passSignals()
  stack.defer(watchFiles(directory.path))
  const run = (words: readonly string[]): Promise<Run> => runTests(words, services, directory.path)
  const first = await run([
    ...[`--parallel=${PROCESSES}`, "--parallel-delay=0", "--no-isolate", "--no-orphans", `--timings=${timings}`],
    ...(isTiming ? ["--update-timings"] : []),
    ...(values.long ? [] : [`--path-ignore-patterns=**/*.${LONG}.ts`]),
    ...chosen,
  ])
  if (isTiming && first.code === 0) await keepTimings(timings)
  return first.code === 0 || isInterrupted() ? first.code : await runFailedAgain(first, run)
}

/** A run of tests: its exit code, and what it has printed and reported. */
type Run = { readonly code: number; readonly counts: RunCounts; readonly report: string }

/**
 * Runs the files of the tests that failed again, one after the other and alone, if they are few. Tests of real servers fail at times on a
 * machine that is busy with the others. Each is told, and one that fails again fails the run.
 */
async function runFailedAgain(first: Run, run: (words: readonly string[]) => Promise<Run>): Promise<number> {
  const files = filesToRunAgain(first.counts, first.report)
  if (files === null) return first.code
  console.log("\nThese tests failed beside others. Their files run again, alone:")
  for (const { file, tests } of files) for (const name of tests) console.log(`  ${file}: ${name}`)
  const second = await run(["--no-orphans", ...files.map(({ file }) => `./${file}`)])
  const { failed, errors } = second.counts
  const stillFailed = second.code === 0 ? 0 : Math.max(1, failed + errors)
  console.log(`\n${stillFailed === 0 ? "All of them pass" : `${stillFailed} of them fail`} alone.\n`)
  console.log(` ${first.counts.passed + first.counts.failed - stillFailed} pass\n ${stillFailed} fail`)
  return second.code
}

/** The tests that run now. */
let running: Bun.Subprocess | null = null

/** Whoever presses Ctrl-C reaches the tests too: what they leave is removed when they have ended. Tells whether somebody has. */
function passSignals(): () => boolean {
  let hasCome = false
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      console.error(`The tests are ended by ${signal}.`)
      hasCome = true
      running?.kill(signal)
    })
  return () => hasCome
}

/** Runs `bun test` with these words, prints all that it prints, and reads its report. */
async function runTests(
  words: readonly string[],
  services: Readonly<Record<string, string>>,
  directory: string,
): Promise<Run> {
  const report = join(directory, "report.xml")
  const options = ["--timeout=300000", "--only-failures", "--reporter=junit", `--reporter-outfile=${report}`]
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {}
  const child = Bun.spawn([process.execPath, "test", ...options, ...words], {
    env: { ...process.env, ...colour, ...services },
    stdio: ["ignore", "pipe", "pipe"],
  })
  running = child
  const texts = [passOn(child.stdout, process.stdout), passOn(child.stderr, process.stderr)]
  await child.exited
  // What a test has left behind may hold the other ends for long.
  await Promise.race([Promise.all(texts.map(({ ended }) => ended)), Bun.sleep(REST_MS)])
  return {
    code: child.exitCode ?? 1,
    counts: countsIn(texts.map(({ text }) => text()).join("\n")),
    report: await Bun.file(report)
      .text()
      .catch(() => ""),
  }
}

/** How long the rest of what tests have printed is read after their end. */
const REST_MS = 2000

/** Passes a stream on, and gives its text so far. */
function passOn(stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream) {
  const decoder = new TextDecoder()
  let text = ""
  const read = async (): Promise<void> => {
    for await (const chunk of stream) {
      to.write(chunk)
      text += decoder.decode(chunk, { stream: true })
    }
  }
  return { ended: read(), text: () => text }
}

/** Starts what is installed, and gives what the tests find it by. */
async function startServices(stack: AsyncDisposableStack): Promise<Readonly<Record<string, string>>> {
  const [executable, database, browser] = await Promise.all([
    buildExecutable(),
    POSTGRES_PROGRAMS === null ? null : startPostgres(),
    isBrowserMissing ? null : startBrowser(),
  ])
  if (database !== null) stack.defer(database.remove)
  if (browser !== null) stack.defer(browser.close)
  if (database !== null) await makeTemplate(database)
  return {
    [TEST_EXECUTABLE]: executable,
    ...(database === null ? {} : { [POSTGRES_PORT]: String(database.port) }),
    ...(browser === null ? {} : { [BROWSER_URL]: browser.url }),
  }
}

/** Writes how long the slow files took, in whole seconds, into the checkout. */
async function keepTimings(path: string): Promise<void> {
  const { version, files }: { version: number; files: Record<string, number> } = await Bun.file(path).json()
  const slow = Object.entries(files)
    .filter(([, ms]) => ms >= TIMING_MS_MIN)
    .map(([file, ms]) => [file, Math.round(ms / 1000) * 1000] as const)
    .toSorted(([a, aMs], [b, bMs]) => bMs - aMs || a.localeCompare(b))
  await Bun.write(TIMINGS, `${JSON.stringify({ version, files: Object.fromEntries(slow) }, null, 2)}\n`)
}

process.exitCode = await main(Bun.argv.slice(2))
