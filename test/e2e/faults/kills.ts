import { copyFileSync, existsSync } from "node:fs"
import { crashRounds, integrityOf } from "../../customers/crash.ts"
import { Progress } from "../../customers/crash-progress.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "./customer.ts"
import { below, type Doing, type Found, untilServed } from "./fault.ts"

/** A server that is killed at any moment and started anew, while others ask it. */
class Workload {
  /** Counts what was answered: moments are numbers of answers, not times. */
  readonly progress = new Progress()
  readonly victim: TestServer
  /** How long each start took, from the start of the process to the first check that it answers. */
  readonly backMs: number[] = []
  /** What the database was found to be right after each kill, in sentences. */
  readonly breaches: string[] = []
  #killedCount = 0
  #isUp: Promise<void> = Promise.resolve()

  constructor(victim: TestServer) {
    this.victim = victim
  }

  /** Does the work; what fails because of a kill is given up. It waits for a server that is down. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    // Who has waited for one start may wake up during the next kill.
    for (let up: Promise<void> | null = null; up !== this.#isUp; ) {
      up = this.#isUp
      await up
    }
    const before = this.#killedCount
    try {
      await work()
      this.progress.step()
    } catch (fault) {
      if (this.#killedCount === before) throw fault
    }
  }

  /** Kills the server, looks at what it leaves, and starts it anew. */
  async killed(): Promise<void> {
    this.#killedCount++
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#isUp = promise
    await this.victim.kill()
    this.breaches.push(...integrityOf(this.#copy()))
    const startedAt = performance.now()
    await this.victim.start()
    await untilServed(this.victim)
    this.backMs.push(performance.now() - startedAt)
    resolve()
  }

  /** A copy of the database as the kill has left it: to open the original would mend it before the server has to. */
  #copy(): string {
    const { database } = this.victim
    const copy = `${database}.copy`
    for (const suffix of ["", "-wal"]) if (existsSync(database + suffix)) copyFileSync(database + suffix, copy + suffix)
    return copy
  }
}

const DESKS = 4
const CHECKERS = 8
/** So many answers lie between two kills at most. */
const BETWEEN_MAX = 400
const TERMS = "2"

/** Kills a server while accounts sign in, make and revoke keys, report, keep lists and accept terms, and others check. */
export async function killedAtAnyMoment({ times, program, random }: Doing): Promise<Found> {
  await using victim = new TestServer({ program, settings: CUSTOMER_SETTINGS })
  await victim.start()
  const life = new Workload(victim)
  const desks = Array.from({ length: DESKS }, (_, number) => new Customer(victim, number))
  const signInTurns = { last: Promise.resolve() }
  const working = [
    ...desks.map(desk => deskWork(life, desk, signInTurns, random)),
    ...Array.from({ length: CHECKERS }, () => checkerWork(life)),
  ]
  const killing = async (): Promise<void> => {
    await published(victim)
    for (let kill = 0; kill < times; kill++) {
      await life.progress.reached(life.progress.count + 20 + below(random, BETWEEN_MAX))
      await life.killed()
    }
    // What comes last is acknowledged by a server that stays.
    await life.progress.reached(life.progress.count + BETWEEN_MAX)
    life.progress.end()
  }
  await Promise.all([killing().finally(() => life.progress.end()), ...working])
  const breaches = [...life.breaches]
  for (const desk of desks) breaches.push(...(await desk.lost()))
  const acknowledged = desks.reduce((sum, desk) => sum + desk.acknowledged, 0)
  return {
    did: `a server with ${DESKS} accounts at work and ${CHECKERS} clients that check was killed at any moment`,
    ...{ times, acknowledged, breaches, backMs: Math.max(0, ...life.backMs), memory: null },
  }
}

async function published(victim: TestServer): Promise<void> {
  await victim.run("terms", "publish", "--version", TERMS, "--url", "https://example.com/terms")
}

async function deskWork(life: Workload, desk: Customer, turns: { last: Promise<unknown> }, random: () => number) {
  const deeds = [() => desk.changeKeys(), () => desk.report(), () => desk.block(), () => desk.accept(TERMS)]
  while (!life.progress.isOver) {
    if (desk.cookie === "") {
      // The codes of two in the log could not be told apart.
      const turn = turns.last.then(() => life.attempt(() => desk.signIn()))
      turns.last = turn.catch(() => undefined)
      await turn
    } else await life.attempt(deeds[below(random, deeds.length)] ?? (() => desk.block()))
  }
}

async function checkerWork(life: Workload): Promise<void> {
  while (!life.progress.isOver)
    await life.attempt(async () => {
      const status = await life.victim.check()
      if (status !== 200) throw new Error(`a check was answered ${status}`)
    })
}

/** Kills two servers and a writer on one directory while clients use up quotas: no unit too many, nothing lost. */
export async function killedAtTheQuota({ times, isLong }: Doing): Promise<Found> {
  const rounds = await crashRounds({ rounds: times, clients: isLong ? 200 : 30, kills: isLong ? 6 : 3, seed: 1 })
  const { created = 0, revoked = 0, reported = 0 } = rounds.at(-1)?.acknowledged ?? {}
  const admitted = rounds.reduce((sum, round) => sum + round.admitted, 0)
  return {
    did: `two servers on one directory were killed ${rounds.reduce((sum, round) => sum + round.serversKilled, 0)} times at ${times} quotas of 1000 units; ${admitted} were admitted`,
    times,
    acknowledged: created + revoked + reported + admitted,
    breaches: rounds.flatMap(({ breaches }) => breaches),
    backMs: null,
    memory: null,
  }
}
