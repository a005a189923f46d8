import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { environment } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

const PYTHON = Bun.which("python3")

/** A test that needs Python's standard library for what Bun cannot do; it is skipped where there is no Python. */
const withPython = (promise: string, run: (python: string) => Promise<void>): void =>
  test.skipIf(PYTHON === null)(PYTHON === null ? `${promise} (skipped: python3 is not installed)` : promise, () =>
    run(PYTHON ?? ""),
  )

/** Prints each state that is sent to the socket of a service manager, which Bun cannot open. */
const LISTENER = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
listener.bind("\\0" + name[1:] if name.startswith("@") else name)
print("ready", flush=True)
while True:
    print(listener.recv(100).decode(), flush=True)
`

for (const [kind, workers] of [
  ["a server", []],
  ["a server of workers", ["--workers", "2"]],
] as const)
  for (const place of ["a path", "an abstract name"] as const)
    withPython(
      `${kind} tells the service manager at ${place} that it serves, that it runs on, and that it stops`,
      async python => {
        const directory = mkdtempSync(join(tmpdir(), "mailkind-service-"))
        onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
        const socket = place === "a path" ? join(directory, "notify") : `@mailkind-${Bun.randomUUIDv7()}`
        const manager = startProgram([python, "-c", LISTENER, socket], directory, {})
        onTestEnd(manager.kill)
        await manager.printed(/ready\n/)
        const env = { ...environment(directory), NOTIFY_SOCKET: socket, WATCHDOG_USEC: "2000000" }
        const server = startProgram([...PROGRAM, "serve", ...workers], directory, env)
        onTestEnd(server.kill)
        const told = await manager.printed(/(WATCHDOG=1\n){2}/)
        expect(told).toStartWith("ready\nREADY=1\nWATCHDOG=1\n")
        expect((await server.stop()).code).toBe(0)
        await manager.printed(/STOPPING=1\n/)
      },
    )

/** A server that serves nobody has about a third of them open. */
const DESCRIPTORS_MAX = 64

withPython("a server whose descriptors are all in use tells the service manager that it runs on", async python => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-service-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const socket = join(directory, "notify")
  const manager = startProgram([python, "-c", LISTENER, socket], directory, {})
  onTestEnd(manager.kill)
  await manager.printed(/ready\n/)
  const env = { ...environment(directory), NOTIFY_SOCKET: socket, WATCHDOG_USEC: "1000000" }
  const limited = `ulimit -n ${DESCRIPTORS_MAX} && exec ${PROGRAM.map(word => `"${word}"`).join(" ")} serve`
  const server = startProgram(["sh", "-c", limited], directory, env)
  onTestEnd(server.kill)
  const port = Number(/listens on \S+:(\d+)/.exec(await server.printed(/curl [^\n]*\n/))?.[1])
  const sockets = Array.from({ length: DESCRIPTORS_MAX }, () => connect(port, "127.0.0.1"))
  // A connection that asks nothing is soon closed.
  const asking = setInterval(() => {
    for (const each of sockets) each.write("GET /v1/health HTTP/1.1\r\nHost: a\r\n\r\n")
  }, 1000)
  onTestEnd(() => {
    clearInterval(asking)
    for (const each of sockets) each.destroy()
  })
  for (const each of sockets) each.on("error", () => undefined).resume()
  await server.complained(/files and sockets run out/)
  const toldBefore = (await manager.printed(/READY=1/)).split("WATCHDOG=1").length
  await manager.printed(new RegExp(`(?:WATCHDOG=1\\s*){${toldBefore + 1}}`))
})

withPython("a socket that nobody reads, or that cannot be one, harms no server", async () => {
  for (const socket of ["/nowhere/notify", "vsock:2:1234", "@", `/${"x".repeat(200)}`]) {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-service-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    const env = { ...environment(directory), NOTIFY_SOCKET: socket, WATCHDOG_USEC: "never" }
    const server = startProgram([...PROGRAM, "serve"], directory, env)
    onTestEnd(server.kill)
    await server.printed(/listens on/)
    expect(await server.stop()).toMatchObject({ code: 0 })
  }
})
