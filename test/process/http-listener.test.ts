import { expect, test } from "bun:test"
import { Agent, request } from "node:http"
import { Elysia } from "elysia"
import { drainAndClose, listenOnSockets, whyNotListening } from "../../src/process/http-listener.ts"
import { createSystem } from "../../src/system/system.ts"
import { bounded } from "../support/bounded.ts"
import { onTestEnd } from "../support/on-test-end.ts"

/** The header `Connection` of an answer on a connection that is kept. */
function sendRequest(agent: Agent, port: number): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const sent = request({ agent, port, host: "127.0.0.1" }, answer => {
    answer.resume()
    answer.on("end", () => resolve(answer.headers.connection))
  })
  sent.on("error", reject)
  sent.end()
  return bounded(promise, () => "no answer")
}

test("a server that is stopped answers on connections that are kept, and has them go, before it closes any", async () => {
  const app = new Elysia().get("/", () => "here")
  const { first, all } = listenOnSockets({ hostname: "127.0.0.1", port: 0, isShared: false }, app, 1)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestEnd(() => agent.destroy())
  const port = first.port ?? 0
  expect(await sendRequest(agent, port)).not.toBe("close")

  const moment = Promise.withResolvers<void>()
  const stopped = drainAndClose({ ...createSystem(), sleep: () => moment.promise }, all, app.fetch)
  expect(await sendRequest(agent, port)).toBe("close")
  moment.resolve()
  await bounded(stopped, () => "it does not stop")
  expect(await sendRequest(agent, port).catch(() => "refused")).toBe("refused")
})

test("a port that cannot be listened on is told with who has it, how to take over from a server, and which right is missing", () => {
  const refusal = (code: string) => Object.assign(new Error("permission denied 0.0.0.0:81"), { code })
  const told = (name: string | null) =>
    whyNotListening(refusal("EADDRINUSE"), 8080, () => (name === null ? null : { pid: 41, name }))
  expect([told(null), told("nginx"), told("mailkind")]).toEqual([
    "The port is in use (EADDRINUSE). See who has it: `ss -ltnp 'sport = :8080'`.",
    "The port is in use (EADDRINUSE). It is taken by process 41 (nginx).",
    "The port is in use (EADDRINUSE). It is taken by process 41 (mailkind). `serve --replace` takes over from a server with the same data directory.",
  ])
  for (const code of ["ENOENT", "EADDRNOTAVAIL", "EINPROGRESS"])
    expect(whyNotListening(refusal(code), 8080)).toEndWith(`or the name is not known (${code}).`)
  expect(whyNotListening(refusal("EACCES"), 1023)).toMatch(/^Ports below 1024 need a right .*CAP_NET_BIND_SERVICE/)
  expect(whyNotListening(refusal("EACCES"), 1024)).toBe("permission denied 0.0.0.0:81.")
})
