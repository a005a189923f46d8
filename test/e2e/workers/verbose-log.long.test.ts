import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(120_000)

/** A server in a checkout, whose log is set to tell of errors alone. */
async function quiet(...words: string[]) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-log-"))
  const environment = {
    PATH: process.env["PATH"],
    MAILKIND_DATA_DIR: directory,
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
    MAILKIND_LOG: "error",
  }
  const child = startProgram([...PROGRAM, "serve", ...words], directory, environment)
  onTestEnd(child.kill)
  await child.printed(/listens on/)
  return child
}

test("SIGUSR2 has every line logged until the next one, without a restart", async () => {
  const server = await quiet()
  server.tell("SIGUSR2")
  await server.complained(/every line is logged/)
  server.tell("SIGHUP")
  await server.complained(/the lists were reloaded/)
  server.tell("SIGUSR2")
  await server.complained(/the log is as it was set/)
  const { err, code } = await server.stop()
  expect([code, err.includes("stopping")]).toEqual([0, false])
})

test("all workers of a server follow it", async () => {
  const server = await quiet("--workers", "2")
  server.tell("SIGUSR2")
  // Of two signals that wait, the system may give the later one first.
  await server.complained(/every line is logged/)
  server.tell("SIGHUP")
  const err = await server.complained(/(?:the lists were reloaded[\s\S]*){2}/)
  expect(new Set([...err.matchAll(/"worker":(\d)/g)].map(([, seat]) => seat))).toEqual(new Set(["0", "1"]))
  expect(await server.stop()).toMatchObject({ code: 0 })
})
