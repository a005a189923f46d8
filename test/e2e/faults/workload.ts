import { copyFileSync, existsSync } from "node:fs"
import { integrityOf } from "../../customers/crash.ts"
import { Progress } from "../../customers/crash-progress.ts"
import type { TestServer } from "../../support/test-server.ts"
import { untilServed } from "./fault.ts"

/** A server that is killed at any moment and started anew, while others ask it. */
export class Workload {
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
