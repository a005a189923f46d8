import { expect, test } from "bun:test"
import { join } from "node:path"
import { sendRequest } from "../../bench/load/ask.ts"
import { cpuMsOf, processTree } from "../../bench/servers/process-stats.ts"
import { runToEnd, startServer } from "../../bench/servers/server-process.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 300_000
const CHILD_MS = 200
const FLOOR = [process.execPath, join(import.meta.dir, "../../bench/servers/baseline.ts"), "300"] as const
const LOAD = [process.execPath, join(import.meta.dir, "../../bench/load/main.ts")] as const
const script = (text: string) => ({ command: [process.execPath, "-e", text] as const })

test(
  "the floor answers with as many bytes as it was told, and only to JSON",
  async () => {
    await using server = await startServer({ command: FLOOR, core: "server" })
    const request = (body: string) => sendRequest({ method: "POST", url: server.url, headers: {}, body })
    const { status, body } = await request('{"email":"jane@gmail.com"}')
    expect([status, Buffer.byteLength(body)]).toEqual([200, 300])
    expect(Object.keys(JSON.parse(body))).toEqual(["filler"])
    expect((await request("{")).status).toBe(500)
  },
  LIMIT_MS,
)

test(
  "the load program tells its report as JSON, in a process of its own",
  async () => {
    await using server = await startServer({ command: FLOOR, core: "server" })
    const sizes = ["--requests", "20", "--connections", "3", "--warmup", "0", "--json", "--bodies", "-"]
    const out = await runToEnd(
      { command: [...LOAD, server.url.href, ...sizes], core: "load" },
      '{"a":1}\n{"a":2}\n',
      LIMIT_MS,
    )
    expect(JSON.parse(out)).toMatchObject({ connections: 3, answers: 20, bodyBytes: 300, byStatus: { "200": 20 } })
  },
  LIMIT_MS,
)

test(
  "the load program tells a person what it found, and refuses to load another machine",
  async () => {
    await using server = await startServer({ command: FLOOR })
    const command = [...LOAD, server.url.href, "--requests", "5", "--warmup", "0", "--method", "POST"] as const
    const out = await runToEnd({ command }, "", LIMIT_MS)
    expect(out).toContain("status      500: 5")
    expect(out).toContain("failures    none")
    expect(await outcomeOf(runToEnd({ command: [...LOAD, "http://192.0.2.1/"] }, "", LIMIT_MS))).toThrow(
      "not a loopback address",
    )
  },
  LIMIT_MS,
)

test(
  "a server that ends without telling its address is told with what it said",
  async () => {
    const silent = script("console.error('no lists here'); process.exit(3)")
    expect(await outcomeOf(startServer(silent))).toThrow("no lists here")
  },
  LIMIT_MS,
)

test(
  "a server's address and key are read from its lines, however they are cut and wherever they are written",
  async () => {
    const key = `svc_live_${"a1".repeat(19)}`
    const lines = `process.stderr.write("x listens on http://127.0.0.1:12"); await Bun.sleep(30)
      console.error("345/"); console.log("  ${key}"); await Bun.sleep(60_000)`
    await using server = await startServer(script(lines))
    expect(server.url.href).toBe("http://127.0.0.1:12345/")
    expect(await server.key()).toBe(key)
    expect(server.cpuMs()).not.toBeLessThan(0)
  },
  LIMIT_MS,
)

test.if(process.platform === "linux")(
  "the CPU time of a server is that of all its processes",
  async () => {
    const child = `while (process.cpuUsage().user < ${CHILD_MS * 1000});
      console.log("listens on http://127.0.0.1:1"); await Bun.sleep(60_000)`
    const parent = `await Bun.spawn([process.execPath, "-e", ${JSON.stringify(child)}], { stdout: "inherit" }).exited`
    await using server = await startServer({ command: [process.execPath, "-e", parent] })
    const [first, second = server.pid, ...others] = processTree(server.pid)
    try {
      expect([first, others]).toEqual([server.pid, []])
      expect(cpuMsOf(second)).toBeGreaterThanOrEqual(CHILD_MS)
      expect(server.cpuMs()).toBeGreaterThanOrEqual(cpuMsOf(first ?? second) + CHILD_MS)
    } finally {
      process.kill(second, "SIGKILL")
    }
  },
  LIMIT_MS,
)
