import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { IN_PROCESS_EXAMPLE } from "../../../src/http/site/docs/examples.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(300_000)

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

test("the packed package, in a new project, runs the example of the guide, compiles under strict, and gives no other file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-package-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const bun = process.execPath
  await ran([bun, "run", "build:package", "--quiet", "--destination", directory], ROOT)
  const [packed = ""] = [...new Bun.Glob("mailkind-*.tgz").scanSync(directory)]
  writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
  await ran([bun, "add", join(directory, packed)], directory)

  const offline = IN_PROCESS_EXAMPLE.replace("{ policy", '{ dns: "off", policy')
  expect(offline).not.toBe(IN_PROCESS_EXAMPLE)
  writeFileSync(join(directory, "check.ts"), offline)
  const printed = await ran([bun, "check.ts", "jane@gmail.com", "stripe.com", "a@mailinator.com"], directory)
  expect(printed.split("\n").map(line => line.split(" ").slice(0, 3).join(" "))).toEqual([
    ...["jane@gmail.com personal review", "stripe.com business review", "a@mailinator.com disposable block", ""],
  ])

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

  writeFileSync(join(directory, "deep.ts"), 'import "mailkind/src/main.ts"')
  expect(await ran([bun, "deep.ts"], directory).catch(String)).toContain("Cannot find module")
})
