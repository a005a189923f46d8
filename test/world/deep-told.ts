import { known } from "../../src/base/finding.ts"
import type { Deep } from "../../src/check/deep.ts"

/** Deep checks of a world in which every domain is eleven years old and has a website. */
export const deepTold: Deep = {
  ask: () => ({
    ageDays: known(4018),
    homepage: known("found"),
    isCached: true,
    freshUntilMs: Number.POSITIVE_INFINITY,
  }),
  heldAge: () => null,
}
