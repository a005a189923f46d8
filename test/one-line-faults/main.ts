import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ROOT } from "../architecture/source-files.ts"
import { FAULTS, faultyText, type OneLineFault } from "./faults.ts"

/** Tests that take longer have fallen: the fault makes one of them endless. */
const TEST_TIMEOUT_MS = 600_000

// Shows that the tests hold what they promise: applies each fault of the table to a copy of the last commit, and runs its tests there.
const { values } = parseArgs({ options: { only: { type: "string", default: "" } } })
const chosen = FAULTS.filter(({ file, tests, to }) => [file, to, ...tests].some(text => text.includes(values.only)))

const copy = join(mkdtempSync(join(tmpdir(), "mailkind-faults-")), "copy")
const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: ROOT, stdout: "ignore", stderr: "inherit" })
process.once("exit", () => {
  git("worktree", "remove", "--force", copy)
  rmSync(join(copy, ".."), { recursive: true, force: true })
})
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))
if (git("worktree", "add", "--quiet", "--detach", copy, "HEAD").exitCode !== 0) process.exit(2)
symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"))
// A copy, since a fault in the building of lists must not reach those of the checkout.
cpSync(join(ROOT, "data/build"), join(copy, "data/build"), { recursive: true })

/** On SQLite alone, which keeps all promises but those of `customers/store/postgres`. */
const OPTIONS = ["--bail", "--timeout", "300000", "--test-name-pattern", "^(?!.*\\[postgresql)"]

/** Whether one of the tests falls, or they do not end. */
async function fall(tests: readonly string[], timeout: number | null): Promise<boolean> {
  const run = Bun.spawn([process.execPath, "test", ...OPTIONS, ...tests.map(path => `./${path}`)], {
    ...{ cwd: copy, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    ...(timeout !== null && { timeout }),
  })
  const told = await new Response(run.stderr).text()
  const code = await run.exited
  // A path without tests and a fault that does not compile are mistakes of the table.
  if (code !== 0 && run.signalCode === null && !told.includes("(fail) ")) throw new Error(told)
  return code !== 0
}

if (await fall([...new Set(chosen.flatMap(({ tests }) => tests))], null)) {
  console.error("A test falls without a fault.")
  process.exit(2)
}
const passed: OneLineFault[] = []
for (const [at, fault] of chosen.entries()) {
  const path = join(copy, fault.file)
  const text = readFileSync(path, "utf8")
  writeFileSync(path, faultyText(text, fault))
  const hasFallen = await fall(fault.tests, TEST_TIMEOUT_MS)
  writeFileSync(path, text)
  if (!hasFallen) passed.push(fault)
  const { file, from, to, tests } = fault
  console.log(
    `${at + 1}/${chosen.length} ${hasFallen ? "falls" : `PASSES ${tests.join(" ")}`}: ${file}: ${from} => ${to}`,
  )
}
console.log(`${chosen.length} faults, ${passed.length} of them pass their tests.`)
process.exit(chosen.length === 0 || passed.length > 0 ? 1 : 0)
