import { LIMITS } from "../../../src/contract/limits.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import type { Answered } from "../../support/loopback.ts"
import type { TestSmtp } from "../../support/smtp-server.ts"
import type { TestServer } from "../../support/test-server.ts"
import { until } from "../../support/until.ts"

/** A browser of one account of a server, and what was acknowledged to it. A deed that is not acknowledged rejects. */
export class Customer {
  readonly email: string
  cookie = ""
  /** By id; nothing can be said of a key whose revocation was asked for and not acknowledged. */
  readonly keys = new Map<string, { readonly text: string; state: "active" | "asked" | "revoked" }>()
  readonly reports: string[] = []
  readonly entries: string[] = []
  /** The version of the terms that were accepted; null: none were. */
  accepted: string | null = null
  #count = 0
  readonly #victim: TestServer
  readonly #number: number
  readonly #mails: TestSmtp | null

  /** `mails`: where its codes arrive; null: the server has no mail server, and logs them. */
  constructor(victim: TestServer, number: number, mails: TestSmtp | null = null) {
    this.#mails = mails
    this.#victim = victim
    this.#number = number
    this.email = `desk-${number}@faults.example`
  }

  /** How many deeds were acknowledged. */
  get acknowledged(): number {
    const revoked = this.keys
      .values()
      .filter(({ state }) => state === "revoked")
      .toArray().length
    const signIn = this.cookie === "" ? 0 : 1
    return (
      signIn + this.keys.size + revoked + this.reports.length + this.entries.length + (this.accepted === null ? 0 : 1)
    )
  }

  /** Signs in by the code that was mailed, or stands in the log. */
  async signIn(): Promise<void> {
    const readCode = this.#mails === null ? await this.#loggedCode() : this.#mailedCode(this.#mails)
    const response = await this.send(ROUTES.postSignIn.path, { email: this.email })
    const pending = cookieOf(response, "mailkind_sign_in")
    const entered = await this.send(ROUTES.postSignInCode.path, { code: await readCode() }, pending)
    this.cookie = cookieOf(entered, "mailkind_session")
  }

  /** Reads the next code of the log. */
  async #loggedCode(): Promise<() => Promise<string>> {
    const seen = codesIn(await this.#victim.logged(/^/)).length
    const isThere = new RegExp(`(?:[\\s\\S]*?"code":"\\d{6}"){${seen + 1}}`)
    return async () => codesIn(await this.#victim.logged(isThere))[seen] ?? ""
  }

  /** Reads the code of the next mail to this address. */
  #mailedCode({ taken }: TestSmtp): () => Promise<string> {
    const seen = taken.length
    const codes = () => taken.slice(seen).flatMap(({ to, raw }) => (to.includes(this.email) ? codesInMail(raw) : []))
    return async () => {
      await until(
        () => codes().length > 0,
        () => "no code was mailed",
      )
      return codes()[0] ?? ""
    }
  }

  /** Makes a key, or revokes the oldest one when there are some. */
  async changeKeys(): Promise<void> {
    const active = this.keys
      .entries()
      .filter(([, { state }]) => state === "active")
      .toArray()
    const [oldest] = active
    if (oldest === undefined || active.length < KEYS_KEPT) return await this.makeKey()
    const [id, key] = oldest
    key.state = "asked"
    await this.send(ROUTES.postKeyRevoke.path.replace(":id", id), {})
    key.state = "revoked"
  }

