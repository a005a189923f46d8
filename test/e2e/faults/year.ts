import { mkdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { askDnsServer, dnsServerCommand } from "../../../bench/servers/dns-server-control.ts"
import { processTree } from "../../../bench/servers/process-stats.ts"
import { type ServerProcess, startServer } from "../../../bench/servers/server-process.ts"
import { isDownloaded, parseCatalogue } from "../../../src/check/lists/sources/catalogue.ts"
import { repositoryFiles } from "../../check/lists/sources/repository-files.ts"
import { integrityOf } from "../../customers/crash.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { openSmtp, type TestSmtp } from "../../support/smtp-server.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "./customer.ts"
import { type Doing, type Found, type LeftOut, untilServed } from "./fault.ts"
import { Callers } from "./year/callers.ts"
import { complaintsTable, type Figures, figuresTable, measure } from "./year/figures.ts"
import { growthOf } from "./year/growth.ts"
import { ADMIN_EMAIL, Office } from "./year/office.ts"
import { type Population, populate } from "./year/population.ts"
import { CAN_SHIFT_CLOCKS, ShiftedClock } from "./year/shifted-clock.ts"
import { sideBySide } from "./year/side-by-side.ts"

const WORKERS = 2
const HOUR_S = 3600
const DAY_S = 24 * HOUR_S
const STEPS_A_DAY = 8
/** Every timer that is due runs within this time: the shortest one wakes the process. */
const STEP_MS = 60
/** How much of everything there is: by day, and in the tests. */
const SCALES = {
  long: { accounts: 10_000, checksADay: 800, measuredChecks: 1500, rounds: 5, refreshHours: "168" },
  short: { accounts: 50, checksADay: 60, measuredChecks: 20, rounds: 1, refreshHours: "off" },
} as const
/** How often the figures are taken. */
const FIGURES = 8
const MONTH = 30
/** Restarts end here, so that the same processes run for the second half of a year. */
const RESTARTS_UNTIL = 180
/** Days on which the operator does something about terms, and on which the clock jumps. */
const [FIRST_TERMS, NEXT_TERMS, WITHDRAWAL, JUMP] = [31, 150, 155, 100]
const JUMP_S = 3 * DAY_S

/** Lets days pass over a server with two workers, `times` of them, with the work of each day, and looks at what has grown. */
export async function quietYear({ times, program, isLong, random }: Doing): Promise<Found | LeftOut> {
  if (!CAN_SHIFT_CLOCKS) return { leftOut: "there is no C compiler (cc), which makes what moves a server's clocks" }
  await using stack = new AsyncDisposableStack()
  const year = await Year.begin(stack, { program, random, scale: isLong ? SCALES.long : SCALES.short })
  const every = Math.max(1, Math.round(times / FIGURES))
  for (let day = 1; day <= times; day++) {
    await year.live(day)
    if (day === 1 || day === times || day % every === 0) await year.measure(day, isLong)
  }
  return await year.end(times)
}

type YearOptions = Pick<Doing, "program" | "random"> & { readonly scale: (typeof SCALES)[keyof typeof SCALES] }

class Year {
  readonly #figures: Figures[] = []
  readonly #breaches: string[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  static async begin(stack: AsyncDisposableStack, options: YearOptions): Promise<Year> {
    return new Year(await openWorld(stack, options))
  }

  /** A day: what people and programs do, what goes wrong once a month, and the hours that pass. */
  async live(day: number): Promise<void> {
    const { office, callers, dns, scale } = this.#world
    const isOutage = day % MONTH === 17
    if (isOutage) await askDnsServer(dns.url, "mute")
    await callers.ask(isOutage ? Math.ceil(scale.checksADay / 100) : scale.checksADay)
    if (isOutage) await askDnsServer(dns.url, "speak")
    // What fails on one day must not end the year.
    const failed = (fault: unknown) => this.#breaches.push(`day ${day}: ${String(fault)}`)
    await office.work(day).catch(failed)
    await this.#administer(day).catch(failed)
    if (day === JUMP) await this.#jump()
    for (let step = 0; step < STEPS_A_DAY; step++) await this.#pass(DAY_S / STEPS_A_DAY)
    if (day % MONTH === 10 && day < RESTARTS_UNTIL) await this.#restart(day)
  }

  /** Takes the figures. What the first day has left is kept beside. */
  async measure(day: number, isLong: boolean): Promise<void> {
    const { server, scale } = this.#world
    this.#figures.push(await measure(day, this.#world, scale.measuredChecks))
    if (isLong) console.log(`${new Date().toISOString()}\n${figuresTable(this.#figures)}\n`)
    if (day === 1) await server.run("backup", this.#firstDay)
  }

  /** Compares the server with one over the rows of the first day, stops both, and gives what was found. */
  async end(days: number): Promise<Found> {
    const { server, office, callers, scale, mails } = this.#world
    const breaches = [...this.#breaches, ...office.breaches, ...(await office.lost())]
    for (const [breach, count] of callers.breaches) breaches.push(`${breach} (${count} times)`)
    breaches.push(...growthOf(this.#figures))
    const compared = await this.#compare()
    if (scale === SCALES.long) breaches.push(...compared.breaches)
    if ((await server.stop()) !== 0) breaches.push("it did not end well")
    breaches.push(...integrityOf(server.database))
    const [first, last] = [this.#figures[0], this.#figures.at(-1)]
    const memoryOf = (figures?: Figures): number => (figures?.values.get("private MB") ?? 0) * 1e6
    return {
      did: `${days} days of ${scale.checksADay} checks over ${scale.accounts} accounts, with sign-ins, keys, reports, lists, callbacks (${office.callbackCount}), mails (${mails.taken.length}), backups, refreshes and restarts`,
      ...{ times: days, acknowledged: callers.answered, breaches, backMs: null },
      memory: { before: memoryOf(first), after: memoryOf(last) },
      saw: [figuresTable(this.#figures), compared.table, complaintsTable(server.log)].join("\n\n"),
    }
  }

  /** Where the database of the first day is copied to. */
  get #firstDay(): string {
    return join(this.#world.server.directory, "first-day")
  }

  async #compare(): Promise<Awaited<ReturnType<typeof sideBySide>>> {
    const { server, callers, office, mails, scale, program, settings, population, random } = this.#world
    const own = { MAILKIND_LISTS_REFRESH_HOURS: "off", MAILKIND_BACKUP_HOURS: "8760" }
    await using older = new TestServer({ program, settings: { ...settings, ...own } })
    mkdirSync(older.dataDirectory, { recursive: true })
    renameSync(this.#firstDay, older.database)
    older.firstKey = server.firstKey
    await older.start()
    using olderCallers = new Callers(() => older.url, population, random)
    const admin = new Customer(older, 0, mails)
    await admin.signIn()
    await office.admin.signIn()
    const rest = async (): Promise<void> => {
      for (let step = 0; step < STEPS_A_DAY; step++) await this.#pass(DAY_S / STEPS_A_DAY, [older])
    }
    const found = await sideBySide(
      [
        { name: "first day", server: older, callers: olderCallers, admin, rest },
        { name: "now", server, callers, admin: office.admin, rest },
      ],
      scale.rounds,
      scale.measuredChecks,
    )
    await older.stop()
    return found
  }

  async #administer(day: number): Promise<void> {
    const { office } = this.#world
    if (day === FIRST_TERMS) await office.publish("first", false)
    if (day === NEXT_TERMS) await office.publish("next", true)
    if (day === WITHDRAWAL) await office.withdraw("next")
  }

  /** The wall clock is three days ahead for some hours, and right again. */
  async #jump(): Promise<void> {
    const { clock } = this.#world
    clock.setWallAhead(JUMP_S)
    for (let step = 0; step < 2; step++) await this.#pass(HOUR_S)
    clock.setWallAhead(0)
    await this.#pass(HOUR_S)
  }

  /** Time passes at once. What the servers have started by then, such as a backup, ends before more of it passes. */
  async #pass(seconds: number, others: readonly TestServer[] = []): Promise<void> {
    const { clock, server } = this.#world
    clock.pass(seconds)
    await Bun.sleep(STEP_MS)
    // It has the lowest priority: on a busy machine a refresh takes minutes.
    for (const { pid } of [server, ...others]) while (processTree(pid).length > WORKERS + 1) await Bun.sleep(STEP_MS)
  }

  /** The server is restarted in one month, and one of its workers is killed in the other. */
  async #restart(day: number): Promise<void> {
    const { server, callers } = this.#world
    callers.disconnect()
    if (day % (2 * MONTH) !== day % MONTH) {
      const [, worker] = processTree(server.pid)
      sendSignal(worker, "SIGKILL")
      await Bun.sleep(STEP_MS)
    } else {
      if ((await server.stop()) !== 0) this.#breaches.push("it did not end well")
      await server.start()
    }
    await untilServed(server)
  }
}

/** A server and all that is around it. */
type World = Pick<Doing, "program" | "random"> & {
  readonly server: TestServer
  readonly clock: ShiftedClock
  readonly callers: Callers
  readonly office: Office
  readonly dns: ServerProcess
  readonly mails: TestSmtp
  readonly backups: string
  readonly scale: YearOptions["scale"]
  readonly settings: Readonly<Record<string, string>>
  readonly population: Population
}

async function openWorld(stack: AsyncDisposableStack, { program, random, scale }: YearOptions): Promise<World> {
  const dns = stack.use(await startServer({ command: dnsServerCommand(0).command }))
  const mails = await openSmtp()
  stack.defer(mails.close)
  const directory = stack.use(new TestServer()).directory
  const [clock, backups] = [stack.use(new ShiftedClock(directory)), join(directory, "backups")]
  mkdirSync(backups)
  const lists = stack.use(dailyList(clock))
  const settings = {
    ...CUSTOMER_SETTINGS,
    ...clock.settings,
    MAILKIND_WORKERS: String(WORKERS),
    MAILKIND_DEFAULT_TIER: "0",
    MAILKIND_TIERS: "0=1000/1000/100000",
    MAILKIND_ADMINS: ADMIN_EMAIL,
    MAILKIND_DNS_SERVERS: dns.url.host,
    MAILKIND_SMTP_URL: mails.url,
    MAILKIND_MAIL_FROM: "mailkind@year.example",
    MAILKIND_CALLBACKS: "local",
    // A week of these checks takes more.
    MAILKIND_REQUEST_LOG_BYTES_MAX: "1048576",
    MAILKIND_BACKUP_DIR: backups,
    MAILKIND_LISTS_REFRESH_HOURS: scale.refreshHours,
    MAILKIND_LISTS_SOURCES: lists.sources,
  }
  const server = stack.use(new TestServer({ program, settings }))
  await server.start()
  await server.stop()
  const population = await populate(server, scale.accounts, clock.nowMs)
  await server.start()
  const callers = stack.use(new Callers(() => server.url, population, random))
  const office = new Office(server, mails, population, random)
  stack.defer(() => office.stop())
  return { server, clock, callers, office, dns, mails, backups, scale, settings, population, program, random }
}

/** Where nobody answers. */
const GONE = "http://127.0.0.1:1/"
const NAMES_A_DAY = 5

/** A source of lists that has other names each day. All others are away. */
function dailyList(clock: ShiftedClock): Disposable & { readonly sources: string } {
  const served = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      const today = Math.floor(clock.nowMs / (DAY_S * 1000))
      const days = Array.from({ length: 90 }, (_, ago) => today - ago)
      const names = days.flatMap(day => Array.from({ length: NAMES_A_DAY }, (_, at) => `junk${at}-of-${day}.com`))
      return new Response(`${names.join("\n")}\n`)
    },
  })
  const catalogue = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  if (catalogue.kind === "refused") throw new Error(catalogue.faults.join("\n"))
  const others = catalogue.sources.filter(isDownloaded).map(({ id }) => `${id}=${GONE}`)
  return {
    sources: [`year=${served.url.href}names`, ...others].join(","),
    [Symbol.dispose]: () => void served.stop(true),
  }
}
