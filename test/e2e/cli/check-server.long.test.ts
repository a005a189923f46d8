import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { FAULTS, faultServer, says } from "../../client/fault-server.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

/** Runs `mailkind check` in an empty directory, whose file `key` has this text. */
function checking(key: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-server-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "key"), `${key}\n`)
  const environment = {
    PATH: process.env["PATH"],
    HOME: directory,
    MAILKIND_DATA_DIR: directory,
    MAILKIND_DNS_SERVERS: "off",
  }
  return (...args: readonly string[]) => startProgram([...PROGRAM, "check", ...args], directory, environment).ended()
}

test("check --server prints what the server answers, in the words and the JSON of the program's own check", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const check = checking(server.firstKey)
  const asked = ["--server", server.url, "--key-file", "key"]
  const texts = ["jane@gmail.com", "mailinator.com", "https://stripe.com/x", "not an address"]
  const [here, there] = await Promise.all([check(...texts), check(...texts, ...asked)])
  expect(there).toEqual(here)
  const results = async (...args: readonly string[]) =>
    JSON.parse((await check(...args, "--json")).out).map(
      ({ request_id: _, took_ms: __, cached: ___, ...rest }: Record<string, unknown>) => rest,
    )
  expect(await results(...texts, ...asked)).toEqual(await results(...texts))
  expect(JSON.parse((await check("gmail.com", "--deep", "--json", ...asked)).out)).toMatchObject({
    category: "personal",
  })
  expect((await check("mailinator.com", "--fail-on", "block", ...asked)).code).toBe(3)
  const { body } = await server.ask("GET /v1/usage", { key: server.firstKey })
  expect(body["today"]).toMatchObject({ batch_items: 7, checks: 1 })
})

test("check --server says what is wrong with the key, the address or the server, and what to do", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const wrong = checking(`svc_live_${"0".repeat(38)}`)
  const refused = await wrong("a@gmail.com", "--server", server.url, "--key-file", "key")
  expect(refused).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/invalid_key.*Put a secret key of this server/),
  })
  const none = await wrong("a@gmail.com", "--server", server.url)
  expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/unauthorized.*--key-file/) })
  const publishable = await checking("svc_pub_1234")("a@gmail.com", "--server", server.url, "--key-file", "key")
  expect(publishable).toMatchObject({ code: 2, err: expect.stringContaining("no secret key") })
  for (const [args, err] of [
    [["--server", server.url, "--key-file", "nowhere"], "no file at the path of --key-file"],
    [["--server", server.url, "--key-file", "."], "no file at the path of --key-file"],
    [["--key-file", "key"], "needs --server"],
    [["--server", "gmail.com", "--key-file", "key"], "mailkind: --server must be the address of the server"],
    [["--server", "http://127.0.0.1:1", "--key-file", "key"], "No server answers"],
  ] as const)
    expect(await wrong("a@gmail.com", ...args)).toMatchObject({
      code: expect.any(Number),
      err: expect.stringContaining(err),
    })
  const asJson = JSON.parse((await wrong("a@gmail.com", "--json", "--server", server.url, "--key-file", "key")).err)
  expect(asJson).toMatchObject({ error: { exit_code: 1, message: expect.stringContaining("invalid_key") } })
})

test("check --server gives up at a server that fails, a quota and an answer that is none, without waiting for hours", async () => {
  const check = checking(`svc_live_${"0".repeat(38)}`)
  for (const [reply, err] of [
    [FAULTS["a quota of three hours"].reply, /quota_exceeded.*Try again after 10984 seconds/],
    [FAULTS["a page that is no JSON"].reply, /is not mailkind/],
    [says(413, "<h1>413</h1>", { Server: "nginx" }), /A proxy in front .* too large \(413\)\. nginx takes 1 MiB/],
  ] as const) {
    const { url } = await faultServer(reply)
    expect(await check("a@gmail.com", "--server", url, "--key-file", "key")).toMatchObject({
      code: 1,
      err: expect.stringMatching(err),
    })
  }
})
