import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildInProcess } from "../../../scripts/packages/in-process.ts"
import type { OpenOptions } from "../../../src/in-process/public-types.d.ts"
import { dnsServer } from "../../support/dns-server.ts"
import { identityServer } from "../../support/identity-server.ts"
import { inputShapes } from "../../support/input-shapes.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(300_000)

const ROOT = join(import.meta.dir, "../../..")
const NODE = Bun.which("node")
const directory = mkdtempSync(join(tmpdir(), "mailkind-on-node-"))
onTestEnd(() => rmSync(directory, { recursive: true, force: true }))

beforeAll(async () => {
  await buildInProcess(directory)
  writeFileSync(join(directory, "answers.mjs"), ANSWERS)
})

/** Checks one after the other, with each error as its message, and prints a line for each. Its globals are as they were. */
const ANSWERS = `
import { readFileSync, writeFileSync } from "node:fs"
const owners = [Map, Map.prototype, Set.prototype, Promise, URL, RegExp, Array, globalThis]
const namesOf = () => owners.flatMap(owner => Object.getOwnPropertyNames(owner)).join()
const before = namesOf()
const { openMailkind } = await import(process.argv[2])
const { options, inputs } = JSON.parse(readFileSync(process.argv[3], "utf8"))
const mailkind = await openMailkind(options)
const lines = []
for (const input of inputs) {
  const { request_id, took_ms, ...facts } = await mailkind.check(input).catch(({ message }) => ({ message }))
  lines.push(JSON.stringify(facts))
}
await mailkind.close()
writeFileSync(process.argv[4], lines.join("\\n"))
if (namesOf() !== before) throw new Error("a global was changed")
`

type Program = { readonly runtime: string; readonly module: string }
const SOURCES: Program = { runtime: process.execPath, module: join(ROOT, "src/in-process/open-mailkind.ts") }
const PACKED = join(directory, "mailkind/mailkind.js")
const ON_NODE: Program = { runtime: NODE ?? "", module: PACKED }

/** The answers of a program, which ends by itself: nothing is left open. */
async function answersOf({ runtime, module }: Program, options: OpenOptions, inputs: readonly string[]) {
  const [asked, answered] = [join(directory, "asked.json"), join(directory, "answered.txt")]
  writeFileSync(asked, JSON.stringify({ options, inputs }))
  const ended = await startProgram([runtime, "answers.mjs", module, asked, answered], directory, {}).ended()
  expect(ended).toEqual({ code: 0, out: "", err: "" })
  return readFileSync(answered, "utf8").split("\n")
}

const SAMPLE = join(ROOT, "data/sample/tuned")
const MIXED_DIRECTIONS = [
  "a@paypal\u0632.com",
  "\u05d01.com",
  "1\u05d0.com",
  "\u0628\u064e.com",
  "\u0661\u06f1\u0628.com",
]
/** Every third row of the sample, and random shapes of hosts and addresses in all scripts. */
const INPUTS = [...new Bun.Glob("*.tsv").scanSync(SAMPLE)]
  .sort()
  .flatMap(name => readFileSync(join(SAMPLE, name), "utf8").split("\n"))
  .flatMap((line, at) => (at % 3 === 0 && !line.startsWith("#") ? (line.split("\t")[0] ?? []) : []))
  .concat(MIXED_DIRECTIONS)
  .concat(inputShapes(1000, 46).map(({ input }, at) => input(at)))

const ZONE = {
  "MX granite-acme.com": ["10 mx.granite-acme.com"],
  "TXT granite-acme.com": ["v=spf1 include:_spf.google.com -all"],
  "TXT _dmarc.granite-acme.com": ["v=DMARC1; p=reject"],
  "MX suite-acme.com": ["1 aspmx.l.google.com"],
  "MX null-acme.com": ["0 ."],
  "MX forward-acme.com": ["10 mx1.improvmx.com"],
  "A web-acme.com": ["192.0.2.1"],
  "MX tenant-acme.com": ["0 tenant-acme-com.mail.protection.outlook.com"],
}
const TENANT = {
  tenant: "3f1c9a52-7c1e-4f5b-9d27-5a0f6b8e4c11",
  realm: "Federated",
  authUrl: "https://acme.okta.com/app",
}
const MAIL_INPUTS = [
  ...[
    "jane@granite-acme.com",
    "jane+x@suite-acme.com",
    "null-acme.com",
    "forward-acme.com",
    "web-acme.com",
    "tenant-acme.com",
  ],
  ...[
    "jane@nowhere-acme.com",
    "broken-acme.com",
    "a@mailinator.com",
    "https://granite-acme.com/about",
    "m\u00fcnchen.de",
  ],
]

describe.skipIf(NODE === null)(`the package on Node.js${NODE === null ? " (skipped: node not installed)" : ""}`, () => {
  test("gives by its lists what the sources give, byte for byte, for every kind of input", async () => {
    const options = { dns: "off", block: ["stripe.com", "jane@gmail.com"], allow: ["*.mailinator.com"] } as const
    expect(INPUTS.length).toBeGreaterThan(3500)
    const expected = await answersOf(SOURCES, options, INPUTS)
    expect(await answersOf(ON_NODE, options, INPUTS)).toEqual(expected)
    expect(await answersOf({ ...SOURCES, module: PACKED }, options, INPUTS)).toEqual(expected)
  })

  test("gives by DNS what the sources give: over UDP, over TCP, of a server that fails, of a port where none listens, and with tenants", async () => {
    using server = await dnsServer(ZONE)
    server.fault("TXT granite-acme.com", { udp: "truncated" })
    server.fault("broken-acme.com", "servfail")
    const identity = identityServer({ "tenant-acme.com": TENANT })
    onTestEnd(identity.stop)
    const options = { dnsCanaries: "off", identityUrl: identity.url, dns: [`127.0.0.1:${server.port}`] } as const
    const expected = await answersOf(SOURCES, options, MAIL_INPUTS)
    expect(expected.map(line => JSON.parse(line).category).slice(0, 3)).toEqual(["business", "business", "unknown"])
    expect(expected.some(line => line.includes(TENANT.tenant))).toBe(true)
    const heardBefore = server.heard.length
    expect(await answersOf(ON_NODE, options, MAIL_INPUTS)).toEqual(expected)
    expect(new Set(server.heard.slice(heardBefore).map(({ way }) => way))).toEqual(new Set(["udp", "tcp"]))

    await server.pause()
    expect(await answersOf(ON_NODE, options, MAIL_INPUTS.slice(0, 2))).toEqual(
      await answersOf(SOURCES, options, MAIL_INPUTS.slice(0, 2)),
    )
  })
})
