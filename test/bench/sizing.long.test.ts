import { expect, test } from "bun:test"
import { sizingBench } from "../../bench/cases/sizing.ts"
import { memoryGroup } from "../../bench/servers/memory-group.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 240_000
const CAN_BOUND = (() => {
  using group = memoryGroup(64 * 1_048_576)
  return group !== null
})()
const NAMED = CAN_BOUND ? "" : " (skipped: no control group with a bound of memory can be made here)"

test.skipIf(!CAN_BOUND)(
  `the sizing bench tells memory and processor time of each work, and a server that does not fit is no result${NAMED}`,
  async () => {
    const scale = { quietMs: 100, loadS: 1, newDomains: 1000, listRows: 1000 }
    expect(await outcomeOf(sizingBench({ ...scale, sizesMb: [24] }))).toThrow()
    const { figures, description } = await sizingBench({ ...scale, sizesMb: [512] })
    expect(description).toContain("512 MB: all work was done")
    for (const work of ["known", "new", "batches", "list"])
      for (const what of ["memory", "processor time"])
        expect(figures.find(({ name }) => name === `512 MB, ${work}, ${what}`)?.value).toBeGreaterThan(0)
  },
  LIMIT_MS,
)
