import { expect, test } from "bun:test"
import { withoutLoad } from "../../bench/cases/workers.ts"
import { cpuMsOf, processTree } from "../../bench/servers/process-stats.ts"
import { startServer } from "../../bench/servers/server-process.ts"

const LIMIT_MS = 120_000
const CHILD_MS = 200

test("what the load program takes of the workers' cores is what they lack", () => {
  const rate = (workers: number, cores: number, cpuShare: number) =>
    withoutLoad({ workers, cores }, { answersPerSecond: 1000, cpuShare })
  expect(rate(2, 2, 0)).toBe(1000)
  expect(rate(2, 2, 0.5)).toBeCloseTo(1333.3, 1)
  // One worker has a core of its own all the same, and so have two where there are three.
  expect(rate(1, 2, 0.5)).toBe(1000)
  expect(rate(1, 2, 1)).toBe(1000)
  expect(rate(2, 3, 1)).toBe(1000)
  expect(rate(2, 3, 1.5)).toBeCloseTo(1333.3, 1)
  // On a single core, two workers are never more than one.
  expect(rate(2, 1, 0.5)).toBe(2000)
})

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
