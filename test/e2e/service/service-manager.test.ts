import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { environment } from "../workers/workers-server.ts"
import { withPython } from "./with-python.ts"

setDefaultTimeout(120_000)

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
