import type { Random, SetTimer } from "../../../base/outside-world.ts"
import { createRandomUint16s } from "../../../base/random-numbers.ts"
import { type DnsExchange, type DnsServerAddress, type ServerQuery, SILENT } from "../dns-types.ts"
import { isEncodableName, UNENCODABLE_NAME_REPLY } from "./packet.ts"
import { SourcePort } from "./source-port.ts"
import { createTcpExchange } from "./tcp-exchange.ts"

type UdpExchangeDeps = { readonly random: Random; readonly setTimer: SetTimer }

/** How many source ports towards one server take new questions. An attacker has to guess the port and the id. */
export const PORTS_MAX = 64

/** How many questions one source port sends, and for how long, before another port replaces it: what an attacker has of a port that he finds. */
export const PORT_QUERIES_MAX = 128
export const PORT_LIFE_MS = 2000

/** How many questions are sent together from one port at most: a check asks four at once, and their replies are then read together. */
export const PORT_RUN = 4

/**
 * Queries the server over UDP, from many source ports (RFC 5452 §9.2) and with random ids, and repeats a truncated query over TCP. If nothing
 * listens at the server's port, or there is no route to it, the question is `silent` at once. Each question gets a new port until `PORTS_MAX`
 * are open, and then a random one of them for up to `PORT_RUN` questions that are sent together. A port with `PORT_QUERIES_MAX` questions, or after `PORT_LIFE_MS`,
 * takes no more, and is closed when none is pending. The questions of a run are sent together, at the latest when the code that asks them has ended:
 * a check takes one call of the system.
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
      randomId: createRandomUint16s(deps.random),
      onClose: port => {
        this.#retire(port)
        this.#open.delete(port)
      },
      onTruncated: this.#tcp.send,
    }
  }

  /** How many ports are open. */
  get size(): number {
    return this.#open.size
  }

  send(query: ServerQuery): void {
    if (!isEncodableName(query.question.name)) query.receiver.onReply(query, UNENCODABLE_NAME_REPLY)
    else if (this.#isClosed) query.receiver.onReply(query, SILENT)
    else {
      const port = this.#pickPort()
      port.send(query)
      if (port.queryCount >= PORT_QUERIES_MAX) this.#retire(port)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const port of this.#open) port.close()
    this.#tcp.close()
  }

  #pickPort(): SourcePort {
    if (this.#available.length < PORTS_MAX) return this.#openPort()
    // A run that has been sent ends, so that the questions of the next check are not divided between two ports.
    if (this.#runPort === null || this.#runLeft === 0 || !this.#runPort.hasUnsent) {
      const byte = this.#deps.random(1)[0] ?? 0
      this.#runPort = this.#available[byte % PORTS_MAX] ?? this.#openPort()
      this.#runLeft = PORT_RUN
    }
    this.#runLeft--
    return this.#runPort
  }

  #openPort(): SourcePort {
    const port = new SourcePort(this.#server, this.#portDeps)
    port.cancelTimer = this.#deps.setTimer(PORT_LIFE_MS, () => this.#retire(port))
    this.#open.add(port)
    this.#available.push(port)
    return port
  }

  /** The port takes no more questions. */
  #retire(port: SourcePort): void {
    port.cancelTimer?.()
    if (port === this.#runPort) this.#runPort = null
    const index = this.#available.indexOf(port)
    if (index >= 0) this.#available.splice(index, 1)
    port.retire()
  }
}
