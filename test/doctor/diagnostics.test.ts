import { expect, test } from "bun:test"
import {
  DIAGNOSTIC_NAMES,
  DIAGNOSTIC_TIMEOUT_MS,
  type DiagnosticName,
  type DiagnosticResult,
  type Diagnostics,
  ok,
  runDiagnostics,
} from "../../src/doctor/diagnostics.ts"
import { createFakeTime } from "../support/time.ts"

const examiners = (others: Partial<Record<DiagnosticName, () => Promise<DiagnosticResult>>> = {}): Diagnostics => {
  const fine = async () => ok("Fine.")
  return {
    ...{
      settings: fine,
      directory: fine,
      disk: fine,
      descriptors: fine,
      database: fine,
      backups: fine,
      jobs: fine,
      dns: fine,
      clock: fine,
      smtp: fine,
    },
    ...{ identity: fine, rdap: fine, leak_keys: fine, lists: fine, port: fine, outbox: fine, ...others },
  }
}

test("what was found is told in the order of the table, whatever the order of the names", async () => {
  const { later: setTimer } = createFakeTime()
  const rows = await runDiagnostics(examiners(), [...DIAGNOSTIC_NAMES].reverse(), setTimer)
  expect(rows.map(({ name }) => name)).toEqual([...DIAGNOSTIC_NAMES])
  expect((await runDiagnostics(examiners(), ["outbox", "disk"], setTimer)).map(({ name }) => name)).toEqual([
    "disk",
    "outbox",
  ])
})

test("one that never ends has failed after its time, and holds up no other", async () => {
  const time = createFakeTime()
  const examined = runDiagnostics(examiners({ dns: () => new Promise(() => undefined) }), ["dns", "disk"], time.later)
  await time.tick(DIAGNOSTIC_TIMEOUT_MS - 1)
  expect(time.waiting()).toBe(1)
  await time.tick(1)
  expect(await examined).toMatchObject([
    { name: "disk", verdict: "ok" },
    { name: "dns", verdict: "failed", seen: "The check did not end within 60 s." },
  ])
})

test("one that throws has failed, and what it threw is not told", async () => {
  const time = createFakeTime()
  const lists = () => {
    throw new RangeError("jane@example.com")
  }
  const [row] = await runDiagnostics(examiners({ lists }), ["lists"], time.later)
  expect(row).toMatchObject({ verdict: "failed", seen: "The check failed (RangeError)." })
  expect(time.waiting()).toBe(0)
})
