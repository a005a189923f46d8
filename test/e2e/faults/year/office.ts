import { createHmac } from "node:crypto"
import { ROUTES } from "../../../../src/contract/routes.ts"
import type { TestSmtp } from "../../../support/smtp-server.ts"
import type { TestServer } from "../../../support/test-server.ts"
import { until } from "../../../support/until.ts"
import { Customer } from "../customer.ts"
import { below } from "../fault.ts"
import type { Population } from "./population.ts"

/** People who come back each day, and how long a newcomer keeps the account. */
const DESKS = 6
const STAY_DAYS = 3
const REPORTS_A_DAY = 20
const DECISIONS_A_DAY = 5
const VISITORS_A_DAY = 10
const ROWS_A_LIST = 200
/** Entries of a block list, after which the oldest go again. */
const ENTRIES_KEPT = 5
/** The numbers of newcomers begin here. */
const FIRST_NEWCOMER = 1000
const JSON_TYPE = { "Content-Type": "application/json" }

export const ADMIN_EMAIL = "desk-0@faults.example"

/** What people do on pages and programs do besides checks, day after day: sign-ins, keys, lists, reports, decisions, jobs with callbacks. */
export class Office {
  readonly #server: TestServer
  readonly #mails: TestSmtp
  readonly #population: Population
  readonly #random: () => number
  readonly admin: Customer
  readonly #desks: readonly Customer[]
  #newcomers: Customer[] = []
  #newcomerCount = 0
  #reportCount = 0
  /** Receives callbacks, all of which have to be signed. */
  readonly #receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: request => this.#receive(request) })
  #callbackKey: string | null = null
  callbackCount = 0
  readonly breaches = new Set<string>()

  constructor(server: TestServer, mails: TestSmtp, population: Population, random: () => number) {
    this.#server = server
    this.#mails = mails
    this.#population = population
    this.#random = random
    this.admin = new Customer(server, 0, mails)
    this.#desks = Array.from({ length: DESKS }, (_, at) => new Customer(server, at + 1, mails))
  }

  /** A day of everybody. */
  async work(day: number): Promise<void> {
    await this.admin.signIn()
    for (const desk of this.#desks) {
      // Browsers keep their session for a month.
      if (desk.cookie === "" || day % 5 === 0) await desk.signIn()
      await desk.changeKeys()
      await desk.report()
      await this.#changeList(desk)
    }
    await this.#comeAndGo()
    await this.#report()
    await this.#decide()
    await this.#visit(day)
    await this.#checkList(day)
  }

  async publish(version: string, isMaterial: boolean): Promise<void> {
    const url = "https://year.example/terms"
    await this.admin.send(ROUTES.postAdminTerms.path, { version, url, material: isMaterial ? "yes" : "no" })
  }

  async withdraw(version: string): Promise<void> {
    await this.admin.send(ROUTES.postAdminTermsWithdrawal.path, { version })
  }

