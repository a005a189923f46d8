import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { linuxReusePort } from "../../src/system/reuse-port.ts"
import { freePort } from "../support/free-port.ts"
import { askLoopback } from "../support/loopback.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { startProgram } from "../support/program.ts"

setDefaultTimeout(300_000)

const own = (port: number, reusePort: boolean, hostname = "127.0.0.1", answer = "own") => {
  const server = Bun.serve({ hostname, port, reusePort, development: false, fetch: () => new Response(answer) })
  onTestEnd(() => server.stop(true))
  return server.port ?? 0
}

/** Another process that listens on the port, if it is let. */
const other = (port: number) => {
  const serve = `Bun.serve({ hostname: "127.0.0.1", port: ${port}, reusePort: true, development: false, fetch: () => new Response("other") })`
  const child = startProgram([process.execPath, "-e", `${serve}; console.log("listens")`], ".", {})
  onTestEnd(child.kill)
  return child
}

/** Who answers, by so many new connections. */
async function answering(port: number, count: number): Promise<Set<string>> {
  return new Set(
    await Promise.all(Array.from({ length: count }, async () => (await askLoopback(`http://127.0.0.1:${port}`)).body)),
  )
}

describe.skipIf(process.platform !== "linux")("a socket that listens", () => {
  test("has its port to itself until it is shared", async () => {
    const port = own(0, false)
    expect(await other(port).ended()).toMatchObject({ code: 1 })
    expect(linuxReusePort.enable(port)).toBe(true)
    await other(port).printed(/listens/)
    // By chance all of so many are given to one of the two once in 10¹⁸ times.
    expect(await answering(port, 60)).toEqual(new Set(["own", "other"]))
  })

  test("gets every new connection when it is steered there, and all when it is left alone", async () => {
    const port = freePort()
    const before = other(port)
    await before.printed(/listens/)
    own(port, true)
    expect(await answering(port, 60)).toEqual(new Set(["own", "other"]))
    expect(linuxReusePort.route(port, 1, 1)).toBe(true)
    expect(await answering(port, 60)).toEqual(new Set(["own"]))
    await before.kill()
    expect(await answering(port, 60)).toEqual(new Set(["own"]))
  })

  test("is the one that the system picks by its position, and where nobody is it picks any", async () => {
    const port = freePort()
    const before = other(port)
    await before.printed(/listens/)
    const names = ["a", "b", "c"]
    for (const name of names) own(port, true, "127.0.0.1", name)
    expect(linuxReusePort.route(port, 1, 3)).toBe(true)
    expect(await answering(port, 90)).toEqual(new Set(names))
    for (const [at, name] of names.entries()) {
      expect(linuxReusePort.route(port, at + 1, 1)).toBe(true)
      expect(await answering(port, 20)).toEqual(new Set([name]))
    }
    expect(linuxReusePort.route(port, 4, 1)).toBe(true)
    expect(await answering(port, 120)).toEqual(new Set(["other", ...names]))
    // The last one takes its place.
    await before.kill()
    expect(linuxReusePort.route(port, 0, 1)).toBe(true)
    expect(await answering(port, 20)).toEqual(new Set(["c"]))
  })

  test.each([1, 2, 3])("keeps its position while %p before it are closed, when as many come after it", async count => {
    const port = freePort()
    const serve = (answer: string) =>
      Bun.serve({ hostname: "127.0.0.1", port, reusePort: true, development: false, fetch: () => new Response(answer) })
    const [old, fresh] = ["old", "new"].map(name => Array.from({ length: count }, () => serve(name)))
    onTestEnd(() => Promise.all([...(old ?? []), ...(fresh ?? [])].map(server => server.stop(true))))
    expect(linuxReusePort.route(port, count, 1)).toBe(true)
    for (const server of old ?? []) {
      await server.stop(true)
      expect(await answering(port, 60)).toEqual(new Set(["new"]))
    }
  })

  test("is found by IPv6 too, and where there is none nothing is done", async () => {
    const port = own(0, false, "::")
    expect(linuxReusePort.enable(port)).toBe(true)
    const dead = freePort()
    expect([linuxReusePort.enable(dead), linuxReusePort.route(dead, 0, 1)]).toEqual([false, false])
  })
})
