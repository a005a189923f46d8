import { connectRaw, type RawConnection } from "./raw-connection.ts"
import type { WorkersServer } from "./workers-server.ts"

/** The system divides connections between two workers by chance: of so many, fewer than three at one of them are 1 in 10⁹. */
const CONNECTIONS = 40

/** Connections to a server, which are closed when they are disposed of. */
export async function connectAll(port: number, count: number): Promise<readonly RawConnection[] & Disposable> {
  const all = await Promise.all(Array.from({ length: count }, () => connectRaw(port)))
  const close = (): void => {
    for (const each of all) each.close()
  }
  return Object.assign(all, { [Symbol.dispose]: close })
}

/** Asks until the answer is a verdict: a worker that is busy refuses what it cannot answer soon. */
async function answered(connection: RawConnection, key: string): Promise<void> {
  connection.check(key, { domain: "gmail.com" })
  if ((await connection.answer()).status !== 200) await answered(connection, key)
}

/** Connections that were answered one check each, with nothing under way, by the seats of the workers that have them. */
export async function connectionsByWorker(
  server: WorkersServer,
): Promise<{ readonly connections: readonly RawConnection[][] } & Disposable> {
  const all = await connectAll(server.port, CONNECTIONS)
  await Promise.all(all.map(each => answered(each, server.firstKey)))
  const pids = server.workers()
  const owners = all.map(each => each.owner(pids))
  const connections = pids.map(pid => all.filter((_, at) => owners[at] === pid))
  return { connections, [Symbol.dispose]: () => all[Symbol.dispose]() }
}
