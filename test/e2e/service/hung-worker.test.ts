import { expect, setDefaultTimeout, test } from "bun:test"
import { askLoopback } from "../../support/loopback.ts"
import { startWorkersServer } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

test("a worker that was stopped by a signal is killed and replaced, and the server serves", async () => {
  await using server = await startWorkersServer()
  const [hung = 0] = server.workers()
  process.kill(hung, "SIGSTOP")
  const [killed] = await server.logged(({ msg }) => msg === "a worker hangs and is killed")
  expect(killed).toMatchObject({ level: "error", worker: 0, pid: hung })
  await server.logged(({ msg }) => msg === "a worker listens", 3)
  for (let at = 0; at < 10; at++)
    expect((await askLoopback(`http://127.0.0.1:${server.port}/v1/health`)).status).toBe(200)
  process.kill(server.pid, "SIGTERM")
  expect(await server.exited).toBe(0)
})
