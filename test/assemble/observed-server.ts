import { createInstrumentation } from "../../src/assemble/metrics.ts"
import type { Part } from "../../src/assemble/part.ts"
import { listsSamples } from "../../src/check/active-lists/lists-service.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createSystem, type System } from "../../src/system/system.ts"
import { knownLists, testApp } from "../support/app.ts"
import { freePort } from "../support/free-port.ts"
import { samplesOf } from "../support/prometheus.ts"

type ObservedOptions = {
  readonly environment?: Record<string, string>
  /** What is observed besides the lists and the parts of customers. */
  readonly parts?: readonly Part[]
  /** How the outside world differs from the real one. */
  readonly outside?: Partial<System>
}

/** A server that observes itself in a time that stands still; `works` is what it does again and again, by how often. */
export async function observedServer({ environment, parts = [], outside = {} }: ObservedOptions = {}) {
  const harness = await testApp({ tier: 0 })
  const read = parseSettings(environment ?? { MAILKIND_METRICS: `127.0.0.1:${freePort()}` })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const works = new Map<number, () => void>()
  const runInterval = (ms: number, work: () => void) => {
    works.set(ms, work)
    return () => void works.delete(ms)
  }
  const system = { ...createSystem(), runInterval, clock: harness.clock, ...outside }
  const own = createInstrumentation({ system, settings: read.settings, log: () => undefined }, "alone")
  const lists = { samples: () => listsSamples(knownLists, null) }
  const over = own.createMetricsPart(() => [lists, ...parts, harness.customers, harness.mailsGoing, harness.jobsPart])
  const exposition = async (): Promise<string> => (await own.readExposition()).text
  return {
    ...{ harness, own, over, works, exposition },
    samples: async () => samplesOf(await exposition()),
    /** Reads again what takes queries. */
    query: async () => {
      works.get(15_000)?.()
      for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    },
  }
}
