import { type Finding, known } from "../../src/base/finding.ts"
import { DAY_MS } from "../../src/base/time.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../src/check/age/age-probe.ts"
import { bundledBootstrap } from "../../src/check/age/rdap-bootstrap.ts"
import { createDeepProbe, type DeepProbe } from "../../src/check/deep-evidence.ts"
import { HomepageCache } from "../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../src/check/homepage/homepage-probe.ts"
import type { FakeTime } from "./time.ts"

/** What registries and websites tell of every domain. */
export type DeepFacts = {
  /** Whether the websites are contacted. Absent: if there is a homepage. */
  readonly isFetched?: boolean
  /** Days since the registration; null: the registry does not tell. */
  readonly age: Finding<number | null>
  readonly homepage: HomepageProbeResult["homepage"]
}

/** Deep checks whose registries and websites are made up, and who was asked: `age NAME` and `page NAME`, in order. */
export function fakeDeepProbe(facts: DeepFacts) {
  const requests: string[] = []
  const { isFetched = facts.homepage.known } = facts
  const deep = ({ clock, later: setTimer }: FakeTime): DeepProbe => {
    const bootstrap = bundledBootstrap()
    const ageProbe = createAgeProbe(
      {
        lookupRegistration: async (_, domain) => {
          requests.push(`age ${domain}`)
          return {
            registration: facts.age.known ? known(registered(facts.age.value, clock())) : facts.age,
            wasQueried: true,
          }
        },
        bootstrap: { current: () => bootstrap, ready: async () => bootstrap },
        store: null,
        clock,
        onError: () => undefined,
      },
      AGE_PROBE_BOUNDS,
    )
    const probe = async (domain: string): Promise<HomepageProbeResult> => {
      requests.push(`page ${domain}`)
      return {
        homepage: facts.homepage,
        url: null,
        movedTo: null,
        parkingSignal: null,
        isDowngraded: false,
        wasFetched: isFetched,
      }
    }
    const homepageCache = new HomepageCache({ probe, store: null, clock, onError: () => undefined })
    return createDeepProbe({ ageProbe, homepageCache, isUnavailable: () => false, clock, setTimer })
  }
  return { deep, requests }
}

const registered = (days: number | null, nowMs: number) =>
  days === null ? null : { registeredAtMs: nowMs - days * DAY_MS }
