import type { Faults } from "../../support/dns-faults.ts"
import { type DnsServer, dnsServer } from "../../support/dns-server.ts"
import { openSmtp, type Refusal } from "../../support/smtp-server.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS } from "./customer.ts"
import { copiedToPostgres, type Doing, type Found, residentOf, tookMs } from "./fault.ts"

const CHECK_MS = 1500
const NAMES = 40

/** Firms that the DNS servers know. None is asked about twice: an answer that is held would hide what the servers do. */
const FIRMS = 30_000
const LOOK_AGAIN_MS = 20
const CANARY = "canary.example"

/** What servers of DNS do wrong. */
const DNS_FAULTS = {
  "say nothing": "silent",
  "fail (SERVFAIL)": "servfail",
  "deny every name": "nxdomain",
  "cut every answer, over TCP too": { udp: "truncated", tcp: "cut" },
  "answer with noise": "garbage",
  "answer under another id": "wrong_id",
  "answer for another name": "wrong_question",
  "hold their answers back": "held",
} as const satisfies Record<string, Faults>

/** Has the DNS servers of a server that checks go wrong in each way, die, and come back. */
export async function wrongDns({ times, program, isLong }: Doing): Promise<Found> {
  const records = { [`MX ${CANARY}`]: [`10 mx.${CANARY}`], [`A ${CANARY}`]: ["192.0.2.1"] }
  for (let at = 0; at < FIRMS; at++)
    Object.assign(records, { [`MX firm${at}-holding.com`]: [`10 mx.firm${at}-holding.com`] })
  using dns = await dnsServer(records)
  const settings = {
    MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILKIND_DNS_CANARIES: CANARY,
    MAILKIND_DNS_TIMEOUT_MS: "300",
    MAILKIND_CHECK_TIMEOUT_MS: String(CHECK_MS),
  }
  await using victim = new TestServer({ program, settings })
  await victim.start()
  const asker = new DnsAsker(victim)
  await asker.untilKnown()
  const before = residentOf(victim)
  let [doneCount, recoveryMs] = [0, 0]
  for (let time = 0; time < times; time++)
    for (const [name, hurt, mend] of dnsHurts(dns, isLong)) {
      await hurt()
      await asker.manyUnder(name)
      await mend()
      recoveryMs = Math.max(recoveryMs, await tookMs(() => asker.untilKnown()))
      doneCount++
    }
  return {
    did: `servers of DNS ${[...Object.keys(DNS_FAULTS), "died"].join("; ")}: every check was answered, listed names as ever, none called a name unknown to DNS, and ${Math.round(recoveryMs)} ms after the end DNS counted again`,
    ...{ times: doneCount, acknowledged: asker.answered, breaches: asker.breaches, backMs: asker.longestMs },
    memory: { before, after: residentOf(victim) },
  }
}

type Hurt = readonly [name: string, hurt: () => unknown, mend: () => unknown]

function dnsHurts(dns: DnsServer, isLong: boolean): readonly Hurt[] {
  const faults = Object.entries(DNS_FAULTS).map(
    ([name, faults]): Hurt => [
      name,
      () => dns.fault("*", faults),
      // What was held back is never sent: its asker has gone meanwhile.
      () => dns.fault("*", null),
    ],
  )
  const death: Hurt = ["died", () => dns.pause(), () => dns.resume()]
  // What is silent is waited for by the clock of the server.
  return isLong ? [...faults, death] : faults.filter(([name]) => /SERVFAIL|deny|id/.test(name))
}

class DnsAsker {
  readonly breaches: string[] = []
  answered = 0
  longestMs = 0
  #number = 0
  readonly #victim: TestServer

  constructor(victim: TestServer) {
    this.#victim = victim
  }

