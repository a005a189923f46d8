import { expect, test } from "bun:test"
import { parseSettings } from "../../src/config/settings.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { StoreError, type StoreErrorCode } from "../../src/customers/store/core/store-error.ts"
import { StartBudget, StartStopped } from "../../src/process/start-budget.ts"
import { createSystem } from "../../src/system/system.ts"
import type { Logged } from "../support/app.ts"
import { outcomeOf } from "../support/outcome-of.ts"

/** How long each attempt of a step takes. */
const ATTEMPT_MS = 2500

/** A budget of a start over a stopwatch that stands still but for attempts and waits, and a step that fails so many times. */
function budgetOf(waitS: number, stopSignal: Promise<string> = new Promise(() => undefined)) {
  const read = parseSettings({ MAILKIND_DATABASE_WAIT_S: String(waitS), MAILKIND_DATABASE_URL: "postgres://u@h/d" })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const time = { ms: 0 }
  const logged: Logged[] = []
  const sleep = async (ms: number): Promise<void> => {
    time.ms += ms
  }
  const system = { ...createSystem(), stopwatch: () => time.ms, sleep }
  const log = (level: Logged["level"], message: string, fields = {}) => void logged.push({ level, message, fields })
  const budget = new StartBudget({ system, settings: read.settings, log }, stopSignal)
  const failing = (times: number, code: StoreErrorCode = "away") => {
    let left = times
    return async (): Promise<string> => {
      time.ms += left > 0 ? ATTEMPT_MS : 1
      if (left-- > 0) throw new StoreError(code, "postgres://h/d", "it does not answer")
      return "done"
    }
  }
  return { budget, failing, time, messages: () => logged.map(({ message }) => message) }
}

test("each step of a start waits for the database, and tells it once", async () => {
  const { budget, failing, messages } = budgetOf(60)
  expect([await budget.run(failing(0)), messages()]).toEqual(["done", []])
  expect(await budget.run(failing(2))).toBe("done")
  expect(await budget.run(failing(1, "busy"))).toBe("done")
  const told = ["the start waits for the database", "the database answers"]
  expect(messages()).toEqual([...told, ...told])
})

test("all steps of a start have one budget together, and time in which the database answered is not part of it", async () => {
  const { budget, failing, time } = budgetOf(10)
  // Two attempts with their waits take 7 s, and an hour of other work none.
  expect(await budget.run(failing(2))).toBe("done")
  time.ms += 3_600_000
  const leftMs = budget.leftMs
  expect(leftMs).toBeLessThan(3000)
  expect(await outcomeOf(budget.run(failing(9)))).toThrow("cannot be reached")
  expect(budget.leftMs).toBe(0)
})

test("operations of a store are steps until the start has ended, and from then on fail at once", async () => {
  const { budget, failing } = budgetOf(60)
  let hasEnded = false
  const steps = [failing(1), failing(1)]
  const opened = { all: () => steps.shift()?.() } as unknown as OpenStore // only this is called
  const store = budget.storeFor(opened, () => hasEnded)
  const step = failing(1)
  steps.splice(0, 2, step, step)
  expect(await store.all("SELECT 1")).toBe("done" as never)
  hasEnded = true
  steps.push(failing(1))
  expect(await outcomeOf(store.all("SELECT 1"))).toThrow("cannot be reached")
})

test("what does not pass ends the start at once, and so does a signal", async () => {
  const { budget, failing } = budgetOf(60)
  expect(await outcomeOf(budget.run(failing(1, "refused")))).toThrow("refuses the login")
  const stopped = budgetOf(60, Promise.resolve("SIGTERM"))
  expect(await outcomeOf(stopped.budget.run(stopped.failing(9)))).toThrow(StartStopped)
})
