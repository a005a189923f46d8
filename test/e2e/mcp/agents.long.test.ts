import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { TOOL_NAMES } from "../../../src/mcp/tools.ts"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"

setDefaultTimeout(60_000)

/** Calls of every tool: what comes of each is the same over both transports. */
const CALLS = [
  {
    name: "check",
    input: { email: "jane@gmail.com" },
    text: /"jane@gmail\.com": personal.*recommendation review/,
    value: { category: "personal", policy: "b2b" },
  },
  {
    name: "check",
    input: { domain: "mailinator.com", policy: "strict" },
    text: /disposable.*block/,
    value: { is_disposable: true, policy: "strict" },
  },
  { name: "check", input: { url: "https://stripe.com/about" }, text: /business/, value: { domain: "stripe.com" } },
  { name: "check", input: { email: "jane@" }, text: /invalid/, value: { category: "invalid" } },
  {
    name: "check_batch",
    input: { items: ["jane@gmail.com", "a@b", "mailinator.com"] },
    text: /^0\. .*\n1\. .*invalid.*\n2\. .*disposable/,
    value: {
      results: [
        { index: 0, category: "personal" },
        { index: 1, category: "invalid" },
        { index: 2, category: "disposable" },
      ],
    },
  },
  {
    name: "explain_listing",
    input: { domain: "jane@mailinator.com" },
    text: /^mailinator\.com: disposable by the lists alone/,
    value: { domain: "mailinator.com", entry: "mailinator.com" },
  },
] as const

/** Calls that fail: the model reads why, in the words of the API. */
const FAILING = [
  { name: "check", input: {}, text: /Send one of `email`, `domain` and `url`/ },
  { name: "check", input: { email: "a@b.co", domain: "b.co" }, text: /Send only one of/ },
  { name: "check", input: { emial: "a@b.co" }, text: /additional properties/ },
  { name: "check", input: { email: 5 }, text: /must be string/ },
  { name: "check", input: { email: "a@b.co", policy: "b2c" }, text: /policy/ },
  { name: "check", input: { email: "" }, text: /`email` is empty/ },
  { name: "check_batch", input: { items: [] }, text: /fewer than 1/ },
  { name: "check_batch", input: { items: Array(101).fill("a.com") }, text: /more than 100/ },
  { name: "check_batch", input: { items: "a.com" }, text: /must be array/ },
  { name: "explain_listing", input: { domain: "..." }, text: /not a domain/ },
] as const

/** An agent puts an entry on a list, finds it, and takes it off again. */
async function expectOwnLists(client: Client): Promise<void> {
  const added = await called(client, "own_list_add", {
    list: "block",
    entries: [{ entry: "acme.com" }, { entry: "x" }],
  })
  expect(added).toMatchObject({ isError: false, value: { added: 1, invalid: 1 } })
  expect(added.text).toMatch(/^1 added, 0 on the list already, 1 invalid\.\n- entry 1: /)
  for (const input of [{ list: "block" }, { list: "block", entry: "acme.com" }, { list: "block", limit: 1 }])
    expect((await called(client, "own_list", input)).value).toMatchObject({ entries: [{ entry: "acme.com" }] })
  expect((await called(client, "own_list", { list: "allow" })).value).toMatchObject({ entries: [] })
  expect(await called(client, "own_list", { list: "block", entry: "com" })).toMatchObject({ isError: true })
  const removed = await called(client, "own_list_remove", { list: "block", entries: ["acme.com"] })
  expect(removed).toMatchObject({ text: "1 removed, 0 not on the list, 0 invalid.", value: { removed: 1 } })
}

/** An agent sets the rules of the account, reads them, and replaces them by none. */
async function expectRules(client: Client): Promise<void> {
  const rules = { personal: "block", new_domain: null }
  expect(await called(client, "rules_set", { rules })).toMatchObject({
    ...{ isError: false, text: "The rules of the account:\n- personal: block" },
    value: { rules: { personal: "block", new_domain: null, relay: null } },
  })
  expect((await called(client, "rules", {})).value).toMatchObject({ rules: { personal: "block" } })
  for (const wrong of [{ invalid: "allow" }, { personal: "ask" }])
    expect(await called(client, "rules_set", { rules: wrong })).toMatchObject({ isError: true })
  expect(await called(client, "rules_set", { rules: {} })).toMatchObject({ text: "The account has no rules." })
}

