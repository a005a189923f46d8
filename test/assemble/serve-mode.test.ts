import { expect, test } from "bun:test"
import type { AppContext } from "../../src/assemble/context.ts"
import { processMemoryBytes } from "../../src/assemble/serve-mode.ts"

test("workers share the memory that their server may use, by the number that is set or by the cores", () => {
  const memoryOf = (workers: number | "auto"): number =>
    processMemoryBytes({
      settings: { MAILKIND_WORKERS: workers },
      system: { memory: { limitBytes: () => 1200 }, processes: { availableCores: () => 3 } },
    } as AppContext) // of which it reads these alone
  expect([1, 4, "auto" as const].map(memoryOf)).toEqual([1200, 300, 400])
})