  /** Makes a key, or room for one: a kill may have left some that nobody was told of, or whose revocation it broke off. */
  async makeKey(): Promise<void> {
    const form = await this.page(ROUTES.newKey.path)
    const idempotencyKey = /name="idempotency_key" value="([^"]*)"/.exec(form)?.[1]
    if (idempotencyKey === undefined) return await this.#revokeUnheard(await this.page(ROUTES.keys.path))
    const { body } = await this.send(ROUTES.postKey.path, {
      idempotency_key: idempotencyKey,
      name: `key ${this.#count++}`,
      kind: "secret",
    })
    if (TOO_MANY_KEYS.test(body)) return
    const text = /svc_live_[0-9A-Za-z]{38}/.exec(body)?.[0]
    const id = KEY_PATH.exec(body)?.[1]
    if (text === undefined || id === undefined) throw new Error("no key was made")
    this.keys.set(id, { text, state: "active" })
  }

  async #revokeUnheard(page: string): Promise<void> {
    const ids = page.matchAll(new RegExp(KEY_PATH, "g")).map(([, id = ""]) => id)
    const unheard = ids.find(id => (this.keys.get(id)?.state ?? "asked") === "asked")
    if (unheard === undefined) throw new Error("there is no form for a key, and none too many")
    await this.send(ROUTES.postKeyRevoke.path.replace(":id", unheard), {})
    const key = this.keys.get(unheard)
    if (key !== undefined) key.state = "revoked"
  }

  /** Reports a wrong verdict. */
  async report(): Promise<void> {
    const domain = `desk-${this.#number}-${this.#count++}.example.com`
    const key = this.keys.values().find(({ state }) => state === "active")?.text
    if (key === undefined) return
    const headers = { "Content-Type": "application/json" }
    const body = JSON.stringify({ domain, expected_category: "business" })
    const answer = await this.#victim.ask(`POST ${ROUTES.postFeedback.path}`, { key, headers, body })
    // An account sends so many reports a day, and no more.
    if (answer.status === 429 && this.reports.length >= LIMITS.feedbackPerDay) return
    if (answer.status !== 202) throw new Error(`a report was answered ${answer.status}`)
    this.reports.push(JSON.parse(answer.body).id)
  }

  /** Puts an entry on the block list. */
  async block(): Promise<void> {
    const entries = `blocked-${this.#number}-${this.#count++}.com`
    await this.send(ROUTES.postListEntries.path, { list: "block", list_action: "add", entries })
    this.entries.push(entries)
  }

  /** Accepts the terms of this version. */
  async accept(version: string): Promise<void> {
    await this.send(ROUTES.postTermsAcceptance.path, { version })
    this.accepted = version
  }

  /** What was acknowledged and is not there, in sentences. */
  async lost(): Promise<string[]> {
    if (this.cookie === "") return []
    const kept = await this.#get(ROUTES.accountExport.path)
    if (kept.status !== 200) return [`a browser that was signed in is answered ${kept.status}`]
    const { account, feedback } = JSON.parse(kept.body)
    const block = await this.page("/dashboard/lists/block.txt")
    const found = new Set([...feedback.map(({ id }: { readonly id: string }) => id), ...block.split("\n")])
    const lost = [...this.reports, ...this.entries]
      .filter(one => !found.has(one))
      .map(one => `${one} was acknowledged and is gone`)
    if (this.accepted !== null && account.accepted_terms_version !== this.accepted)
      lost.push("accepted terms are not accepted")
    for (const [id, { text, state }] of this.keys) {
      const { status } = await this.#victim.ask(`GET ${ROUTES.getUsage.path}`, { key: text })
      if (state !== "asked" && status !== (state === "active" ? 200 : 401))
        lost.push(`${id} was acknowledged as ${state} and is answered ${status}`)
    }
    return lost
  }

  /** The page of a path. Rejects when it is another one. */
  async page(path: string): Promise<string> {
    const { status, body } = await this.#get(path)
    if (status !== 200) throw new Error(`${path} was answered ${status}`)
    return body
  }

  /** Sends a form. Rejects when it is refused. */
  async send(path: string, fields: Readonly<Record<string, string>>, cookie = this.cookie): Promise<Answered> {
    const headers = {
      Cookie: cookie,
      Origin: this.#victim.url,
      "Content-Type": "application/x-www-form-urlencoded",
      // Sign-ins of one client address are limited.
      "X-Forwarded-For": `10.9.${this.#number >> 8}.${this.#number & 255}`,
    }
    const answer = await this.#victim.ask(`POST ${path}`, { headers, body: new URLSearchParams(fields).toString() })
    if (answer.status >= 400 && !TOO_MANY_KEYS.test(answer.body))
      throw new Error(`${path} was answered ${answer.status}`)
    return answer
  }

  #get(path: string): Promise<Answered> {
    return this.#victim.ask(`GET ${path}`, { headers: { Cookie: this.cookie } })
  }
}

/** Settings under which desks can sign in one after the other. */
export const CUSTOMER_SETTINGS: Readonly<Record<string, string>> = {
  MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
  MAILKIND_DEFAULT_TIER: "4",
}

/** What the form says when the account has created as many keys as it may a day. */
const TOO_MANY_KEYS = /keys today/
const KEY_PATH = /\/dashboard\/keys\/(key_\w+)/

/** Of the five that an account may have, a kill may leave two that nobody was told of. */
const KEYS_KEPT = 2

/** The subject of the mail begins with it. */
const codesInMail = (raw: string): readonly string[] =>
  [...raw.matchAll(/^subject: (\d{6}) /gim)].map(([, code = ""]) => code)

const codesIn = (log: string): readonly string[] => [...log.matchAll(/"code":"(\d{6})"/g)].map(([, code = ""]) => code)

function cookieOf({ headers }: Answered, name: string): string {
  const all = [headers["set-cookie"] ?? []].flat()
  const found = all.map(set => /^([^=]+)=([^;]+)/.exec(set)).find(parts => parts?.[1] === name && parts[2] !== "")
  if (found === undefined) throw new Error(`no cookie ${name} was given`)
  return `${name}=${found?.[2] ?? ""}`
}
