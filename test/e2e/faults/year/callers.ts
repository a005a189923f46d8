import { Agent, request } from "node:http"
import { Histogram } from "../../../../bench/load/histogram.ts"
import { below } from "../fault.ts"
import { ORIGIN, type Population } from "./population.ts"

const CONNECTIONS = 8
const BATCH_ITEMS = 20
/** Of so many accounts most checks come. */
const HOT_ACCOUNTS = 50
/** Domains of firms that are asked about again and again. */
const FIRMS = 5000

const LISTED = ["gmail.com", "mailinator.com", "mit.edu", "stripe.com", "outlook.com", "gov.uk", "duck.com", "web.de"]

/** What is sent, and the statuses that may come back. */
type Call = {
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly statuses: readonly number[]
}

/** Callers of all accounts, over connections that are kept. */
export class Callers implements Disposable {
  /** How long they waited, in microseconds, since it was last taken. */
  waits = new Histogram()
  answered = 0
  /** What was answered otherwise than it must be. */
  readonly breaches = new Map<string, number>()
  #newCount = 0
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  readonly #url: () => string
  readonly #population: Population
  readonly #random: () => number

  constructor(url: () => string, population: Population, random: () => number) {
    this.#url = url
    this.#population = population
    this.#random = random
  }

  /** A day's mix: mostly checks of hot and of cold accounts, batches, browsers, and what is refused. */
  async ask(count: number): Promise<void> {
    await this.#all(count, () => this.#mixed())
  }

  /** Checks of names of the lists by hot accounts, so many a second: what is compared over the year. */
  async askEvenly(count: number, perSecond: number): Promise<void> {
    const startedAt = performance.now()
    const paced: Promise<void>[] = []
    for (let at = 0; at < count; at++) {
      const waitMs = startedAt + (at / perSecond) * 1000 - performance.now()
      if (waitMs > 0) await Bun.sleep(waitMs)
      paced.push(this.#send(this.#check(LISTED[at % LISTED.length] ?? "", this.#hotKey())))
    }
    await Promise.all(paced)
  }

  /** Closes all connections: those of a server that ends. */
  disconnect(): void {
    this.#agent.destroy()
    this.#agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  async #all(count: number, next: () => Call): Promise<void> {
    let sent = 0
    const connection = async (): Promise<void> => {
      while (sent++ < count) await this.#send(next())
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  }

  #mixed(): Call {
    const share = this.#random()
    const key = this.#random() < 0.6 ? this.#hotKey() : this.#key()
    if (share < 0.88) return this.#check(this.#name(), key)
    if (share < 0.91) return this.#batch(key)
    if (share < 0.96) return this.#browser()
    const line = "GET /v1/check?domain=gmail.com"
    if (share < 0.97) return { line, headers: bearer(`svc_live_${"A".repeat(38)}`), statuses: [401] }
    if (share < 0.98) return { line, headers: {}, statuses: [401, 429] }
    return { line: "GET /v1/check", headers: bearer(key), statuses: [400] }
  }

  #check(name: string, key: string): Call {
    return { line: `GET /v1/check?email=jane@${name}`, headers: bearer(key), statuses: [200] }
  }

  #batch(key: string): Call {
    const body = JSON.stringify({ items: Array.from({ length: BATCH_ITEMS }, () => `jane@${this.#name()}`) })
    const headers = { ...bearer(key), "Content-Type": "application/json" }
    return { line: "POST /v1/check/batch", headers, body, statuses: [200] }
  }

  /** A form of a website: its key has a limit of requests a second for each client. */
  #browser(): Call {
    const key = this.#of(this.#population.publishable)
    const client = `198.51.${below(this.#random, 250)}.${below(this.#random, 250)}`
    const headers = { ...bearer(key), Origin: ORIGIN, "X-Forwarded-For": client }
    return { line: `GET /v1/check?email=jane@${this.#name()}`, headers, statuses: [200, 429] }
  }

  #name(): string {
    const share = this.#random()
    if (share < 0.6) return this.#of(LISTED)
    if (share < 0.9) return `firm${below(this.#random, FIRMS)}-trade.com`
    return `new${this.#newCount++}-harbor.com`
  }

  #hotKey(): string {
    return this.#of(this.#population.secret.slice(0, HOT_ACCOUNTS))
  }

  #key(): string {
    return this.#of(this.#population.secret)
  }

  #of(values: readonly string[]): string {
    return values[below(this.#random, values.length)] ?? ""
  }

  async #send(call: Call): Promise<void> {
    const sentAt = performance.now()
    const status = await this.#statusOf(call).catch((fault: unknown) => String(fault))
    this.waits.record((performance.now() - sentAt) * 1000)
    this.answered++
    if (typeof status === "number" && call.statuses.includes(status)) return
    const breach = `${call.line.replace(/@.*/, "@…")} is answered ${status}`
    this.breaches.set(breach, (this.breaches.get(breach) ?? 0) + 1)
  }

  #statusOf({ line, headers, body }: Call): Promise<number> {
    const [method = "", path = ""] = line.split(" ")
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#url()}${path}`, { method, headers, agent: this.#agent }, answer => {
        answer.resume()
        answer.on("error", reject)
        answer.on("end", () => resolve(answer.statusCode ?? 0))
      })
      sent.on("error", reject)
      sent.end(body)
    })
  }
}

const bearer = (key: string): Readonly<Record<string, string>> => ({ Authorization: `Bearer ${key}` })
