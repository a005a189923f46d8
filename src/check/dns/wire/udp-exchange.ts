import type { Random, SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { DnsExchange, DnsQuestion, DnsServerAddress } from "../dns-types.ts"
import { isEncodableName, UNENCODABLE_NAME_REPLY } from "./packet.ts"
import { SourcePort, type UdpReply } from "./source-port.ts"
import { type ClosableExchange, createTcpExchange } from "./tcp-exchange.ts"

/**
 * Asks the server over UDP, from many source ports and with random ids, and again over TCP what did not fit, both within
 * the time of the question. A port where nothing listens, or no route to it, is `silent` at once. After `close` no socket
 * is open, and every question is `silent`.
 */
export function createUdpExchange(
  server: DnsServerAddress,
  {
    random,
    setTimer,
    stopwatch,
  }: { readonly random: Random; readonly setTimer: SetTimer; readonly stopwatch: Stopwatch },
): ClosableExchange {
  const ports = new SourcePortPool(server, random, setTimer)
  const tcp = createTcpExchange(server, { random, setTimer })
  let isClosed = false
  const overUdp = (question: DnsQuestion, timeoutMs: number): Promise<UdpReply> =>
    new Promise(resolve => {
      const callOff = setTimer(timeoutMs, () => {
        forget()
        resolve({ kind: "silent" })
      })
      const forget = ports.query(question, heard => {
        callOff()
        resolve(heard)
      })
    })
  const exchange: DnsExchange = async (question, timeoutMs) => {
    if (!isEncodableName(question.name)) return UNENCODABLE_NAME_REPLY
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

/** How many source ports of one server are open for new questions: what an attacker has to guess beside the id. */
export const PORTS_MAX = 64

/** How many questions one source port serves before a new one takes its place. */
export const PORT_QUERIES_MAX = 32

/** How long a source port stays open without a question, so that an idle server leaves none open as a target. */
export const PORT_IDLE_MS = 5000

/**
 * The source ports towards one server (RFC 5452 §9.2). A question has a new one until `PORTS_MAX` are open, then any of
 * them. A port that has served its questions takes no more and is closed after the last of them, an idle one after a while.
 * One port for all questions of a turn was tried: it saves nothing.
 */
export class SourcePortPool {
  readonly #server: DnsServerAddress
  readonly #random: Random
  readonly #setTimer: SetTimer
  /** Those that take questions. */
  readonly #open: SourcePort[] = []
  /** Those, and the ones that wait for their last replies. */
  readonly #all = new Set<SourcePort>()
  /** How to call off the closing of those that have nothing to wait for. */
  readonly #idle = new Map<SourcePort, () => void>()

  constructor(server: DnsServerAddress, random: Random, later: SetTimer) {
    this.#server = server
    this.#random = random
    this.#setTimer = later
  }

  /** How many ports are open. */
  get size(): number {
    return this.#all.size
  }

  /** Puts the question; `hear` is called at most once, and not any more after the returned function was. */
  query(question: DnsQuestion, hear: (heard: UdpReply) => void): () => void {
    const port = this.#pickPort()
    this.#cancelIdleClose(port)
    const forget = port.query(question, heard => {
      this.#onIdle(port)
      hear(heard)
    })
    if (port.queryCount >= PORT_QUERIES_MAX) this.#stopUsing(port)
    return () => {
      forget()
      this.#onIdle(port)
    }
  }

  /** Closes every port; whoever waits hears `silent`. */
  close(): void {
    for (const port of this.#all) port.close()
  }

  #pickPort(): SourcePort {
    if (this.#open.length < PORTS_MAX) return this.#openPort()
    const [octet = 0] = this.#random(1)
    return this.#open[octet % PORTS_MAX] ?? this.#openPort()
  }

  #openPort(): SourcePort {
    const port: SourcePort = new SourcePort(this.#server, this.#random, () => this.#remove(port))
    this.#all.add(port)
    this.#open.push(port)
    return port
  }

  /** Nothing waits at the port any more: what has served is closed now, the rest when nobody asks for a while. */
  #onIdle(port: SourcePort): void {
    if (!this.#all.has(port) || port.pendingCount > 0) return
    if (!this.#open.includes(port)) {
      port.close()
      return
    }
    this.#cancelIdleClose(port)
    const callOff = this.#setTimer(PORT_IDLE_MS, () => port.close())
    this.#idle.set(port, callOff)
  }

  #cancelIdleClose(port: SourcePort): void {
    this.#idle.get(port)?.()
    this.#idle.delete(port)
  }

  #stopUsing(port: SourcePort): void {
    const at = this.#open.indexOf(port)
    if (at >= 0) this.#open.splice(at, 1)
  }

  #remove(port: SourcePort): void {
    this.#cancelIdleClose(port)
    this.#stopUsing(port)
    this.#all.delete(port)
  }
}