  /** What was acknowledged to those who come back, and is gone. */
  async lost(): Promise<readonly string[]> {
    return (await Promise.all(this.#desks.map(desk => desk.lost()))).flat()
  }

  stop(): void {
    void this.#receiver.stop(true)
  }

  async #changeList(desk: Customer): Promise<void> {
    await desk.block()
    if (desk.entries.length <= ENTRIES_KEPT) return
    const entries = desk.entries.shift() ?? ""
    await desk.send(ROUTES.postListEntries.path, { list: "block", list_action: "remove", entries })
  }

  /** Somebody signs up, somebody is invited and never comes, and somebody deletes an account. */
  async #comeAndGo(): Promise<void> {
    const newcomer = new Customer(this.#server, FIRST_NEWCOMER + this.#newcomerCount++, this.#mails)
    await newcomer.signIn()
    await newcomer.makeKey()
    const invited = `guest${this.#newcomerCount}@faults.example`
    await this.admin.send(ROUTES.postAdminInvitation.path, { "new-email": invited, tier: "0" })
    this.#newcomers.push(newcomer)
    if (this.#newcomers.length <= STAY_DAYS) return
    const leaving = this.#newcomers.shift()
    await leaving?.signIn()
    await leaving?.send(ROUTES.postAccountDeletion.path, { email: leaving.email })
  }

  /** Programs report by the API, each report twice under one idempotency key. */
  async #report(): Promise<void> {
    for (let report = 0; report < REPORTS_A_DAY; report++) {
      const name = `report${this.#reportCount++}-year.com`
      const key = this.#population.secret[below(this.#random, this.#population.secret.length)] ?? ""
      const headers = { ...JSON_TYPE, "Idempotency-Key": name }
      const body = JSON.stringify({ domain: name, expected_category: "disposable", comment: "as seen in our logs" })
      for (let time = 0; time < 2; time++) {
        const { status } = await this.#server.ask(`POST ${ROUTES.postFeedback.path}`, { key, headers, body })
        if (status !== 202) this.breaches.add(`a report is answered ${status}`)
      }
    }
  }

  async #decide(): Promise<void> {
    const page = await this.admin.page(ROUTES.adminFeedback.path)
    const ids = new Set(page.matchAll(/fb_\w+/g).map(([id]) => id))
    for (const [at, id] of [...ids].slice(0, DECISIONS_A_DAY).entries()) {
      const route = at % 2 === 0 ? ROUTES.postAdminAccept : ROUTES.postAdminReject
      await this.admin.send(route.path.replace(":id", id), { seen: "received" })
    }
  }

  /** Visitors of the home page check something without a key. */
  async #visit(day: number): Promise<void> {
    for (let visitor = 0; visitor < VISITORS_A_DAY; visitor++) {
      const headers = {
        Origin: this.#server.url,
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Forwarded-For": `203.${day % 250}.${visitor}.${below(this.#random, 250)}`,
      }
      const body = "input=jane%40gmail.com"
      const { status } = await this.#server.ask(`POST ${ROUTES.postHome.path}`, { headers, body })
      if (status !== 200) this.breaches.add(`a visitor is answered ${status}`)
    }
  }

  /** A list is uploaded and checked to its end, and its callback arrives; once a week it goes where nobody takes it. */
  async #checkList(day: number): Promise<void> {
    const [key = ""] = this.#population.secret
    const ask = (line: string, body?: string) =>
      this.#server.ask(line, { key, body, headers: { "Content-Type": "text/plain" } })
    if (this.#callbackKey === null) {
      const { body } = await ask(`POST ${ROUTES.postCallbackSecret.path}`)
      this.#callbackKey = JSON.parse(body).secret
    }
    const isLost = day % 7 === 6
    const before = this.callbackCount
    const callback = encodeURIComponent(`http://localhost:${this.#receiver.port}/${isLost ? "lost" : ""}`)
    const list = Array.from({ length: ROWS_A_LIST }, (_, at) => `jane@row${at}-of-${day}.com`).join("\n")
    const { status, body } = await ask(`POST ${ROUTES.postJob.path}?callback=${callback}`, list)
    if (status !== 202) return void this.breaches.add(`a list is answered ${status}: ${body.slice(0, 200)}`)
    const path = ROUTES.getJob.path.replace(":id", JSON.parse(body).id)
    await until(
      async () => JSON.parse((await ask(`GET ${path}`)).body).state === "done",
      () => "a list is not checked",
    )
    await until(
      () => this.callbackCount > before,
      () => "no callback came",
    )
  }

  async #receive(request: Request): Promise<Response> {
    this.callbackCount++
    const body = await request.text()
    const [id, at] = [request.headers.get("webhook-id"), request.headers.get("webhook-timestamp")]
    const secret = Buffer.from((this.#callbackKey ?? "").replace("whsec_", ""), "base64")
    const mac = createHmac("sha256", secret).update(`${id}.${at}.${body}`).digest("base64")
    if (request.headers.get("webhook-signature")?.includes(mac) !== true)
      this.breaches.add("a callback has a wrong signature")
    return new Response(null, { status: request.url.endsWith("/lost") ? 503 : 204 })
  }
}
