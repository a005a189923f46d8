import type { CrewProcess } from "./crew-process.ts"
import { type Wire, wire } from "./wire.ts"

/** The system divides connections between two workers by chance: of so many, fewer than three at one of them are 1 in 10⁹. */
const CONNECTIONS = 40

/** Connections to a server, which are closed when they are disposed of. */
export async function wires(port: number, count: number): Promise<readonly Wire[] & Disposable> {
  const all = await Promise.all(Array.from({ length: count }, () => wire(port)))
  const close = (): void => {
    for (const each of all) each.close()
  }
  return Object.assign(all, { [Symbol.dispose]: close })
}

/** Connections with nothing under way, by the seats of the workers that have them. */
export async function bySeat(server: CrewProcess): Promise<{ readonly connections: readonly Wire[][] } & Disposable> {
  const all = await wires(server.port, CONNECTIONS)
  for (const each of all) each.check(server.firstKey, { domain: "gmail.com" })
  await Promise.all(all.map(each => each.answer()))
  const pids = server.workers()
  const owners = all.map(each => each.owner(pids))
  const connections = pids.map(pid => all.filter((_, at) => owners[at] === pid))
  return { connections, [Symbol.dispose]: () => all[Symbol.dispose]() }
}
