import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"

setDefaultTimeout(60_000)

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
}
const rpc = (method: unknown, params: unknown = {}, version: unknown = "2.0") =>
  JSON.stringify({ jsonrpc: version, id: 1, method, params })
const modern = (method: string, params: object = {}) => ({
  body: rpc(method, { ...params, _meta: META }),
  headers: { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method },
})

type Sent = {
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Record<string, string>
  readonly method?: string
}

/** What is sent, and which statuses are an answer to it. */
const HOSTILE: Readonly<Record<string, Sent & { readonly status: readonly number[]; readonly text: RegExp }>> = {
  "no body": { status: [400], text: /Parse error|not JSON|empty/i },
  "no JSON": { body: "{", status: [400], text: /-32700/ },
  "a text": { body: '"x"', status: [400], text: /-32600|-32700/ },
  "a list of nothing": { body: "[]", status: [400], text: /invalid_input/ },
  "messages in a list": { body: ` [${rpc("ping")},${rpc("ping")}]`, status: [400], text: /one message in a request/ },
  "another version of JSON-RPC": { body: rpc("tools/list", {}, "1.0"), status: [400], text: /-32600/ },
  "a method that is no text": { body: rpc(5), status: [400], text: /-32600/ },
  "a method that there is not": { ...modern("tools/steal"), status: [200, 400, 404], text: /-32601/ },
  "a protocol of another year": {
    body: rpc("tools/list", { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": "1999-01-01" } }),
    headers: { "MCP-Protocol-Version": "1999-01-01" },
    status: [400],
    text: /1999|version/i,
  },
  "deep nesting": { body: '{"a":'.repeat(40_000), status: [400], text: /nested deeper than 64/ },
  "deep nesting that is JSON": {
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
    status: [200, 400],
    text: /error/,
  },
  "a body over the limit": { body: "x".repeat(300_000), status: [413], text: /payload_too_large/ },
  "bytes that are no UTF-8": { body: new Uint8Array([0x7b, 0xff, 0xfe]), status: [400], text: /-32700/ },
  "another media type": {
    body: rpc("tools/list"),
    headers: { "Content-Type": "text/plain" },
    status: [415],
    text: /application\/json/,
  },
  "an answer as a page": { body: rpc("tools/list"), headers: { Accept: "text/html" }, status: [406], text: /Accept/ },
  "a page of another site": {
    body: rpc("tools/list"),
    headers: { Origin: "http://evil.example" },
    status: [403],
    text: /forbidden_origin/,
  },
  "an origin that is null": {
    body: rpc("tools/list"),
    headers: { Origin: "null" },
    status: [403],
    text: /forbidden_origin/,
  },
  "a stream of the older protocol": { method: "GET", status: [405], text: /method_not_allowed/ },
  "the end of a session": { method: "DELETE", status: [405], text: /method_not_allowed/ },
  "a subscription": {
    ...modern("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    status: [200, 400],
    text: /error/,
  },
  "no key": { body: rpc("tools/list"), headers: { Authorization: "" }, status: [401], text: /unauthorized/ },
  "a key in the address alone": {
    body: rpc("tools/list"),
    headers: { Authorization: "" },
    method: "POST",
    status: [401],
    text: /unauthorized/,
  },
}

test("over HTTP each hostile request gets a clear error at once, and the next agent its answer", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const sent = async ({ body, headers = {}, method = "POST" }: Sent) => {
    const standard = {
      Authorization: `Bearer ${server.firstKey}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    }
    const answer = await Bun.fetch(`${server.url}/mcp`, {
      method,
      headers: { ...standard, ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, text: await answer.text(), id: answer.headers.get("x-request-id") }
  }
  for (const [name, { status, text, ...request }] of Object.entries(HOSTILE)) {
    const answer = await sent(request)
    expect({ name, ...answer, isStatus: status.includes(answer.status) }).toMatchObject({
      name,
      isStatus: true,
      text: expect.stringMatching(text),
      id: expect.any(String),
    })
    expect(answer.text).not.toContain(server.firstKey)
  }
  const call = modern("tools/call", { name: "check", arguments: { email: "jane@gmail.com" } })
  const ended = await sent({ ...call, headers: { ...call.headers, "Mcp-Name": "check" } })
  expect(ended).toMatchObject({ status: 200, text: expect.stringContaining("personal") })
  const { log } = await server.stop()
  expect(log).not.toContain("jane")
})

/** Runs `mcp --offline` with this input, which then ends. */
async function overStdio(input: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-agent-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, MAILKIND_DATA_DIR: directory }
  const child = Bun.spawn([...PROGRAM, "mcp", "--offline"], {
    cwd: directory,
    env,
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

test("over stdio garbage is passed over, the request after it is answered, and the end of the input ends the program", async () => {
  const garbage = ["", "hello", "{", "[]", "null", '{"jsonrpc":"1.0"}', "\u0000\u0001", "[".repeat(10_000)]
  const call = rpc("tools/call", { name: "check", arguments: { email: "jane@gmail.com" }, _meta: META })
  const { out, err, code } = await overStdio(`${[...garbage, call].join("\n")}\n`)
  expect(code).toBe(0)
  expect(err).not.toContain("jane")
  const answers = out
    .trim()
    .split("\n")
    .map(line => JSON.parse(line))
  expect(answers.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { category: "personal" } } })
  expect(await overStdio("")).toMatchObject({ out: "", code: 0 })
})

test("over stdio a message without an end is given up at its limit, with a sentence", async () => {
  const { code, out, err } = await overStdio("x".repeat(3_000_000))
  expect([code, out.length < 10_000]).toEqual([1, true])
  expect(err).toContain("longer than 1 MiB")
})
