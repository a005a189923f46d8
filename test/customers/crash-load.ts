import { type HttpAnswer, sendRequest } from "../../bench/load/ask.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import type { Ledger } from "./crash-ledger.ts"
import { Progress } from "./crash-progress.ts"
import type { Seat } from "./crash-seat.ts"

/** After so many answers each, a report is sent, and a key created or revoked. */
const REPORT_EVERY = 15
const WRITE_EVERY = 10
/** The key of the clients and those that a killed writer has made unheard leave room for so many (five in all). */
const WRITTEN_KEYS_MAX = 2

/** An account, and the key of its clients. */
export type Account = { readonly id: string; readonly key: string }

/** The clients of one account, those who report, and who creates and revokes keys, all until the quota is used up. */
export class Load {
  /** Counts the answers to checks. */
  readonly progress = new Progress()
  /** Answers that must not be, in sentences. */
  readonly breaches: string[] = []
  /** Checks and reports that were admitted: each of them costs a unit. */
  admitted = 0
  /** Checks that were answered `quota_exceeded`. */
  refused = 0
  /** Checks and reports that a kill has left without an answer. */
  unanswered = 0
  readonly #account: Account
  readonly #ledger: Ledger
  readonly #servers: readonly Seat[]

  constructor(account: Account, ledger: Ledger, servers: readonly Seat[]) {
    this.#account = account
    this.#ledger = ledger
    this.#servers = servers
  }

  /** Lets so many clients ask until they are refused and `killing` is over, while reports are sent and keys written. */
  async run(clients: number, killing: Promise<void>, writer: Seat, name: string): Promise<void> {
    let isKilled = false
    void killing.then(() => {
      isKilled = true
    })
    const asking = Array.from({ length: clients }, (_, at) => {
      const server = this.#servers[at % this.#servers.length]
      return server && this.client(server, () => isKilled)
    })
    const others = [this.#write(writer), ...this.#servers.map((server, at) => this.#report(server, `${name}-${at}`))]
    await Promise.all(asking).finally(() => this.progress.end())
    await Promise.all(others)
  }

  /** Checks until it is refused and may end. */
  async client(server: Seat, mayEnd: () => boolean): Promise<void> {
    for (;;) {
      const answer = await this.#ask(server, "postCheck", { email: "jane@gmail.com" })
      if (answer === null) {
        this.unanswered++
        continue
      }
      this.progress.step()
      if (answer.status === 200) this.admitted++
      else if (answer.status === 429 && JSON.parse(answer.body).code === "quota_exceeded") this.refused++
      else return void this.breaches.push(`a check was answered ${answer.status} ${answer.body}`)
      if (answer.status === 429 && mayEnd()) return
    }
  }

  async #report(server: Seat, name: string): Promise<void> {
    for (let number = 0; !this.progress.isOver; number++) {
      const body = { domain: `${name}-${number}.com`, expected_category: "business" }
      const answer = await this.#ask(server, "postFeedback", body)
      if (answer === null) this.unanswered++
      else if (answer.status === 202) {
        this.admitted++
        this.#ledger.reported(JSON.parse(answer.body).id)
      } else if (answer.status !== 429 || JSON.parse(answer.body).code !== "quota_exceeded")
        this.breaches.push(`a report was answered ${answer.status} ${answer.body}`)
      await this.progress.reached(this.progress.count + REPORT_EVERY)
    }
  }

  async #write(writer: Seat): Promise<void> {
    const active: string[] = []
    while (!this.progress.isOver) {
      const id = active.length < WRITTEN_KEYS_MAX ? undefined : active.shift()
      if (id !== undefined) this.#ledger.asksToRevoke(id)
      const reply = await writer.ask(id === undefined ? `create ${this.#account.id}` : `revoke ${id}`)
      const [what, named = "", text = ""] = reply?.split(" ") ?? []
      if (what === "created") {
        this.#ledger.created(named, text)
        active.push(named)
      } else if (what === "revoked") this.#ledger.revoked(named)
      else if (what !== undefined && !what.startsWith("too_many_keys"))
        this.breaches.push(`the writer was told ${reply}`)
      await this.progress.reached(this.progress.count + WRITE_EVERY)
    }
  }

  async #ask(server: Seat, route: "postCheck" | "postFeedback", body: unknown): Promise<HttpAnswer | null> {
    const line = await server.ready()
    return await server.orKilled(() => request(line, route, this.#account.key, JSON.stringify(body)))
  }
}

/** Asks the server that printed the line when it started. Rejects when no whole answer comes. */
export function request(
  line: string | undefined,
  route: keyof typeof ROUTES,
  key: string,
  body = "",
): Promise<HttpAnswer> {
  const { method, path } = ROUTES[route]
  const url = new URL(path, /http:\S+/.exec(line ?? "")?.[0])
  return sendRequest({
    method,
    url,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body,
  })
}
