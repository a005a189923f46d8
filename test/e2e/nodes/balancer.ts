import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../../architecture/source-files.ts"
import { bounded } from "../../support/bounded.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

// Debian keeps it where the path of users does not lead.
const PROGRAM = [Bun.which("haproxy"), "/usr/sbin/haproxy"].find(path => path !== null && existsSync(path)) ?? null

/** What is missing for a test behind a balancer; null: nothing. */
export const MISSING_BALANCER = PROGRAM === null ? "haproxy is not installed" : null

/** A balancer that runs: its port and process, and what says a line to its socket and gives the answer. */
export type Balancer = {
  readonly port: number
  readonly pid: number
  readonly say: (line: string) => Promise<string>
}

/** Starts the balancer by the file that the page shows, on loopback before nodes at these ports. `onEnd` has what ends it done. */
export async function startBalancer(
  nodePorts: readonly number[],
  onEnd: (end: () => unknown) => void = onTestEnd,
): Promise<Balancer> {
  if (PROGRAM === null) throw new Error("there is no balancer")
  const port = freePort()
  const nodes = [...nodePorts]
  const directory = mkdtempSync(join(tmpdir(), "b"))
  onEnd(() => rmSync(directory, { recursive: true, force: true }))
  const socket = join(directory, "s")
  const shown = readFileSync(join(ROOT, "data/deploy/haproxy.cfg"), "utf8")
    .trimEnd()
    // Without TLS, and so without the port that leads to it.
    .replace(/bind :80\n *bind :443 .*\n.*redirect.*/, `bind 127.0.0.1:${port}`)
    .replace("/run/haproxy/admin.sock", socket)
    .replace(/10\.0\.0\.\d+:8080/g, () => `127.0.0.1:${nodes.shift()}`)
  // The page shows two nodes.
  const text = [shown, ...nodes.map((node, at) => `    server more${at} 127.0.0.1:${node}`)].join("\n")
  for (const own of [`bind 127.0.0.1:${port}\n`, socket, ...nodePorts.map(node => `127.0.0.1:${node}\n`)])
    if (!`${text}\n`.includes(own)) throw new Error(`there is no ${own} in\n${text}`)
  const file = join(directory, "haproxy.cfg")
  writeFileSync(file, `${text}\n`)
  const balancer = startProgram([PROGRAM, "-db", "-f", file], directory, {})
  onEnd(balancer.kill)
  let last = "nothing"
  const up = async (): Promise<void> => {
    for (;;) {
      const health = await askLoopback(`http://127.0.0.1:${port}/v1/health`).catch(() => null)
      last = `${health?.status} and ${balancer.complaints()}`
      if (health?.status === 200) return
    }
  }
  await bounded(up(), () => last)
  return { port, pid: balancer.pid, say: line => reply(socket, line) }
}

/** What the balancer holds of each node, such as `UP`, by its name. */
export async function nodeStates({ say }: Balancer): Promise<ReadonlyMap<string, string>> {
  const rows = (await say("show stat")).split("\n").map(row => row.split(","))
  const nodes = rows.filter(([backend, name]) => backend === "nodes" && name !== "BACKEND")
  return new Map(nodes.map(cells => [cells[1] ?? "", cells[17]?.split(" ")[0] ?? ""]))
}

/** Says a line to a socket, and gives all that is answered. */
function reply(path: string, line: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(path, () => socket.write(`${line}\n`))
  let answer = ""
  socket.on("data", text => {
    answer += text
  })
  socket.on("error", reject)
  socket.on("end", () => resolve(answer.trim()))
  return bounded(promise, () => `${line} got ${answer}`)
}
