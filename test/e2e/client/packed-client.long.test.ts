import { expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { answers, FAULTS, type FaultReply, faultServer } from "../../client/fault-server.ts"
import { startProgram } from "../../support/program.ts"
import { environment, freshDirectory, packedIn, ROOT, ran, report } from "./packed-package.ts"

setDefaultTimeout(180_000)

const packed = packedIn(freshDirectory())

/** Ways to install the package into a new project and to run it there. The Bun that runs the tests stands for `bun`. */
const PLACES = [
  { name: "Node", program: Bun.which("node"), install: ["npm", "install", "--no-audit", "--no-fund", "--offline"] },
  { name: "Bun", program: process.execPath, install: [process.execPath, "add"] },
] as const

/** Runs cases one after the other and prints, for each, the outcome and how long it took. */
const PROGRAM = `
import { createMailkind } from "mailkind-client"
const [url, what, retries, timeoutMs = "60000"] = process.argv.slice(2)
const tries = []
const watched = (...request) => {
  tries.push(Math.round(performance.now() - began))
  return fetch(...request)
}
const client = createMailkind({ url, key: "svc_live_secret", timeoutMs: Number(timeoutMs), retries: Number(retries), fetch: watched })
let began = performance.now()
let outcome
if (what === "batch") {
  const items = Array.from({ length: 10000 }, (_, n) => "user" + n + "@x" + n + ".com")
  const all = await client.batch(items)
  const isInOrder = all.every((each, n) => each.outcome === "checked" && each.result.email === items[n] && each.index === n)
  outcome = { count: all.length, isInOrder }
} else outcome = await client.checkEmail("jane@stripe.com")
console.log(JSON.stringify({ outcome, ms: Math.round(performance.now() - began), tries, stats: client.stats() }))
`

for (const { name, program, install } of PLACES) {
  const isMissing = program === null
  const place = isMissing ? `${name} (skipped: it is not installed)` : name

  /** A project with the package and nothing else. */
  async function project() {
    const directory = freshDirectory()
    writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
    writeFileSync(join(directory, "program.mjs"), PROGRAM)
    await ran([...install, await packed], directory)
    return async (...args: readonly string[]) =>
      JSON.parse(await ran([program ?? "", "program.mjs", ...args], directory))
  }

  test.skipIf(isMissing)(`the packed client is installed in a new project and fails open: ${place}`, async () => {
    const run = await project()
    const server = await faultServer(answers)
    expect(await run(server.url, "check", "0")).toMatchObject({ outcome: { outcome: "checked" } })
    for (const [fault, { reply, because, isRetried }] of Object.entries(FAULTS)) {
      const faulty = await faultServer(reply)
      const { outcome, ms } = await run(faulty.url, "check", "0")
      expect({ fault, outcome }).toMatchObject({ fault, outcome: { outcome: "unchecked", because } })
      expect(JSON.stringify(outcome)).not.toContain("svc_live_secret")
      const again = await run(faulty.url, "check", "2")
      expect({ fault, outcome: again.outcome }).toMatchObject({ fault, outcome: { because } })
      expect({ fault, isTriedAgain: again.tries.length > 1 }).toEqual({ fault, isTriedAgain: isRetried })
      report(name, fault, because, `${ms} ms`, `with 2 retries: tries after ${again.tries.join(", ")} ms`)
    }
    const dead = await faultServer(answers)
    dead.close()
    const unreached = await run(dead.url, "check", "0")
    expect(unreached).toMatchObject({ outcome: { because: "unreachable" } })
    report(name, "a dead server", "unreachable", `${unreached.ms} ms`)
    const silent = await faultServer(() => undefined)
    const late = await run(silent.url, "check", "0", "4000")
    expect(late).toMatchObject({ outcome: { because: "timeout" } })
    report(name, "a silent server, time-out 4 000 ms", "timeout", `${late.ms} ms`)
  })

  test.skipIf(isMissing)(`the packed client waits for a second if asked, and never for hours: ${place}`, async () => {
    const run = await project()
    const limited = await faultServer(FAULTS["a rate limit of a second"].reply, answers)
    const { outcome, ms } = await run(limited.url, "check", "2")
    expect([outcome.outcome, ms >= 1000, limited.seen.length]).toEqual(["checked", true, 2])
    const quota = await faultServer(FAULTS["a quota of three hours"].reply)
    expect(await run(quota.url, "check", "5")).toMatchObject({ outcome: { because: "quota_exceeded" } })
    expect(quota.seen.length).toBe(1)
  })

  test.skipIf(isMissing)(`10 000 addresses come through a server that fails one request in ten: ${place}`, async () => {
    const run = await project()
    let requests = 0
    const failing: FaultReply = (request, response, body) =>
      (++requests % 10 === 0 ? FAULTS["a server error"].reply : answers)(request, response, body)
    const { outcome, stats, ms } = await run((await faultServer(failing)).url, "batch", "0")
    report(
      name,
      "10 000 items, one request in ten fails",
      `${stats.checked} checked`,
      `${ms} ms`,
      `${stats.retries} retries`,
    )
    expect(outcome).toEqual({ count: 10_000, isInOrder: true })
    expect(stats).toMatchObject({ checked: 10_000, unchecked: 0 })
  })
}

/** What compiles, and by name what must not. */
const RIGHT = `
import { createMailkind, type Category } from "mailkind-client"
const client = createMailkind({ url: "http://127.0.0.1", key: "k" })
const checked = await client.check({ email: "jane@stripe.com", policy: "b2b" })
if (checked.outcome === "checked") {
  const category: Category | (string & {}) = checked.result.category
  console.log(category === "business", checked.result.mail.has_mx)
} else if (checked.problem?.code === "quota_exceeded") console.log(checked.problem.remaining)
for await (const each of client.batch(["a@b.co"])) console.log(each.index, each.outcome)
const page = createMailkind({ url: "http://127.0.0.1", publishableKey: "p" })
`
const WRONG = {
  "a misspelt member": 'await client.check({ emial: "jane@stripe.com" })',
  "a misspelt option": 'createMailkind({ url: "http://127.0.0.1", key: "k", timeout: 1 })',
  "two subjects": 'await client.check({ email: "jane@stripe.com", domain: "stripe.com" })',
  "no subject": 'await client.check({ policy: "b2b" })',
  "a policy that there is not": 'await client.check({ email: "jane@stripe.com", policy: "b2c" })',
  "a result before its outcome": "checked.result.category",
  "a batch with a publishable key": "page.batch([])",
}

for (const resolution of ["nodenext", "bundler"])
  test(`the packed types compile under strict without those of Bun or Node, and refuse mistakes: ${resolution}`, async () => {
    const directory = freshDirectory()
    writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
    await ran([process.execPath, "add", await packed], directory)
    const modules = ["--module", resolution === "bundler" ? "esnext" : resolution, "--moduleResolution", resolution]
    const options = [
      ...["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--types", "", "--lib", "ES2022,DOM"],
      ...["--target", "es2022", "--ignoreConfig"],
    ]
    const compile = async (name: string, text: string) => {
      writeFileSync(join(directory, name), text)
      const command = [join(ROOT, "node_modules/.bin/tsc"), ...options, ...modules, name]
      return startProgram(command, directory, environment(directory)).ended()
    }
    expect(await compile("right.ts", RIGHT)).toMatchObject({ code: 0 })
    const lines = RIGHT.split("\n").length
    for (const [name, text] of Object.entries(WRONG)) {
      const { code, out } = await compile("wrong.ts", `${RIGHT}${text}\n`)
      expect({ name, isRefused: code !== 0, place: out.match(/wrong\.ts\((\d+)/)?.[1] }).toEqual({
        ...{ name, isRefused: true, place: String(lines) },
      })
    }
  })

test("the package holds the module, its types, README and licence, and is small in a page", async () => {
  const directory = freshDirectory()
  writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
  await ran([process.execPath, "add", await packed], directory)
  const folder = join(directory, "node_modules/mailkind-client")
  const names = [...new Bun.Glob("**/*").scanSync(folder)].sort()
  expect(names.filter(name => !name.startsWith("types/"))).toEqual([
    ...["LICENSE", "README.md", "mailkind-client.js", "package.json"],
  ])
  expect(names).toContain("types/mailkind-client.d.ts")
  const unpacked = names.reduce((sum, name) => sum + Bun.file(join(folder, name)).size, 0)
  const built = await Bun.build({ entrypoints: [join(folder, "mailkind-client.js")], minify: true, target: "browser" })
  const minified = await built.outputs[0]?.text()
  const gzipped = Bun.gzipSync(minified ?? "", { level: 9 }).length
  report("packed", `${Bun.file(await packed).size} bytes`)
  report("unpacked", `${unpacked} bytes`, `${names.length} files`)
  report("minified", `${minified?.length} bytes`, `${gzipped} bytes with gzip`)
  expect(gzipped).toBeLessThan(8_000)
})