  /** Checks names that nobody asked about, and one that lists know, all at once. */
  async manyUnder(fault: string): Promise<void> {
    const names = Array.from({ length: NAMES }, () => this.#fresh())
    const [listed, ...others] = await Promise.all(["mailinator.com", ...names].map(name => this.#check(name)))
    if (listed?.category !== "disposable")
      this.breaches.push(`DNS servers ${fault}: a listed name is ${JSON.stringify(listed)}`)
    const wrong = others.find(({ category }) => category !== "unknown" && category !== "business")
    if (wrong !== undefined) this.breaches.push(`DNS servers ${fault}: a firm is ${JSON.stringify(wrong)}`)
  }

  /** Checks names until one is known by DNS. */
  async untilKnown(): Promise<void> {
    const until = performance.now() + KNOWN_MS_MAX
    while ((await this.#check(this.#fresh())).category !== "business") {
      if (performance.now() > until) return void this.breaches.push("the return of DNS was not noticed")
      await Bun.sleep(LOOK_AGAIN_MS)
    }
  }

  #fresh(): string {
    if (this.#number === FIRMS) throw new Error("every firm was asked about")
    return `firm${this.#number++}-holding.com`
  }

  async #check(domain: string): Promise<{ readonly category: string }> {
    const startedAt = performance.now()
    const { status, body } = await this.#victim.ask(`GET /v1/check?domain=${domain}`, { key: this.#victim.firstKey })
    this.longestMs = Math.max(this.longestMs, performance.now() - startedAt)
    this.answered++
    if (status !== 200) this.breaches.push(`${domain} was answered ${status}`)
    return status === 200 ? JSON.parse(body) : { category: "none" }
  }
}

/** The README promises ten seconds. */
const KNOWN_MS_MAX = 10_000

const OWNER = "desk@faults.example"

/** What a mail server does wrong with the first mails. */
const SMTP_FAULTS = {
  "hangs up before a word": { greeting: () => "hang_up" },
  "hangs up after the mail's last octet": { mail: () => "hang_up" },
  "is busy (421)": { greeting: () => 421 },
  "refuses the sender": { sender: () => 550 },
} as const satisfies Record<string, Partial<Record<"greeting" | "mail" | "sender", () => Refusal>>>

/** Has a mail server go wrong while keys are made: nobody waits for it, and each mail arrives when it is well. */
export async function wrongMailServer({ times, program, isLong }: Doing): Promise<Found> {
  const faults = Object.entries(SMTP_FAULTS).slice(0, isLong ? undefined : 1)
  const breaches: string[] = []
  let [acknowledged, backMs, twiceCount] = [0, 0, 0]
  let memory = { before: 0, after: 0 }
  for (let time = 0; time < times; time++)
    for (const [name, fault] of faults) {
      let isWell = false
      let faultCount = 0
      const wrong = (refusal: (() => Refusal) | undefined) => () => {
        if (isWell || refusal === undefined) return null
        faultCount++
        return refusal()
      }
      const { greeting, mail, sender }: Partial<Record<"greeting" | "mail" | "sender", () => Refusal>> = fault
      const smtp = await openSmtp({ greeting: wrong(greeting), mail: wrong(mail), sender: wrong(sender) })
      try {
        await using victim = new TestServer({
          program,
          settings: {
            ...CUSTOMER_SETTINGS,
            MAILKIND_SMTP_URL: smtp.url,
            MAILKIND_MAIL_FROM: "mailkind@faults.example",
          },
        })
        await victim.start()
        const before = residentOf(victim)
        await victim.run("account", "create", OWNER, "--tier", "4")
        const made = []
        for (let key = 0; key < 3; key++) made.push(await victim.run("key", "create", "--account", OWNER))
        acknowledged += made.length
        while (faultCount === 0) backMs = Math.max(backMs, await tookMs(() => victim.check()))
        isWell = true
        await smtp.takes(made.length)
        const mails = new Set(smtp.taken.map(({ messageId }) => messageId))
        twiceCount += smtp.taken.length - mails.size
        if (mails.size !== made.length)
          breaches.push(`the mail server ${name}: ${mails.size} of ${made.length} mails came`)
        memory = { before, after: residentOf(victim) }
        breaches.push(...(await copiedToPostgres(victim)))
      } finally {
        await smtp.close()
      }
    }
  return {
    did: `a mail server ${faults.map(([name]) => name).join("; ")}, then was well: mails of new keys; ${twiceCount} came twice, under one Message-ID`,
    ...{ times: times * faults.length, acknowledged, breaches, backMs, memory },
  }
}
