import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { answers, FAULTS, type FaultReply, faultServer } from "../../client/fault-server.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

const DOMAINS = ["gmail.com", "stripe.com", "mailinator.com", "mit.edu", "a..b", "northwind-paper.com"]
const ADDRESSES = Array.from({ length: 1000 }, (_, n) => `user${n}@${DOMAINS[n % DOMAINS.length]}`)
const CSV = `name,email\n${ADDRESSES.map((address, n) => `"N, ${n}",${address}`).join("\n")}\n`
const NDJSON = [
  ...ADDRESSES.map(email => JSON.stringify({ id: 1, email })),
  '{"domain":"a@stripe.com"}',
  "{",
  '"https://mit.edu/x"',
].join("\n")

/** Runs `mailkind classify` over a file of its own directory. */
function classifying(key: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-classify-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ key, "in.csv": CSV, "in.ndjson": NDJSON }))
    writeFileSync(join(directory, name), text)
  const environment = {
    PATH: process.env["PATH"],
    HOME: directory,
    MAILKIND_DATA_DIR: directory,
    MAILKIND_DNS_SERVERS: "off",
  }
  return {
    run: (...args: readonly string[]) =>
      startProgram([...PROGRAM, "classify", ...args], directory, environment).ended(),
    read: (name: string) => readFileSync(join(directory, name), "utf8"),
  }
}

test("classify --server writes the very bytes of the program's own run, in order", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const { run, read } = classifying(server.firstKey)
  for (const name of ["in.csv", "in.ndjson"]) {
    expect((await run(name, "--out", `here-${name}`)).code).toBe(0)
    expect(await run(name, "--out", `there-${name}`, "--server", server.url, "--key-file", "key")).toMatchObject({
      code: 0,
    })
    // Whether a verdict was cached differs.
    const comparable = (file: string) => read(file).replaceAll(/"cached":(?:true|false)/g, "")
    expect(comparable(`there-${name}`)).toBe(comparable(`here-${name}`))
  }
})

test("classify --server stops at a used-up quota with whole results, and --resume goes on where it has stopped", async () => {
  let left = 3
  const quota: FaultReply = (request, response, body) =>
    (left-- > 0 ? answers : FAULTS["a quota of three hours"].reply)(request, response, body)
  const { url } = await faultServer(quota)
  const { run, read } = classifying(`svc_live_${"0".repeat(38)}`)
  const asked = ["in.csv", "--out", "out.csv", "--server", url, "--key-file", "key"]
  const stopped = await run(...asked)
  expect(stopped).toMatchObject({
    code: 1,
    err: expect.stringMatching(/quota_exceeded.*Try again after 10984 seconds.*--resume/),
  })
  const kept = read("out.csv")
  expect([kept.endsWith("\n"), kept.split("\n").length > 100]).toEqual([true, true])
  left = 1000
  expect((await run(...asked, "--resume")).code).toBe(0)
  const whole = read("out.csv")
  expect([whole.startsWith(kept), whole.trim().split("\n").length]).toEqual([true, 1001])
})

test("classify --server refuses --offline, and writes nothing when no server answers or the key is wrong", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const { run } = classifying(`svc_live_${"0".repeat(38)}`)
  expect(await run("in.csv", "--offline", "--server", server.url)).toMatchObject({ code: 2, out: "" })
  const refused = await run("in.csv", "--server", server.url, "--key-file", "key")
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("Put a secret key") })
  const dead = await run("in.csv", "--server", "http://127.0.0.1:1", "--key-file", "key")
  expect(dead).toMatchObject({ code: 1, err: expect.stringContaining("No server answers") })
})
