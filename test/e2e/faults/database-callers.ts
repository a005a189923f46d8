import { LIMITS } from "../../../src/contract/limits.ts"
import type { Answered } from "../../support/loopback.ts"
import type { TestServer } from "../../support/test-server.ts"
import type { Came, Seconds } from "./seconds.ts"

/** What the callers come with. Every key is active. */
export type Keyring = {
  /** Of accounts without a quota; the publishable one is for `PAGE`. */
  readonly known: string
  readonly publishable: string
  /** Of an account with a quota. */
  readonly metered: string
  /** Keys that no server has seen yet; each is used once. */
  readonly unseen: string[]
  /** Of accounts that send reports. */
  readonly reporters: readonly string[]
}

/** The email of the account whose keys commands make and revoke, and of those whose keys they make after so many of a day. */
export const OPERATED = "operated@faults.example"
export const OPERATED_NEXT: readonly string[] = Array.from({ length: 20 }, (_, at) => `operated-${at}@faults.example`)

/** The page that the publishable key is for. */
export const PAGE = "https://shop.example.com"

/** Each kind of caller, and how long each of them waits after an answer. What pages and nobody's keys may ask is little. */
export const PACES_MS = {
  known: 25,
  metered: 50,
  unseen: 250,
  page: 1200,
  keyless: 500,
  feedback: 100,
  batch: 200,
  command: 300,
} as const
type Kind = keyof typeof PACES_MS

/** Callers that ask nodes over one database all the time, and what was acknowledged to them. */
export class DatabaseCallers {
  readonly breaches: string[] = []
  /** Domains of the reports that were taken, and the id that each was given. */
  readonly reports = new Map<string, string>()
  /** Keys that commands made: their texts, and whether a revocation was acknowledged. Nothing can be said of `asked`. */
  readonly keys = new Map<string, { readonly text: string; state: "active" | "asked" | "revoked" }>()
  readonly #nodes: readonly TestServer[]
  readonly #keyring: Keyring
  readonly #seconds: Seconds
  #isOver = false
  #count = 0
  #madeCount = 0
  #working: readonly Promise<void>[] = []

  constructor(nodes: readonly TestServer[], keyring: Keyring, seconds: Seconds) {
    this.#nodes = nodes
    this.#keyring = keyring
    this.#seconds = seconds
  }

  /** Begins: callers of each kind at each node, and one who gives commands. */
  begin(): void {
    const asking = this.#nodes.flatMap(node => [
      this.#repeat("known", () => this.#check(node, this.#keyring.known)),
      this.#repeat("metered", () => this.#check(node, this.#keyring.metered)),
      this.#repeat("unseen", () => this.#check(node, this.#keyring.unseen.pop() ?? "")),
      this.#repeat("page", () => this.#check(node, this.#keyring.publishable, { Origin: PAGE })),
      this.#repeat("keyless", async () =>
        this.#came(await node.ask("GET /v1/check?email=business@mailkind.test"), 200),
      ),
      this.#repeat("batch", () => this.#post(node, "/v1/check/batch", { items: ["gmail.com", "mit.edu"] }, 200)),
      this.#repeat("feedback", this.#reporter(node)),
    ])
    this.#working = [...asking, this.#repeat("command", () => this.#command())]
  }

  /** Ends them, when each has its last answer. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#working)
  }

  /** True when a node serves what it has to ask the database for: a key that is new to it, and a report. */
  async isServed(node: TestServer): Promise<boolean> {
    const [seen, reported] = await Promise.all([
      this.#check(node, this.#keyring.unseen.pop() ?? ""),
      this.#report(node),
    ])
    return seen === "served" && reported === "served"
  }

  async #repeat(kind: Kind, ask: () => Promise<Came>): Promise<void> {
    while (!this.#isOver) {
      const askedAt = performance.now()
      const came = await ask().catch((fault: unknown): Came => {
        this.#breach(`${kind} had no answer: ${fault}`)
        return "other"
      })
      this.#seconds.note(kind, askedAt, came)
      await Bun.sleep(PACES_MS[kind])
    }
  }

  #check(node: TestServer, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Came> {
    return node.ask("GET /v1/check?domain=gmail.com", { key, headers }).then(answered => this.#came(answered, 200))
  }

  async #post(node: TestServer, path: string, sent: unknown, wanted: number): Promise<Came> {
    const headers = { "Content-Type": "application/json" }
    const body = JSON.stringify(sent)
    return this.#came(await node.ask(`POST ${path}`, { key: this.#keyring.known, headers, body }), wanted)
  }

  /** Reports one domain after the other, each again until it is taken, as whoever is refused is told to. */
  #reporter(node: TestServer): () => Promise<Came> {
    let domain = this.#newDomain()
    return async () => {
      const came = await this.#report(node, domain)
      if (came === "served") domain = this.#newDomain()
      return came
    }
  }

  async #report(node: TestServer, domain = this.#newDomain()): Promise<Came> {
    const headers = { "Content-Type": "application/json" }
    const body = JSON.stringify({ domain, expected_category: "relay" })
    // An account sends so many reports a day. Each domain is one account's, since a report that is sent again counts once.
    const { reporters } = this.#keyring
    const key = reporters[Number(Bun.hash(domain) % BigInt(reporters.length))] ?? ""
    const answered = await node.ask("POST /v1/feedback", { key, headers, body })
    const came = this.#came(answered, 202)
    if (came === "served") this.reports.set(domain, JSON.parse(answered.body).id)
    return came
  }

  /** Makes a key, or revokes the one that is not revoked: again, where that was asked for and not acknowledged. */
  async #command(): Promise<Came> {
    const node = this.#nodes[0]
    const active = this.keys.entries().find(([, { state }]) => state !== "revoked")
    if (active === undefined) {
      const account = OPERATED_NEXT[Math.floor(this.#madeCount++ / LIMITS.keysCreatedPerDayMax)] ?? OPERATED
      const made = await node?.command("key", "create", "--account", account, "--json")
      if (made?.code !== 0) return "refused"
      const { id, key } = JSON.parse(made.out)
      this.keys.set(id, { text: key, state: "active" })
      return "served"
    }
    const [id, key] = active
    key.state = "asked"
    const revoked = await node?.command("key", "revoke", id, "--json")
    if (revoked?.code !== 0) return "refused"
    key.state = "revoked"
    return "served"
  }

  /** What an answer is. A refusal has to say when to come back, by the header and in the body. */
  #came({ status, headers, body }: Answered, wanted: number): Came {
    if (status === wanted) return "served"
    const code = /"code":"(\w+)"/.exec(body)?.[1]
    if (status === 503 && code === "overloaded" && Number(headers["retry-after"]) > 0) return "refused"
    this.#breach(`an answer was ${status} ${code}, with Retry-After ${headers["retry-after"]}`)
    return "other"
  }

  #breach(description: string): void {
    if (this.breaches.length < 10) this.breaches.push(description)
  }

  #newDomain(): string {
    return `reported-${this.#count++}.example.com`
  }
}
