import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

test("with --server the commands change and show the lists of the key's account, in as many requests as it takes", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const directory = mkdtempSync(join(tmpdir(), "mailkind-lists-cli-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "key"), `${server.firstKey}\n`)
  writeFileSync(join(directory, "many.txt"), Array.from({ length: 1500 }, (_, at) => `name${at}.example\n`).join(""))
  const environment = { PATH: process.env["PATH"], HOME: directory, MAILKIND_DATA_DIR: directory }
  const at = ["--server", server.url, "--key-file", "key"]
  const run = (...args: readonly string[]) => startProgram([...PROGRAM, ...args], directory, environment).ended()
  const added = await run("block", "add", "jane@acme.com", "--from", "many.txt", ...at)
  expect([added.code, added.out]).toEqual([0, `1501 entries added to your block list at ${server.url}.\n`])
  const listed = JSON.parse((await run("block", "list", "--json", ...at)).out)
  expect([listed.length, listed.at(-1).kind]).toEqual([1501, "address"])
  const removed = await run("block", "remove", "jane@acme.com", "b.com", "--json", ...at)
  expect(JSON.parse(removed.out)).toEqual({ list: "block", server: server.url, removed: 1, not_there: 1 })
  expect((await run("allow", "list", ...at)).out).toBe(`There are no entries on your allow list at ${server.url}.\n`)
  const both = await run("allow", "add", "a.com", "--account", "jane@acme.com", ...at)
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining("Leave out --account") })
  expect(await run("allow", "add", "com", ...at)).toMatchObject({ code: 2, err: expect.stringContaining("Entry 1") })
})

test("check says at once what the operator's own lists change, and goes on without a database that cannot be read", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-lists-cli-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const environment = { PATH: process.env["PATH"], HOME: directory, MAILKIND_DATA_DIR: directory }
  const run = (...args: readonly string[]) => startProgram([...PROGRAM, ...args], directory, environment).ended()
  const checked = async (text: string) => JSON.parse((await run("check", text, "--offline", "--json")).out)
  expect((await checked("jane@acme.example.com")).recommendation).toBe("review")
  expect(existsSync(join(directory, "mailkind.sqlite"))).toBe(false)
  await run("block", "add", "example.com")
  expect(await checked("jane@acme.example.com")).toMatchObject({
    recommendation: "block",
    reasons: expect.arrayContaining(["blocklisted"]),
  })
  await run("block", "remove", "example.com")
  expect((await checked("jane@acme.example.com")).recommendation).toBe("review")
  writeFileSync(join(directory, "mailkind.sqlite"), "no database")
  const without = await run("check", "jane@gmail.com", "--offline")
  expect(without).toMatchObject({ code: 0, err: expect.stringContaining("own lists do not count") })
})
