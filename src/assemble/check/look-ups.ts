import type { DomainLists } from "../../check/domain-lookup.ts"
import type { LoadShedder } from "../../http/admission/load-shedder.ts"
import type { StoreContext } from "../context.ts"
import type { Instrumentation } from "../metrics.ts"
import { createDeepChecksService } from "./deep-checks.ts"
import { createDnsOutageLog } from "./dns-outages.ts"
import { createOnDefect } from "./evidence-defects.ts"
import { createLearnedHostsService } from "./learned-hosts.ts"
import { createNetworkService, dnsServerPlaces, type HostLearning, type NetworkService } from "./network.ts"

/** Wires the network look-ups of checks, and what is learned from them. */
export function createLookUps(context: StoreContext, activeLists: () => DomainLists, instrumentation: Instrumentation) {
  const onDefect = createOnDefect(context, instrumentation.meter)
  const learned = createLearnedHostsService(context, () => activeLists().pack)
  const matchLists: HostLearning["matchLists"] = (domain, registrable) => activeLists().pack.match(domain, registrable)
  const learning = { learnedHosts: learned.hosts, matchLists, listsVersion: () => activeLists().pack.version }
  const network = createNetworkService(context, learning, {
    outages: createDnsOutageLog(context, () => dnsServerPlaces(context)),
    onDefect,
  })
  const quiet = skipDeepChecksUnderLoad(network, instrumentation.loadShedder)
  return { learned, network, deep: createDeepChecksService(context, quiet, context, onDefect), onDefect }
}

/** Skips deep checks under load as it does while DNS is unavailable. */
export const skipDeepChecksUnderLoad = (
  { queryDns, isDnsUnavailable }: Pick<NetworkService, "queryDns" | "isDnsUnavailable">,
  loadShedder: Pick<LoadShedder, "isUnderPressure">,
): Pick<NetworkService, "queryDns" | "isDnsUnavailable"> => ({
  queryDns,
  isDnsUnavailable: () => isDnsUnavailable() || loadShedder.isUnderPressure(),
})
