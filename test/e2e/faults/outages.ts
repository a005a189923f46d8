import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dnsServer } from "../../support/dns-server.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { POSTGRES_PROGRAMS, type PostgresCluster, startPostgres } from "../../support/postgres.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { openSmtp } from "../../support/smtp-server.ts"
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts"
import { TestServer } from "../../support/test-server.ts"
import { until } from "../../support/until.ts"
import { startWorkersServer } from "../workers/workers-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "./customer.ts"
import { CAN_MOUNT, fill, isRefused, seenBy, serverOnSmallDisk } from "./disks.ts"
import { BACK_MS_MAX, copiedToPostgres, type Doing, type Found, tookMs } from "./fault.ts"
import { textTable } from "./seconds.ts"

/** Something that servers need, which can go away. */
type Outage = {
  /** The log of each server so far. */
  readonly logs: () => readonly string[]
  /** Asks for what needs it; whether that is served as ever. */
  readonly ask: () => Promise<boolean>
  /** Takes it away. */
  readonly begin: () => unknown
  /** Gives it back. Absent: the server has to help itself. */
  readonly end?: () => unknown
  /** Resolves when all is served again; absent: that is when `ask` is. */
  readonly untilBack?: () => Promise<unknown>
  /** The server whose rows SQLite keeps; absent: PostgreSQL keeps them, or a disk that commands do not see, whose database `full_disk` looks at. */
  readonly server?: TestServer
}

type OutageSpec = {
  /** How a line of the log names it. */
  readonly names: RegExp
  /** Whether callers are refused, or served less than ever, meanwhile. */
  readonly refuses: boolean
  /** The longest that a caller waits meanwhile, and the longest until all is served again. */
  readonly waitMsMax: number
  readonly backMsMax: number
  /** Why it cannot be done here; null: it can. */
  readonly missing: string | null
  /** Whether the tests do it too. */
  readonly isShort: boolean
  readonly prepare: (program: readonly string[], stack: AsyncDisposableStack) => Promise<Outage>
}

const ASK_EVERY_MS = 250
const LONG_AWAY_S = 300
const SHORT_AWAY_S = 3

/** Lines that a server logs in five minutes at most. */
const LINES_MAX = 20

/** Firms that the DNS server knows: each is asked about once. */
const FIRMS = 4000

/** A caller waits three seconds at most. Half a second more is the caller's own, on a machine that is busy. */
const WAIT_MS_MAX = 3500

const NO_POSTGRES = POSTGRES_PROGRAMS === null ? "PostgreSQL is not installed" : null
const ofDatabase = (
  cut: (cluster: PostgresCluster, way: TcpProxy) => Promise<() => unknown>,
  backMsMax: number = BACK_MS_MAX,
): OutageSpec => ({
  ...{ names: /the database does not answer/, refuses: true, waitMsMax: WAIT_MS_MAX, backMsMax },
  ...{ missing: NO_POSTGRES, isShort: false },
  prepare: async (program, stack) => {
    const { cluster, ways, servers } = await nodesOverPostgres(program, stack, 1)
    const [[server], [way]] = [servers, ways]
    if (server === undefined || way === undefined) throw new Error("there is a node")
    let end: () => unknown = () => undefined
    return {
      logs: () => [server.log],
      ask: async () => (await server.ask("GET /v1/usage", { key: server.firstKey })).status === 200,
      begin: async () => {
        end = await cut(cluster, way)
      },
      end: () => end(),
    }
  },
})