/** What a tool answers: its text, its value, and whether it failed. */
async function called(client: Client, name: string, input: Record<string, unknown>) {
  const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: input })
  const [first] = content
  return { text: first?.type === "text" ? first.text : "", value: structuredContent, isError }
}

async function expectTools(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([...TOOL_NAMES])
  for (const { name, description = "", annotations, outputSchema } of tools) {
    expect(description.length).toBeGreaterThan(40)
    expect(annotations).toMatchObject({
      readOnlyHint: !/_(?:add|remove|set)$/.test(name),
      destructiveHint: /_(?:remove|set)$/.test(name),
    })
    expect(outputSchema?.["type"]).toBe("object")
  }
  for (const { name, input, text, value } of CALLS) {
    const answer = await called(client, name, input)
    expect({ input, ...answer }).toMatchObject({ input, isError: false, text: expect.stringMatching(text), value })
  }
  for (const { name, input, text } of FAILING) {
    const answer = await called(client, name, input)
    expect({ input, ...answer }).toMatchObject({ input, isError: true, text: expect.stringMatching(text) })
  }
  expect(await client.callTool({ name: "none", arguments: {} }).catch(String)).toContain("none")
}

const agent = () => new Client({ name: "tests", version: "1" })

async function overHttp({ url }: ServerProcess, key: string | null): Promise<Client> {
  const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers },
    fetch: Bun.fetch,
  })
  const client = agent()
  onTestEnd(() => client.close())
  await client.connect(transport)
  return client
}

/** Starts `mailkind mcp` as an agent's program does. */
async function overStdio(args: readonly string[], directory: string): Promise<Client> {
  const [command = "", ...first] = PROGRAM
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, MAILKIND_DATA_DIR: directory }
  const client = agent()
  onTestEnd(() => client.close())
  await client.connect(
    new StdioClientTransport({ command, args: [...first, "mcp", ...args], env, cwd: directory, stderr: "ignore" }),
  )
  return client
}

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-agent-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

test("the official client lists and calls every tool over HTTP, and each call costs what the API's costs", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const client = await overHttp(server, server.firstKey)
  await expectTools(client)
  await expectOwnLists(client)
  await expectRules(client)
  const usage = await called(client, "usage", {})
  // Four checks, and a batch of three. Nothing else costs a unit.
  expect(usage).toMatchObject({
    isError: false,
    text: expect.stringMatching(/^Used today: 7 units/),
    value: { today: { checks: 4, batch_items: 3 } },
  })
  expect(await called(client, "check", { email: "error-quota@mailkind.test" })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^quota_exceeded: .*Try again after \d+ seconds/),
  })
  for (const key of [null, `svc_live_${"0".repeat(38)}`])
    expect(await overHttp(server, key).catch(String)).toMatch(/401|Unauthorized/)
})

test("the official client lists and calls every tool over stdio, without a server and without a network", async () => {
  const client = await overStdio(["--offline"], emptyDirectory())
  await expectTools(client)
  expect(await called(client, "usage", {})).toMatchObject({ isError: true, text: expect.stringContaining("--server") })
})

test("over stdio with --server the tools answer from that server, and say so when it is gone", async () => {
  const [server, directory] = [await serverProcess(), emptyDirectory()]
  const keyFile = join(directory, "key")
  writeFileSync(keyFile, `${server.firstKey}\n`)
  const client = await overStdio(["--server", server.url, "--key-file", keyFile], directory)
  expect(await called(client, "check", { email: "jane@gmail.com" })).toMatchObject({ value: { category: "personal" } })
  expect(await called(client, "check_batch", { items: ["jane@gmail.com"] })).toMatchObject({
    value: { results: [{ index: 0 }] },
  })
  expect((await called(client, "usage", {})).text).toMatch(/^Used today: 2 units/)
  await expectOwnLists(client)
  await expectRules(client)
  await server.stop()
  const gone = await called(client, "check", { email: "jane@gmail.com" })
  expect(gone).toMatchObject({
    isError: true,
    text: "unreachable: No server answers at the address of --server. Is it running?",
  })
  expect((await called(client, "explain_listing", { domain: "mailinator.com" })).isError).toBe(false)
})
