import { expect, setDefaultTimeout, test } from "bun:test"
import { CUTS, cutOff, MISSING_FOR_CUT_OFF, refusals } from "./cut-off.ts"

setDefaultTimeout(180_000)

const NAMED = MISSING_FOR_CUT_OFF.length === 0 ? "" : ` (skipped: ${MISSING_FOR_CUT_OFF.join(", ")})`

test.skipIf(MISSING_FOR_CUT_OFF.length > 0)(
  `a node whose way to the database swallows everything is not ready while others are, gets no requests then, and comes back${NAMED}`,
  async () => {
    const { healths, after } = await cutOff(CUTS["swallowed"] ?? (() => () => undefined), 0)
    // Its own health stays well, and so does the readiness of the others.
    expect(healths).toEqual([200, 200])
    expect(refusals(after).refused).toBe(0)
  },
)
