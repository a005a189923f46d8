import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openapiDocument } from "../../../src/http/openapi/openapi-document.ts"
import { testApp } from "../../support/app.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback, type Sent } from "../../support/loopback.ts"
import { EXPECTED_LINE, GENERATORS, type Generator, LINTERS, TOOLS } from "./generators.ts"

/** The packages come from the npm registry, which takes a minute or two. */
setDefaultTimeout(600_000)

const harness = await testApp()
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answerLater })
/** Each request comes a second later, since callers without a key have few a second. */
async function answerLater(request: Request): Promise<Response> {
  await harness.time.tick(1000)
  return await harness.app(request)
}

const baseUrl = `http://127.0.0.1:${server.port}`
const directory = mkdtempSync(join(tmpdir(), "mailkind-generators-"))
const document = openapiDocument(baseUrl, "mailkind.test")
afterAll(async () => {
  await server.stop(true)
  rmSync(directory, { recursive: true, force: true })
})

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(directory, name)), { recursive: true })
  writeFileSync(join(directory, name), text)
}

const withBaseUrl = (text: string): string => text.replaceAll("BASE_URL", JSON.stringify(baseUrl))

/** Runs a program in the directory to its end. */
async function run(command: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const child = Bun.spawn([...command], { cwd: directory, stdout: "pipe", stderr: "pipe", env: quietEnvironment() })
  const texts = [child.stdout, child.stderr].map(stream => new Response(stream).text())
  const [[out = "", err = ""], code] = await Promise.all([Promise.all(texts), child.exited])
  return { code, out: code === 0 ? out : `${out}${err}` }
}

const quietEnvironment = () => ({ ...process.env, NO_COLOR: "1", CI: "1", NO_UPDATE_NOTIFIER: "1" })

/** A program of an installed package. Others' programs are for Node. */
const installed = ([path, ...args]: readonly [string, ...string[]]): readonly string[] => [
  "node",
  `node_modules/${path}`,
  ...args,
]

const all: readonly Omit<Generator, "program">[] = [...Object.values(GENERATORS), ...Object.values(LINTERS)]
write("openapi.json", JSON.stringify(document, null, 2))
for (const { files = {} } of all) for (const [name, text] of Object.entries(files)) write(name, withBaseUrl(text))
for (const [name, { program }] of Object.entries(GENERATORS)) {
  mkdirSync(join(directory, "out", name), { recursive: true })
  write(`${name}.ts`, withBaseUrl(program))
}
const dependencies = Object.assign({ ...TOOLS }, ...all.map(({ packages }) => packages))
write("package.json", JSON.stringify({ private: true, type: "module", dependencies }))
write(
  "tsconfig.json",
  JSON.stringify({
    compilerOptions: {
      ...{ strict: true, noEmit: true, target: "es2022", module: "preserve", moduleResolution: "bundler" },
      ...{ skipLibCheck: true, lib: ["es2022", "dom", "dom.iterable"], types: [] },
    },
    include: Object.keys(GENERATORS).map(name => `${name}.ts`),
  }),
)
const installation = await run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts"])
if (installation.code !== 0) throw new Error(`The generators were not installed: ${installation.out}`)
const generated = new Map<string, Awaited<ReturnType<typeof run>>>()
for (const [name, { command }] of Object.entries(GENERATORS)) generated.set(name, await run(installed(command)))
const compiled = await run(installed(["typescript/bin/tsc", "-p", "."]))

describe.each(Object.entries(GENERATORS))("%s", (name, { program }) => {
  test("generates from the document", () => {
    expect(generated.get(name)).toMatchObject({ code: 0 })
  })

  test("its client and the quick start's call compile under strict, and a misspelt member does not", () => {
    expect(compiled.out.split("\n").filter(line => line.includes(name))).toEqual([])
  })

  test("the call runs, and a result with an added member and reason is valid", async () => {
    const lines = program.includes(".parse(") ? [EXPECTED_LINE, "business"] : [EXPECTED_LINE]
    expect((await run([process.execPath, `${name}.ts`])).out.trim().split("\n")).toEqual(lines)
  })
})

test("everything compiles", () => {
  expect(compiled).toEqual({ code: 0, out: "" })
})

test.each(Object.entries(LINTERS))("%s finds no error and no warning", async (name, { command }) => {
  const { code, out } = await run(installed(command))
  expect([name, code, out]).toEqual([name, 0, expect.not.stringMatching(/[1-9]\d* (?:problem|warning|error)/)])
  if (name === "redocly") expect(JSON.parse(out).totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
})

test("a Postman collection of the document sends a body with exactly one subject", async () => {
  const { code } = await run(
    installed(["openapi-to-postmanv2/bin/openapi2postmanv2.js", "-s", "openapi.json", "-o", "postman.json"]),
  )
  expect(code).toBe(0)
  const text = readFileSync(join(directory, "postman.json"), "utf8")
  const bodies = [...text.matchAll(/"raw":"((?:[^"\\]|\\.)*)"/g)].map(([, raw = ""]) => String(JSON.parse(`"${raw}"`)))
  const checks = bodies.filter(body => /"(?:deep|comment)"/.test(body))
  expect(checks.length).toBeGreaterThan(1)
  for (const body of checks) expect([body, body.match(/"(?:email|domain|url)":/g)?.length]).toEqual([body, 1])
})

