import { type Finding, known } from "../../src/base/finding.ts"
import { DAY_MS } from "../../src/base/utc-day.ts"
import { type Deep, deepChecks } from "../../src/check/deep.ts"
import { HeldHomepages } from "../../src/check/probes/held-homepages.ts"
import type { HomepageFound } from "../../src/check/probes/homepage.ts"
import { RDAP_BOUNDS, rdapProbe } from "../../src/check/probes/rdap.ts"
import { builtInBootstrap } from "../../src/check/probes/rdap-bootstrap.ts"
import type { StoppedTime } from "./time.ts"

/** What registries and websites tell of every domain. */
export type ToldDeep = {
  /** Days since the registration; null: the registry does not tell. */
  readonly age: Finding<number | null>
  readonly homepage: HomepageFound["homepage"]
}

/** Deep checks whose registries and websites are made up, and who was asked: `age NAME` and `page NAME`, in order. */
export function toldDeep(told: ToldDeep) {
  const asked: string[] = []
  const deep = ({ clock, later }: StoppedTime): Deep => {
    const bootstrap = builtInBootstrap()
    const ages = rdapProbe(
      {
        lookUp: async (_, domain) => {
          asked.push(`age ${domain}`)
          return { registration: told.age.known ? known(registered(told.age.value, clock())) : told.age, isAsked: true }
        },
        bootstrap: { current: () => bootstrap, ready: async () => bootstrap },
        shelf: null,
        clock,
        failed: () => undefined,
      },
      RDAP_BOUNDS,
    )
    const probe = async (domain: string): Promise<HomepageFound> => {
      asked.push(`page ${domain}`)
      return { homepage: told.homepage, url: null, movedTo: null, mark: null, isDowngraded: false }
    }
    const homepages = new HeldHomepages({ probe, shelf: null, clock, failed: () => undefined })
    return deepChecks({ ages, homepages, isAway: () => false, clock, later })
  }
  return { deep, asked }
}

const registered = (days: number | null, nowMs: number) =>
  days === null ? null : { registeredAtMs: nowMs - days * DAY_MS }
