import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { freePort } from "./free-port.ts"
import { onTestEnd } from "./on-test-end.ts"
import { type Program, startProgram } from "./program.ts"

/** Servers on one port and data directory, in a checkout, one after the other; they are killed when the test is over. */
export async function samePortServers(settings: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "h"))
  const port = freePort()
  const environment = {
    PATH: process.env["PATH"],
    MAILKIND_DATA_DIR: directory,
    MAILKIND_PORT: String(port),
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
    MAILKIND_IDENTITY_URL: "off",
    ...settings,
  }
  const start = (...words: string[]): Program => {
    const child = startProgram([...PROGRAM, "serve", ...words], directory, environment)
    onTestEnd(child.kill)
    return child
  }
  const serve = async (...words: string[]): Promise<Program> => {
    const child = start(...words)
    await child.printed(/listens on/)
    return child
  }
  return { directory, port, start, serve, url: `http://127.0.0.1:${port}` }
}