/** Everything that goes away. */
const OUTAGES: Readonly<Record<string, OutageSpec>> = {
  "database stopped": ofDatabase(async cluster => {
    await cluster.stop("fast")
    return cluster.start
  }),
  // It first answers each connection that was tried meanwhile.
  "database frozen": ofDatabase(async cluster => cluster.freeze(), 2 * BACK_MS_MAX),
  "network to the database swallows": ofDatabase(async (_, way) => way.dropData()),
  "node cut off from the database": {
    ...{ names: /the database does not answer/, refuses: true, waitMsMax: WAIT_MS_MAX, backMsMax: BACK_MS_MAX },
    ...{ missing: NO_POSTGRES, isShort: false },
    prepare: async (program, stack) => {
      const { ways, servers } = await nodesOverPostgres(program, stack, 2)
      const [[server], [way]] = [servers, ways]
      if (server === undefined || way === undefined) throw new Error("there is a node")
      let mend: () => void = () => undefined
      return {
        logs: () => servers.map(({ log }) => log),
        ask: async () => (await server.ask("GET /v1/health?ready=1")).status === 200,
        begin: () => {
          mend = way.dropData()
        },
        end: () => mend(),
      }
    },
  },
  "disk full": {
    ...{
      names: /"fault":"full".*"seen":"[\d,]+ MiB of [\d,]+ MiB are free on the disk of /,
      refuses: true,
      waitMsMax: WAIT_MS_MAX,
      backMsMax: BACK_MS_MAX,
      isShort: true,
    },
    missing: CAN_MOUNT ? null : "only root can mount a small disk",
    prepare: async (program, stack) => {
      const server = stack.use(serverOnSmallDisk(program))
      await server.start()
      const desk = new Customer(server, 0)
      await desk.signIn()
      return {
        logs: () => [server.log],
        ask: () => isDone(desk.block()),
        begin: async () => {
          fill(seenBy(server))
          if (!(await isRefused(desk))) throw new Error("a full disk took whatever was written")
        },
        end: () => rmSync(join(seenBy(server), "filler")),
      }
    },
  },
  "DNS servers silent": {
    ...{
      names: /DNS does not answer.*dns_silent.*127\.0\.0\.1:\d+ does not answer in time \(ETIMEOUT\)/,
      refuses: true,
      waitMsMax: WAIT_MS_MAX,
      backMsMax: 10_000,
    },
    ...{ missing: null, isShort: true },
    prepare: async (program, stack) => {
      const firms = Array.from({ length: FIRMS }, (_, at) => `firm${at}-holding.com`)
      const dns = stack.use(await dnsServer(Object.fromEntries(firms.map(firm => [`MX ${firm}`, [`10 mx.${firm}`]]))))
      const settings = { MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`, MAILKIND_DNS_CANARIES: "off" }
      const server = stack.use(new TestServer({ program, settings }))
      await server.start()
      return {
        server,
        logs: () => [server.log],
        ask: async () => {
          const { body } = await server.ask(`GET /v1/check?domain=${firms.pop()}`, { key: server.firstKey })
          return JSON.parse(body).category === "business"
        },
        begin: () => dns.fault("*", "silent"),
        end: () => dns.fault("*", null),
      }
    },
  },
  "mail server hangs up": {
    // A mail is tried again after a pause that has grown with the outage, to a minute at most.
    ...{
      names: /no mail can be sent now.*"where":"127\.0\.0\.1:\d+"/,
      refuses: false,
      waitMsMax: WAIT_MS_MAX,
      backMsMax: 65_000,
    },
    ...{ missing: null, isShort: true },
    prepare: async (program, stack) => {
      let isWell = true
      const smtp = await openSmtp({ greeting: () => (isWell ? null : "hang_up") })
      stack.defer(smtp.close)
      const mail = { MAILKIND_SMTP_URL: smtp.url, MAILKIND_MAIL_FROM: "mailkind@faults.example" }
      const server = stack.use(new TestServer({ program, settings: { ...CUSTOMER_SETTINGS, ...mail } }))
      await server.start()
      const owner = "owner@faults.example"
      await server.run("account", "create", owner, "--tier", "4")
      return {
        server,
        logs: () => [server.log],
        ask: async () => (await server.check()) === 200,
        begin: async () => {
          isWell = false
          await server.run("key", "create", "--account", owner)
          await server.logged(/no mail can be sent now/)
        },
        end: () => {
          isWell = true
        },
        untilBack: () => smtp.takes(1),
      }
    },
  },
  "worker hung": {
    // What the system has given to the worker that hangs is cut off when that is killed.
    ...{ names: /a worker hangs and is killed/, refuses: true, waitMsMax: 10_000, backMsMax: 10_000, isShort: true },
    missing: null,
    prepare: async (_, stack) => {
      const server = stack.use(await startWorkersServer())
      const url = `http://127.0.0.1:${server.port}/v1/check?domain=gmail.com`
      const headers = { Authorization: `Bearer ${server.firstKey}` }
      return {
        logs: () => [server.lines.map(line => JSON.stringify(line)).join("\n")],
        ask: async () => (await askLoopback(url, { headers })).status === 200,
        begin: () => sendSignal(server.workers()[0], "SIGSTOP"),
        untilBack: () => server.logged(({ msg }) => msg === "a worker listens", 3),
      }
    },
  },
}

const isDone = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** Nodes over one PostgreSQL database, each with a way of its own to it. */
async function nodesOverPostgres(program: readonly string[], stack: AsyncDisposableStack, count: number) {
  const cluster = await startPostgres()
  stack.defer(cluster.remove)
  const ways = await Promise.all(Array.from({ length: count }, () => startTcpProxy(cluster.port)))
  for (const way of ways) stack.defer(way.stop)
  const lists = mkdtempSync(join(tmpdir(), "mailkind-lists-"))
  stack.defer(() => rmSync(lists, { recursive: true, force: true }))
  const servers = ways.map(way => {
    const port = freePort()
    const url = new URL(cluster.url("postgres"))
    url.port = String(way.port)
    const settings = {
      MAILKIND_PORT: String(port),
      MAILKIND_DATABASE_URL: url.href,
      MAILKIND_NODE_URL: `http://127.0.0.1:${port}`,
      MAILKIND_JOBS_DIR: lists,
    }
    return stack.use(new TestServer({ program, settings }))
  })
  for (const server of servers) {
    server.firstKey = servers[0]?.firstKey ?? ""
    await server.start()
  }
  return { cluster, ways, servers }
}

/** What was seen of an outage. */
type Seen = {
  readonly name: string
  /** From its beginning until a caller was first not served as ever; null: none was. */
  readonly refusedMs: number | null
  readonly slowestMs: number
  readonly backMs: number
  /** The most that a server logged from its beginning until all was served again. */
  readonly lines: number
  /** The first line that names it. */
  readonly firstLine: string
  /** The first line that is no JSON; null: all are. */
  readonly rawLine: string | null
  readonly breaches: readonly Breach[]
}

/** What must not be. Times are judged in the long form alone: tests run beside others. */
type Breach = { readonly isTime: boolean; readonly description: string }

/** Asks again and again, however long an answer takes, and remembers what came. */
class Asker {
  readonly answers: { readonly askedAt: number; readonly settledAt: number; readonly isServed: boolean }[] = []
  readonly #ask: Outage["ask"]
  readonly #waiting = new Set<Promise<void>>()
  #isOver = false

  constructor(ask: Outage["ask"]) {
    this.#ask = ask
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      const askedAt = performance.now()
      const waiting = this.#ask()
        .catch(() => false)
        .then(isServed => {
          this.answers.push({ askedAt, settledAt: performance.now(), isServed })
          this.#waiting.delete(waiting)
        })
      this.#waiting.add(waiting)
      await Bun.sleep(ASK_EVERY_MS)
    }
    await Promise.all(this.#waiting)
  }

  end(): void {
    this.#isOver = true
  }

  /** Resolves when a question that was asked after that moment was served. */
  async untilServed(afterMs: number): Promise<void> {
    while (!this.answers.some(({ askedAt, isServed }) => isServed && askedAt >= afterMs)) await Bun.sleep(LOOK_MS)
  }
}

const LOOK_MS = 10

async function outageOnce(name: string, spec: OutageSpec, outage: Outage, awayS: number): Promise<Seen> {
  const asker = new Asker(outage.ask)
  const asking = asker.run()
  await asker.untilServed(0)
  const logged = outage.logs().map(log => log.length)
  const startedAt = performance.now()
  await outage.begin()
  const beganAt = outage.end === undefined ? startedAt : performance.now()
  if (outage.end !== undefined) await Bun.sleep(awayS * 1000)
  await until(
    () => outage.logs().some((log, at) => spec.names.test(log.slice(logged[at]))),
    () => `${name} is not logged`,
  )
  await outage.end?.()
  const endedAt = outage.end === undefined ? beganAt : performance.now()
  const backMs = await tookMs(() => outage.untilBack?.() ?? asker.untilServed(endedAt))
  asker.end()
  await asking
  const during = asker.answers.filter(({ settledAt }) => settledAt >= startedAt)
  const refused = during.filter(({ isServed }) => !isServed).map(({ settledAt }) => settledAt)
  const logs = outage.logs().map((log, at) => log.slice(logged[at]).split("\n").filter(Boolean))
  const seen = {
    name,
    refusedMs: refused.length === 0 ? null : Math.max(0, Math.min(...refused) - beganAt),
    slowestMs: Math.max(...during.map(({ askedAt, settledAt }) => settledAt - askedAt)),
    backMs,
    lines: Math.max(...logs.map(lines => lines.length)),
    firstLine: logs.flat().find(line => spec.names.test(line)) ?? "",
    rawLine: logs.flat().find(line => !line.startsWith("{")) ?? null,
  }
  return { ...seen, breaches: [...breachesIn(seen, spec, outage), ...(await copyBreaches(name, outage.server))] }
}

/** What keeps the rows of the server from moving to PostgreSQL as they are: `store copy` reads back and compares each. */
async function copyBreaches(name: string, server: TestServer | undefined): Promise<readonly Breach[]> {
  const breaches = server === undefined ? [] : await copiedToPostgres(server)
  return breaches.map(description => ({ isTime: false, description: `${name}: ${description}` }))
}

function breachesIn(seen: Omit<Seen, "breaches">, spec: OutageSpec, outage: Outage): readonly Breach[] {
  const { name, refusedMs, slowestMs, lines, firstLine, rawLine, backMs } = seen
  const breaches: Breach[] = []
  const add = (is: boolean, description: string, isTime = false): void => {
    if (is) breaches.push({ isTime, description: `${name}: ${description}` })
  }
  add(lines > LINES_MAX, `${lines} lines were logged: ${outage.logs().join("\n").slice(-2000)}`)
  add(firstLine === "", "no line of the log names it")
  add(rawLine !== null, `a line is no JSON: ${rawLine}`)
  add((refusedMs !== null) !== spec.refuses, refusedMs === null ? "nobody noticed it" : "callers were refused")
  add(slowestMs > spec.waitMsMax, `a caller waited ${Math.round(slowestMs)} ms`, true)
  add(backMs > spec.backMsMax, `all was served again only after ${Math.round(backMs)} ms`, true)
  return breaches
}

/** Takes away what servers need, all at once, each from servers of its own. */
export async function outages({ program, isLong }: Doing): Promise<Found> {
  const wanted = Object.entries(OUTAGES).filter(([, { missing, isShort }]) => missing === null && (isLong || isShort))
  await using stack = new AsyncDisposableStack()
  const prepared = await Promise.all(
    wanted.map(async ([name, spec]) => [name, spec, await spec.prepare(program, stack)] as const),
  )
  const awayS = isLong ? LONG_AWAY_S : SHORT_AWAY_S
  const seen = await Promise.all(prepared.map(([name, spec, outage]) => outageOnce(name, spec, outage, awayS)))
  const leftOut = Object.entries(OUTAGES).flatMap(([name, { missing }]) =>
    missing === null ? [] : `${name}: ${missing}`,
  )
  return {
    did: `${seen.map(({ name }) => name).join("; ")}, for ${awayS} s${leftOut.length === 0 ? "" : `; left out: ${leftOut.join("; ")}`}`,
    ...{ times: seen.length, acknowledged: 0, backMs: null, memory: null },
    breaches: seen
      .flatMap(({ breaches }) => breaches)
      .filter(({ isTime }) => isLong || !isTime)
      .map(({ description }) => description),
    saw: tableOf(seen),
  }
}

function tableOf(seen: readonly Seen[]): string {
  const ms = (time: number | null): string => (time === null ? "nobody" : `${Math.round(time)} ms`)
  return textTable([
    [
      "outage",
      "first refused after",
      "slowest answer",
      "all served again after",
      "log lines",
      "the first line that names it",
    ],
    ...seen.map(({ name, refusedMs, slowestMs, backMs, lines, firstLine }) => [
      ...[name, ms(refusedMs), ms(slowestMs), ms(backMs), String(lines)],
      firstLine,
    ]),
  ])
}
