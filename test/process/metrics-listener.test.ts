import { expect, test } from "bun:test"
import { assertNoOtherHolder, startMetricsListenerWithRetry } from "../../src/process/metrics-listener.ts"
import { onTestEnd } from "../support/on-test-end.ts"

/** Listens for the metrics of a server that replaces another; `tick` is the time of another try. */
function listenAt(port: number) {
  const lines: string[] = []
  let tick = (): void => undefined
  let isStopped = false
  const runInterval = (_ms: number, work: () => void) => {
    tick = work
    return () => {
      isStopped = true
    }
  }
  const readExposition = async () => ({ text: "", mediaType: "text/plain" })
  const log = (_level: string, message: string) => void lines.push(message)
  const listener = startMetricsListenerWithRetry({ runInterval }, `127.0.0.1:${port}`, readExposition, log)
  onTestEnd(listener.stop)
  return { lines, tick: () => tick(), isStopped: () => isStopped }
}

/** A port that this process has. */
function ownPort() {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") })
  onTestEnd(() => server.stop(true))
  return { port: server.port ?? 0, free: () => server.stop(true) }
}

const WAITS = "metrics are served as soon as their port is free"

test("the port of the metrics is waited for while the server that is replaced has it, and not for ever", async () => {
  const metrics = ownPort()
  const waiting = listenAt(metrics.port)
  waiting.tick()
  await metrics.free()
  waiting.tick()
  expect([waiting.lines, waiting.isStopped()]).toEqual([[WAITS, "metrics are served now"], true])
  const hung = listenAt(ownPort().port)
  for (let tries = 1; !hung.isStopped(); tries++) {
    expect(tries).toBeLessThan(300)
    hung.tick()
  }
  expect(hung.lines).toEqual([WAITS, "metrics are not served"])
})

test.if(process.platform === "linux")(
  "a port of the metrics that another process has is refused at the start",
  async () => {
    const holdPort =
      'const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") }); console.log(port)'
    const child = Bun.spawn([process.execPath, "-e", holdPort], { stdout: "pipe" })
    onTestEnd(() => child.kill())
    const { value } = await child.stdout.getReader().read()
    const port = Number(new TextDecoder().decode(value))
    expect(() => assertNoOtherHolder(`127.0.0.1:${port}`, ownPort().port)).toThrow(
      `The port ${port} for metrics is taken by process ${child.pid}`,
    )
    const own = `127.0.0.1:${ownPort().port}`
    expect(assertNoOtherHolder(own, ownPort().port)).toBeUndefined()
    // The supervisor of a server has the port, and its workers have that of the server.
    expect(assertNoOtherHolder(own, port)).toBeUndefined()
  },
)
