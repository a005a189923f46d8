import type { Random, SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import { type DnsExchange, type DnsServerAddress, type ServerQuery, SILENT } from "../dns-types.ts"
import { isEncodableName, UNENCODABLE_NAME_REPLY } from "./packet.ts"
import { SourcePort } from "./source-port.ts"
import { createTcpExchange } from "./tcp-exchange.ts"

type UdpExchangeDeps = { readonly random: Random; readonly setTimer: SetTimer; readonly stopwatch: Stopwatch }

/** How many source ports towards one server take new questions. An attacker has to guess the port and the id. */
export const PORTS_MAX = 64

/** How many questions one source port sends before another port replaces it. */
export const PORT_QUERIES_MAX = 32

/** How many questions in a row are sent from one port: a check asks four at once, and their replies are then read together. */
export const PORT_RUN = 4

/** How long a source port stays open without a pending question. An open port is a target. */
export const PORT_IDLE_MS = 5000

/**
 * Queries the server over UDP, from many source ports (RFC 5452 §9.2) and with random ids, and repeats a truncated query over TCP. If nothing
 * listens at the server's port, or there is no route to it, the question is `silent` at once. Each question gets a new port until `PORTS_MAX`
 * are open, and then a random one of them for the next `PORT_RUN` questions. A port with `PORT_QUERIES_MAX` questions takes no more, and is closed
 * after its last reply; an idle port is closed after `PORT_IDLE_MS`.
 */
export class UdpExchange implements DnsExchange {
  readonly #server: DnsServerAddress
  readonly #deps: UdpExchangeDeps
  readonly #portDeps: ConstructorParameters<typeof SourcePort>[1]
  readonly #tcp: DnsExchange
  /** The ports that take questions. */
  readonly #available: SourcePort[] = []
  /** Every open port. */
  readonly #open = new Set<SourcePort>()
  /** The port of the next `#runLeft` questions; null: another one is picked. */
  #runPort: SourcePort | null = null
  #runLeft = 0
  #isClosed = false

  constructor(server: DnsServerAddress, deps: UdpExchangeDeps) {
    this.#server = server
    this.#deps = deps
    this.#tcp = createTcpExchange(server, deps.random)
    this.#portDeps = {
      random: deps.random,
      onClose: port => this.#remove(port),
      onIdle: port => this.#onIdle(port),
      onTruncated: this.#tcp.send,
    }
  }

  /** How many ports are open. */
  get size(): number {
    return this.#open.size
  }

  send(query: ServerQuery): void {
    if (!isEncodableName(query.question.name)) query.onReply(UNENCODABLE_NAME_REPLY)
    else if (this.#isClosed) query.onReply(SILENT)
    else {
      const port = this.#pickPort()
      port.send(query)
      if (port.queryCount >= PORT_QUERIES_MAX) this.#stopUsing(port)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const port of this.#open) port.close()
    this.#tcp.close()
  }

  #pickPort(): SourcePort {
    if (this.#available.length < PORTS_MAX) return this.#openPort()
    if (this.#runPort === null || this.#runLeft === 0) {
      const byte = this.#deps.random(1)[0] ?? 0
      this.#runPort = this.#available[byte % PORTS_MAX] ?? this.#openPort()
      this.#runLeft = PORT_RUN
    }
    this.#runLeft--
    return this.#runPort
  }

  #openPort(): SourcePort {
    const port = new SourcePort(this.#server, this.#portDeps)
    this.#open.add(port)
    this.#available.push(port)
    return port
  }

  /** Closes a port without pending questions: at once if it takes no more questions, else after `PORT_IDLE_MS`. */
  #onIdle(port: SourcePort): void {
    if (port.queryCount >= PORT_QUERIES_MAX) port.close()
    else {
      port.idleSinceMs = this.#deps.stopwatch()
      if (port.cancelIdleTimer === null) this.#closeIdle(port, PORT_IDLE_MS)
    }
  }

  /** Closes the port once it has been idle for long enough. It may be used meanwhile, so one timer outlives many questions. */
  #closeIdle(port: SourcePort, ms: number): void {
    port.cancelIdleTimer = this.#deps.setTimer(ms, () => {
      port.cancelIdleTimer = null
      if (port.pendingCount > 0) return
      const leftMs = port.idleSinceMs + PORT_IDLE_MS - this.#deps.stopwatch()
      if (leftMs > 0) this.#closeIdle(port, leftMs)
      else port.close()
    })
  }

  #stopUsing(port: SourcePort): void {
    if (port === this.#runPort) this.#runPort = null
    const index = this.#available.indexOf(port)
    if (index >= 0) this.#available.splice(index, 1)
  }

  #remove(port: SourcePort): void {
    port.cancelIdleTimer?.()
    this.#stopUsing(port)
    this.#open.delete(port)
  }
}
