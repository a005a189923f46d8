import { known } from "../../src/base/finding.ts"
import type { DeepProbe } from "../../src/check/deep-evidence.ts"

/** Deep checks of a world in which every domain is eleven years old and has a website. */
export const deepProbeStub: DeepProbe = {
  lookup: () => ({
    ageDays: known(4018),
    homepage: known("found"),
    wasFetched: false,
    isCached: true,
    freshUntilMs: Number.POSITIVE_INFINITY,
  }),
  cachedAgeDays: () => null,
  ageVersion: () => 0,
}
