/**
 * `bun test/run.ts [FILE OR FOLDER…] [--long] [--update-timings]` runs the tests in several processes side by side, the slowest
 * files first. It makes once what they share: a directory for temporary files, the executable, and a PostgreSQL server and a
 * browser as far as these are installed. All of them but the executable are removed when it ends, also by Ctrl-C. `--long` runs
 * the files `*.long.test.ts`, which it leaves out otherwise. A file that does not end is named and killed, and the others go on.
 * `bun run test FILE` runs tests without it: they start what they need.
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
  passSignals()
  const endWatch = watchFiles(directory.path)
  stack.defer(endWatch)
  const code = await runTests(
    [
      ...["--timeout=300000", "--only-failures", `--parallel=${PROCESSES}`, "--parallel-delay=0"],
      ...["--no-isolate", "--no-orphans", `--timings=${timings}`],
      ...(isTiming ? ["--update-timings"] : []),
      ...(values.long ? [] : [`--path-ignore-patterns=**/*.${LONG}.ts`]),
      ...chosen,
    ],
    services,
  )
  if (isTiming && code === 0) await keepTimings(timings)
  return code
}

/** The tests that run now. */
let running: Bun.Subprocess | null = null

/** Whoever presses Ctrl-C reaches the tests too: what they leave is removed when they have ended. */
function passSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      console.error(`The tests are ended by ${signal}.`)
      running?.kill(signal)
    })
}

/** Runs `bun test` with these words, and gives its exit code. */
async function runTests(words: readonly string[], services: Readonly<Record<string, string>>): Promise<number> {
  running = Bun.spawn([process.execPath, "test", ...words], {
    env: { ...process.env, ...services },
    stdio: ["ignore", "inherit", "inherit"],
  })
  return await running.exited
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
