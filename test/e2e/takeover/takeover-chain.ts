import { type CallRate, startCallers } from "../../support/callers.ts"
import { samePortServers } from "../../support/same-port-servers.ts"

const HEALTH = "/v1/health"

/** The words that start a server of so many workers. */
export const workers = (count: number): readonly string[] => (count === 1 ? [] : ["--workers", String(count)])

/**
 * Has one server after the other take over, each of so many workers, while callers with new and with kept connections ask
 * without end. Gives what these lost, how many answers each kind got, and how the servers ended.
 */
export async function takeoverChain(counts: readonly number[], rate: CallRate) {
  const { port, serve } = await samePortServers()
  const [first = 1, ...others] = counts
  let server = await serve(...workers(first))
  const callers = [startCallers(port, HEALTH, rate, false), startCallers(port, HEALTH, rate, true)]
  for (const each of callers) await each.got(100)
  const codes: number[] = []
  for (const count of others) {
    const next = await serve(...workers(count), "--replace")
    codes.push((await server.ended()).code)
    await next.complained(/the previous server has ended/)
    server = next
  }
  const tallies = await Promise.all(callers.map(each => each.stop()))
  codes.push((await server.stop()).code)
  return { lost: tallies.flatMap(({ lost }) => lost), codes, answered: tallies.map(({ answered }) => answered) }
}
