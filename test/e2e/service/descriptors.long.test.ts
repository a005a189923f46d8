import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(180_000)

const MAIN = join(import.meta.dir, "../../../src/main.ts")
/** A server that serves nobody has about a third of them open. */
const DESCRIPTORS_MAX = 64

test.skipIf(process.platform !== "linux")(
  "a server whose descriptors are all in use stays, tells that once with the limit, and serves again when some are free",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-test-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    const metricsPort = freePort()
    const limited = `ulimit -n ${DESCRIPTORS_MAX} && exec "${process.execPath}" "${MAIN}" serve`
    const server = startProgram(["sh", "-c", limited], directory, {
      HOME: directory,
      PATH: process.env["PATH"],
      MAILKIND_DATA_DIR: join(directory, "data"),
      MAILKIND_PORT: "0",
      MAILKIND_METRICS: `127.0.0.1:${metricsPort}`,
      MAILKIND_DNS_SERVERS: "off",
    })
    onTestEnd(() => server.kill())
    const url = /listens on (\S+)/.exec(await server.printed(/curl [^\n]*\n/))?.[1] ?? ""
    // The first fetch at the limit would start it, and end the process.
    const threads = readdirSync(`/proc/${server.pid}/task`)
    expect(threads.map(id => readFileSync(`/proc/${server.pid}/task/${id}/comm`, "utf8").trim())).toContain(
      "HTTP Client",
    )
    const sockets: Socket[] = []
    onTestEnd(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let count = 0; count < DESCRIPTORS_MAX; count++) sockets.push(connect(Number(new URL(url).port), "127.0.0.1"))
    const log = await server.complained(/files and sockets run out[^\n]*\n/)
    expect(log).toMatch(
      new RegExp(`"why":"\\d+ of ${DESCRIPTORS_MAX} files and sockets are open; .*"remedy":"Raise the limit`),
    )
    for (const socket of sockets) socket.destroy()
    await server.complained(/files and sockets are free again/)
    expect((await askLoopback(`${url}/v1/health`)).status).toBe(200)
    const { body } = await askLoopback(`http://127.0.0.1:${metricsPort}/metrics`)
    expect(body).toMatch(new RegExp(`mailkind_process_descriptors_max\\{[^}]*\\} ${DESCRIPTORS_MAX}\\n`))
    const { code, err } = await server.stop()
    expect([code, err.match(/files and sockets run out/g)]).toEqual([0, ["files and sockets run out"]])
  },
)
