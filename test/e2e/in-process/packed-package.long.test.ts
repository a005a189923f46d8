import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { IN_PROCESS_EXAMPLE } from "../../../src/http/site/docs/examples.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(300_000)

const BYTES_MAX = 12 * 1_048_576
const ROOT = join(import.meta.dir, "../../..")

async function ran(command: readonly string[], directory: string) {
  const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] }
  const ended = await startProgram(command, directory, environment).ended()
  if (ended.code !== 0) throw new Error(`${command.join(" ")}: ${ended.out}${ended.err}`)
  return ended.out
}

/** Compiles in strict mode, and only without the last line. */
const TYPED = `
import { MailkindError, openMailkind, type CheckResult, type OpenOptions } from "mailkind"
const options: OpenOptions = { dns: "off", block: ["acme.com"] }
await using mailkind = await openMailkind(options)
const result: CheckResult = await mailkind.check({ email: "jane@stripe.com", policy: "strict" })
if (result.category === "business") console.log(result.mail.has_mx)
await mailkind.check({ domain: "x" }).catch((error: unknown) => error instanceof MailkindError && error.code === "closed")
`

/** The runtimes that are there, with their installers. */
const RUNTIMES = [
  { runtime: process.execPath, install: [process.execPath, "add"] },
  ...(Bun.which("node") === null || Bun.which("npm") === null
    ? []
    : [{ runtime: "node", install: ["npm", "install", "--offline", "--no-audit", "--no-fund"] }]),
]

/** The packed file, in a directory that is removed when the test ends. */
async function packed() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-package-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const printed = await ran([process.execPath, join(ROOT, "scripts/packages/in-process.ts"), directory], ROOT)
  return { directory, file: printed.trim() }
}

test("the packed package is small, the same each time, and in a new project runs the example of the guide on Bun and Node.js", async () => {
  const [{ directory, file }, again] = [await packed(), await packed()]
  expect(statSync(file).size).toBeLessThan(BYTES_MAX)
  expect(readFileSync(file).equals(readFileSync(again.file))).toBe(true)
  expect(await Bun.file(join(ROOT, "src/http/site/docs/pages/in-process.md")).text()).toContain(basename(file))
  const offline = IN_PROCESS_EXAMPLE.replace("{ policy", '{ dns: "off", policy')
  expect(offline).not.toBe(IN_PROCESS_EXAMPLE)
  for (const { runtime, install } of RUNTIMES) {
    const project = join(directory, basename(runtime))
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), '{"name":"shop","private":true}')
    await ran([...install, file], project)
    writeFileSync(join(project, "check.mjs"), offline)
    const printed = await ran([runtime, "check.mjs", "jane@gmail.com", "stripe.com", "a@mailinator.com"], project)
    expect(printed.split("\n").map(line => line.split(" ").slice(0, 3).join(" "))).toEqual([
      ...["jane@gmail.com personal review", "stripe.com business review", "a@mailinator.com disposable block", ""],
    ])
    writeFileSync(join(project, "deep.mjs"), 'import "mailkind/mailkind.js"')
    expect(await ran([runtime, "deep.mjs"], project).catch(String)).toMatch(
      /Cannot find module|not defined by "exports"/,
    )
  }
})

test("its types compile under strict with both ways of resolving modules, and refuse a member that is misspelt", async () => {
  const { directory, file } = await packed()
  writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
  await ran([process.execPath, "add", file], directory)
  for (const resolution of ["nodenext", "bundler"]) {
    const modules = ["--module", resolution === "bundler" ? "esnext" : resolution, "--moduleResolution", resolution]
    const strict = ["--strict", "--noEmit", "--target", "esnext", "--types", "", "--ignoreConfig", ...modules]
    const compile = (text: string) => {
      writeFileSync(join(directory, "typed.ts"), text)
      return ran([join(ROOT, "node_modules/.bin/tsc"), ...strict, "typed.ts"], directory)
    }
    await compile(TYPED)
    const misspelt = await compile(`${TYPED}await mailkind.check({ emial: "jane@stripe.com" })\n`).catch(String)
    expect(misspelt).toContain("emial")
  }
})
