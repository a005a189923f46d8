import type { Random, Stopwatch } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import type { Exchange, ServerAddress } from "./exchange.ts"
import { IMPOSSIBLE_NAME, isWireName } from "./packet.ts"
import { PortPool } from "./port-pool.ts"
import type { Question } from "./question.ts"
import { type OpenExchange, tcpExchange } from "./tcp-exchange.ts"
import type { Heard } from "./udp-port.ts"

/**
 * Asks the server over UDP, from many source ports and with random ids, and again over TCP what did not fit, both within
 * the time of the question. A port where nothing listens, or no route to it, is `silent` at once. After `close` no socket
 * is open, and every question is `silent`.
 */
export function udpExchange(
  server: ServerAddress,
  { random, later, stopwatch }: { readonly random: Random; readonly later: Later; readonly stopwatch: Stopwatch },
): OpenExchange {
  const ports = new PortPool(server, random, later)
  const tcp = tcpExchange(server, { random, later })
  let isClosed = false
  const overUdp = (question: Question, timeoutMs: number): Promise<Heard> =>
    new Promise(resolve => {
      const callOff = later(timeoutMs, () => {
        forget()
        resolve({ kind: "silent" })
      })
      const forget = ports.ask(question, heard => {
        callOff()
        resolve(heard)
      })
    })
  const exchange: Exchange = async (question, timeoutMs) => {
    if (!isWireName(question.name)) return IMPOSSIBLE_NAME
    if (isClosed) return { kind: "silent" }
    const startedMs = stopwatch()
    const heard = await overUdp(question, timeoutMs)
    if (heard.kind !== "truncated") return heard
    const leftMs = timeoutMs - (stopwatch() - startedMs)
    return leftMs > 0 ? tcp.exchange(question, leftMs) : { kind: "silent" }
  }
  const close = (): void => {
    isClosed = true
    ports.close()
    tcp.close()
  }
  return { exchange, close }
}
