import type { Random, SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { DnsExchange, DnsQuestion, DnsServerAddress, ServerReply } from "../dns-types.ts"
import { isEncodableName, UNENCODABLE_NAME_REPLY } from "./packet.ts"
import { SourcePort, type UdpReply } from "./source-port.ts"
import { type ClosableExchange, createTcpExchange } from "./tcp-exchange.ts"

const SILENT: ServerReply = { kind: "silent" }

/**
 * Queries the server over UDP, from many source ports and with random ids, and repeats a truncated query over TCP within the
 * same timeout. If nothing listens at the server's port, or there is no route to it, the question is `silent` at once.
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
  const overTcp = (question: DnsQuestion, timeoutMs: number): ServerReply | Promise<ServerReply> =>
    timeoutMs > 0 ? tcp.exchange(question, timeoutMs) : SILENT
  const exchange: DnsExchange = (question, timeoutMs) => {
    if (!isEncodableName(question.name)) return Promise.resolve(UNENCODABLE_NAME_REPLY)
    if (isClosed) return Promise.resolve(SILENT)
    return new Promise(resolve => {
      const endsAtMs = stopwatch() + timeoutMs
      const cancelTimer = setTimer(timeoutMs, () => {
        cancelQuery()
        resolve(SILENT)
      })
      const cancelQuery = ports.query(question, reply => {
        cancelTimer()
        resolve(reply.kind === "truncated" ? overTcp(question, endsAtMs - stopwatch()) : reply)
      })
    })
  }
  const close = (): void => {
    isClosed = true
    ports.close()
    tcp.close()
  }
  return { exchange, close }
}

/** How many source ports towards one server take new questions. An attacker has to guess the port and the id. */
export const PORTS_MAX = 64

/** How many questions one source port sends before another port replaces it. */
export const PORT_QUERIES_MAX = 32

/** How many questions in a row are sent from one port: a check asks four at once, and their replies are then read together. */
export const PORT_RUN = 4

/** How long a source port stays open without a pending question. An open port is a target. */
export const PORT_IDLE_MS = 5000

/**
 * The source ports towards one server (RFC 5452 §9.2). Each question gets a new port until `PORTS_MAX` are open, and then a
 * random one of them for the next `PORT_RUN` questions. A port with `PORT_QUERIES_MAX` questions takes no more, and is closed after its last reply; an idle port
 * is closed after `PORT_IDLE_MS`.
 */
export class SourcePortPool {
  readonly #server: DnsServerAddress
  readonly #random: Random
  readonly #setTimer: SetTimer
  /** The ports that take questions. */
  readonly #available: SourcePort[] = []
  /** Every open port. */
  readonly #open = new Set<SourcePort>()
  /** The idle ports, each with the function that cancels its timer. */
  readonly #idle = new Map<SourcePort, () => void>()

  /** The port of the next `#runLeft` questions; null: another one is picked. */
  #runPort: SourcePort | null = null
  #runLeft = 0

  constructor(server: DnsServerAddress, random: Random, setTimer: SetTimer) {
    this.#server = server
    this.#random = random
    this.#setTimer = setTimer
  }

  /** How many ports are open. */
  get size(): number {
    return this.#open.size
  }

  /** Sends the question. `onReply` is called once at most, and not after the returned function, which cancels the query. */
  query(question: DnsQuestion, onReply: (reply: UdpReply) => void): () => void {
    const port = this.#pickPort()
    this.#cancelIdleClose(port)
    const cancel = port.query(question, onReply)
    if (port.queryCount >= PORT_QUERIES_MAX) this.#stopUsing(port)
    return cancel
  }

  /** Closes every port. Pending questions are `silent`. */
  close(): void {
    for (const port of this.#open) port.close()
  }

  #pickPort(): SourcePort {
    if (this.#available.length < PORTS_MAX) return this.#openPort()
    if (this.#runPort === null || this.#runLeft === 0) {
      const byte = this.#random(1)[0] ?? 0
      this.#runPort = this.#available[byte % PORTS_MAX] ?? this.#openPort()
      this.#runLeft = PORT_RUN
    }
    this.#runLeft--
    return this.#runPort
  }

  #openPort(): SourcePort {
    const port: SourcePort = new SourcePort(
      this.#server,
      this.#random,
      () => this.#remove(port),
      () => this.#onIdle(port),
    )
    this.#open.add(port)
    this.#available.push(port)
    return port
  }

  /** Closes a port without pending questions: at once if it takes no more questions, else after `PORT_IDLE_MS`. */
  #onIdle(port: SourcePort): void {
    if (port.queryCount >= PORT_QUERIES_MAX) port.close()
    else
      this.#idle.set(
        port,
        this.#setTimer(PORT_IDLE_MS, () => port.close()),
      )
  }

  #cancelIdleClose(port: SourcePort): void {
    this.#idle.get(port)?.()
    this.#idle.delete(port)
  }

  #stopUsing(port: SourcePort): void {
    if (port === this.#runPort) this.#runPort = null
    const index = this.#available.indexOf(port)
    if (index >= 0) this.#available.splice(index, 1)
  }

  #remove(port: SourcePort): void {
    this.#cancelIdleClose(port)
    this.#stopUsing(port)
    this.#open.delete(port)
  }
}