const INPUTS = [
  "jane@gmail.com",
  "jane@mailinator.com",
  "a b",
  "co.uk",
  "paypa1.com",
  "info@stripe.com",
  "https://www.mit.edu/x",
]
const KINDS = ["email", "domain", "url"] as const

/** A request that fits the document: the numbers choose. */
function request(round: number): readonly [string, Sent] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(round / 7) % values.length] as T // the list is not empty
  const headers = { Authorization: `Bearer ${harness.key}`, "Content-Type": "application/json" }
  const [kind, policy] = [pick(KINDS), pick(["b2b", "strict", "lenient"])]
  const post = (path: string, body: unknown): readonly [string, Sent] => [
    path,
    { method: "POST", headers, body: JSON.stringify(body) },
  ]
  const input = INPUTS[round % INPUTS.length] ?? ""
  switch (round % 7) {
    case 0:
      return [`/v1/check?${kind}=${encodeURIComponent(input)}&policy=${policy}`, { headers }]
    case 1:
    case 2:
      return post("/v1/check", { [kind]: input, policy, workspace: round % 2 === 0 })
    case 3:
      return post("/v1/check/batch", { items: INPUTS.slice(round % 5), policy })
    case 4:
      return ["/v1/usage", { headers }]
    case 5:
      return ["/v1/health", {}]
    default:
      return post("/v1/check", { email: `${pick(["disposable", "error-429", "error-500", "degraded"])}@mailkind.test` })
  }
}

/** Waits for the proxy's line, and reads on: it ends when nobody takes what it prints. */
async function listening(output: AsyncIterable<Uint8Array>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const read = async () => {
    for await (const chunk of output) if (new TextDecoder().decode(chunk).includes("is listening")) resolve()
    reject(new Error("the proxy ended"))
  }
  read().catch(reject)
  await promise
}

test("a validating proxy finds nothing in 500 requests and their answers", async () => {
  const port = await freePort()
  const proxy = Bun.spawn(
    [...installed(["@stoplight/prism-cli/dist/index.js", "proxy", "openapi.json", baseUrl, "-p", String(port)])],
    { cwd: directory, stdout: "pipe", stderr: "inherit", env: quietEnvironment() },
  )
  try {
    await listening(proxy.stdout)
    const statuses = new Set<number>()
    for (let round = 0; round < 500; round++) {
      const [path, init] = request(round)
      const { status, headers } = await askLoopback(`http://127.0.0.1:${port}${path}`, init)
      statuses.add(status)
      expect([path, init.body, headers["sl-violations"]]).toEqual([path, init.body, undefined])
    }
    expect([...statuses].sort()).toEqual([200, 429, 500])
  } finally {
    proxy.kill("SIGKILL")
  }
})

test("a validator that knows the document accepts an added member and an added reason in every answer of JSON", async () => {
  write(
    "validate.mjs",
    `import Ajv from "ajv/dist/2020.js"
     import addFormats from "ajv-formats"
     import { readFileSync } from "node:fs"
     const document = JSON.parse(readFileSync("openapi.json", "utf8"))
     const ajv = new Ajv({ strict: false })
     addFormats(ajv)
     ajv.addSchema(document, "api")
     for (const [path, methods] of Object.entries(document.paths))
       for (const [method, { responses }] of Object.entries(methods))
         for (const [status, { content = {} }] of Object.entries(responses))
           // Results of lists are files, and what is deleted has no answer.
           for (const [type, { examples }] of Object.entries(content).filter(([type]) => type.includes("json") && !type.includes("ndjson"))) {
             const pointer = ["paths", path, method, "responses", status, "content", type, "schema"]
             const at = pointer.map(part => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")
             const validate = ajv.compile({ $ref: "api#/" + at })
             for (const example of Object.values(examples)) {
               const value = example.value ?? document.components.examples[example.$ref.split("/").at(-1)].value
               const added = { ...value, unknown_member: { any: 1 }, ...("reasons" in value ? { reasons: ["new_reason"] } : {}), ...("code" in value ? { code: "new_code" } : {}) }
               for (const one of [value, added]) if (!validate(one)) console.log(path, method, status, JSON.stringify(validate.errors))
             }
           }`,
  )
  expect(await run(["node", "validate.mjs"])).toEqual({ code: 0, out: "" })
})
