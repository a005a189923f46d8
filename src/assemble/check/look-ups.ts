import type { DomainLists } from "../../check/domain-lookup.ts"
import type { StoreContext } from "../context.ts"
import { type Instrumentation, skipDeepChecksUnderLoad } from "../metrics.ts"
import { createDeepChecksService } from "./deep-checks.ts"
import { createDnsOutageLog } from "./dns-outages.ts"
import { createOnDefect } from "./evidence-defects.ts"
import { createLearnedHostsService } from "./learned-hosts.ts"
import { createNetworkService, dnsServerPlaces, type HostLearning } from "./network.ts"

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
  const quiet = skipDeepChecksUnderLoad(network, instrumentation)
  return { learned, network, deep: createDeepChecksService(context, quiet, context, onDefect), onDefect }
}
