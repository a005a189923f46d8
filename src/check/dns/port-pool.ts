import type { Random } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import type { ServerAddress } from "./exchange.ts"
import type { Question } from "./question.ts"
import { type Heard, UdpPort } from "./udp-port.ts"

/** How many source ports of one server are open for new questions: what an attacker has to guess beside the id. */
export const PORTS_MAX = 64

/** How many questions one source port serves before a new one takes its place. */
export const PORT_QUESTIONS_MAX = 32

/** How long a source port stays open without a question, so that an idle server leaves none open as a target. */
export const PORT_IDLE_MS = 5000

/**
 * The source ports towards one server (RFC 5452 §9.2). A question has a new one until `PORTS_MAX` are open, then any of
 * them. A port that has served its questions takes no more and is closed after the last of them, an idle one after a while.
 * One port for all questions of a turn was tried: it saves nothing.
 */
export class PortPool {
  readonly #server: ServerAddress
  readonly #random: Random
  readonly #later: Later
  /** Those that take questions. */
  readonly #open: UdpPort[] = []
  /** Those, and the ones that wait for their last replies. */
  readonly #all = new Set<UdpPort>()
  /** How to call off the closing of those that have nothing to wait for. */
  readonly #idle = new Map<UdpPort, () => void>()

  constructor(server: ServerAddress, random: Random, later: Later) {
    this.#server = server
    this.#random = random
    this.#later = later
  }

  /** How many ports are open. */
  get size(): number {
    return this.#all.size
  }

  /** Puts the question; `hear` is called at most once, and not any more after the returned function was. */
  ask(question: Question, hear: (heard: Heard) => void): () => void {
    const port = this.#pick()
    this.#keep(port)
    const forget = port.ask(question, heard => {
      this.#rest(port)
      hear(heard)
    })
    if (port.askedCount >= PORT_QUESTIONS_MAX) this.#retire(port)
    return () => {
      forget()
      this.#rest(port)
    }
  }

  /** Closes every port; whoever waits hears `silent`. */
  close(): void {
    for (const port of this.#all) port.close()
  }

  #pick(): UdpPort {
    if (this.#open.length < PORTS_MAX) return this.#added()
    const [octet = 0] = this.#random(1)
    return this.#open[octet % PORTS_MAX] ?? this.#added()
  }

  #added(): UdpPort {
    const port: UdpPort = new UdpPort(this.#server, this.#random, () => this.#drop(port))
    this.#all.add(port)
    this.#open.push(port)
    return port
  }

  /** Nothing waits at the port any more: what has served is closed now, the rest when nobody asks for a while. */
  #rest(port: UdpPort): void {
    if (!this.#all.has(port) || port.waitingCount > 0) return
    if (!this.#open.includes(port)) {
      port.close()
      return
    }
    this.#keep(port)
    const callOff = this.#later(PORT_IDLE_MS, () => port.close())
    this.#idle.set(port, callOff)
  }

  #keep(port: UdpPort): void {
    this.#idle.get(port)?.()
    this.#idle.delete(port)
  }

  #retire(port: UdpPort): void {
    const at = this.#open.indexOf(port)
    if (at >= 0) this.#open.splice(at, 1)
  }

  #drop(port: UdpPort): void {
    this.#keep(port)
    this.#retire(port)
    this.#all.delete(port)
  }
}
