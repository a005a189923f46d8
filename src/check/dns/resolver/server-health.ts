import type { ServerReply } from "../dns-types.ts"

/** The fault of a server with the code of it, if it is known, and how many questions it has answered. */
type ServerState = { fault: keyof typeof FAULT_RANKS; why: string | null; answerCount: number }

/** What is wrong with a server, and the code of it: of its reply, such as REFUSED, or of the system, such as ECONNREFUSED. */
export type ServerFault = Readonly<Pick<ServerState, "fault" | "why">>

/** A failure may be the fault of the question. Silence is worse: it costs every question its share of the timeout. */
const FAULT_RANKS = { none: 0, failed: 1, silent: 2 } as const

/**
 * Orders servers by their health; a server is its index in the list of exchanges. A fault puts a server behind the healthy ones
 * until it answers, and it is queried only if those have faults too. So a dead server costs its share of the timeout once.
 */
export class ServerHealth {
  readonly #servers: readonly ServerState[]
  #preferred = 0
  /** All servers, the healthiest first; null: a fault or the preference has changed. */
  #order: readonly number[] | null = null

  constructor(count: number) {
    this.#servers = Array.from({ length: count }, () => ({ fault: "none", why: null, answerCount: 0 }))
  }

  /** How many questions the server has answered. */
  answerCount(server: number): number {
    return this.#servers[server]?.answerCount ?? 0
  }

  /** What is wrong with each server, in their order. */
  faults(): readonly ServerFault[] {
    return this.#servers.map(({ fault, why }) => ({ fault, why }))
  }

  /** At most `countMax` servers, the healthiest first. Of equal servers the preferred one is first, the others keep their order. */
  healthiest(countMax: number): readonly number[] {
    this.#order ??= this.#servers
      .map(({ fault }, server) => ({ server, rank: 2 * FAULT_RANKS[fault] + (server === this.#preferred ? 0 : 1) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ server }) => server)
    return this.#order.length > countMax ? this.#order.slice(0, countMax) : this.#order
  }

  /** Records the reply to a question that was sent after `answersBefore` answers of the server. */
  record(server: number, reply: ServerReply, answersBefore: number): void {
    const { kind } = reply
    const health = this.#servers[server]
    if (health === undefined) return
    // A server that answered another question since then is alive: a packet was lost, or it cannot answer this question.
    if (kind === "silent" && health.answerCount > answersBefore) return
    if (kind === "answered") health.answerCount++
    const fault = kind === "answered" ? "none" : kind
    if (fault !== health.fault) this.#order = null
    health.fault = fault
    health.why = kind === "answered" ? null : (reply.why ?? null)
  }

  /** Puts the server first among those of equal health, until another is preferred. */
  prefer(server: number): void {
    if (server !== this.#preferred) this.#order = null
    this.#preferred = server
  }
}
