import { expect, setDefaultTimeout, test } from "bun:test"
import { CUTS, cutOff, MISSING_FOR_CUT_OFF, refusals } from "./cut-off.ts"

setDefaultTimeout(240_000)

const NAMED = MISSING_FOR_CUT_OFF.length === 0 ? "" : ` (skipped: ${MISSING_FOR_CUT_OFF.join(", ")})`
const LASTS_MS = 60_000

for (const [how, cut] of Object.entries(CUTS))
  test.skipIf(MISSING_FOR_CUT_OFF.length > 0)(
    `of the requests of a minute in which one of three nodes is cut off (${how}), one in a hundred is refused at most${NAMED}`,
    async () => {
      const { before, after, unreadyMs, readyAgainMs } = await cutOff(cut, LASTS_MS)
      const { refused, all } = refusals(before, after)
      console.log(
        `${how}: ${refused} of ${all} requests refused; unready after ${Math.round(unreadyMs)} ms, ready again after ${Math.round(readyAgainMs)} ms`,
      )
      expect(refused / all).toBeLessThanOrEqual(0.01)
    },
  )
