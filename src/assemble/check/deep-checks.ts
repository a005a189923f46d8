import { urlPlace } from "../../base/fetch.ts"
import { logError } from "../../base/log.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { createIntervals } from "../../base/time.ts"
import type { TrustedTime } from "../../base/trusted-clock.ts"
import { classifySuffix } from "../../check/address/public-suffix.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../check/age/age-probe.ts"
import { createRefreshingBootstrap, type RefreshingBootstrap } from "../../check/age/bootstrap-refresh.ts"
import { createRdapLookup } from "../../check/age/rdap-lookup.ts"
import { createDeepProbe, OFFLINE_DEEP_PROBE } from "../../check/deep-evidence.ts"
import { DOWNLOAD_BOUNDS, download } from "../../check/fetch/download.ts"
import { createGuardedFetch } from "../../check/fetch/guarded-fetch.ts"
import { createPublicFetch } from "../../check/fetch/public-address.ts"
import { HomepageCache } from "../../check/homepage/homepage-cache.ts"
import { createHomepageProbe } from "../../check/homepage/homepage-probe.ts"
import { createDomainFacts, type DomainFacts } from "../../customers/evidence/domain-facts.ts"
import type { Store } from "../../customers/store/core/store.ts"
import type { CheckContext } from "../context.ts"
import { formatUserAgent } from "../program.ts"
import { createOnDefect, type NetworkService } from "./network.ts"

/** The bootstrap file that lists the RDAP servers of registries (RFC 9224 §4), and the bounds of its download. */
export const RDAP_BOOTSTRAP_URL = "https://data.iana.org/rdap/dns.json"
export const RDAP_BOOTSTRAP_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 1_048_576, timeoutMs: 30_000 }

/** How often results of deep checks are written, and old ones are deleted. */
const WRITE_MS = 1000
const PRUNE_MS = 3_600_000

/**
 * Creates deep checks, and the background work that stores their results. Without a store, results are cached in memory only. `factsMax`: how many
 * ages and how many homepages are cached; absent: the usual numbers. Without DNS, and without requests to other hosts, deep checks are off.
 */
export function createDeepChecksService(
  context: CheckContext,
  { queryDns, isDnsUnavailable }: Pick<NetworkService, "queryDns" | "isDnsUnavailable">,
  stored: { readonly store: Store; readonly trustedTime: TrustedTime } | null,
  onDefect = createOnDefect(context),
  factsMax?: number,
) {
  if (queryDns === null || context.settings.MAILKIND_OUTSIDE === "off")
    return { deepProbe: OFFLINE_DEEP_PROBE, start: () => undefined, stop: async () => undefined }
  const { system, settings, log } = context
  const { fetchUrl, connect, setTimer, clock } = system
  const userAgent = formatUserAgent(settings)
  const facts = stored === null ? null : createDomainFacts(stored.store, clock)
  const bootstrap = createRdapBootstrap(context)
  const isOperatorUrl = settings.MAILKIND_RDAP_BOOTSTRAP_URL !== null
  const lookupRegistration = createRdapLookup(
    { fetchUrl, fetchPublicUrl: createPublicFetch(queryDns, fetchUrl), clock, setTimer, userAgent, isOperatorUrl },
    AGE_PROBE_BOUNDS.server,
  )
  const onReadError = logError(log, "stored results of deep checks were not read")
  const ageProbe = createAgeProbe(
    { lookupRegistration, bootstrap, store: facts?.ages ?? null, clock, onError: onReadError },
    {
      ...AGE_PROBE_BOUNDS,
      cache: { ...AGE_PROBE_BOUNDS.cache, entriesMax: factsMax ?? AGE_PROBE_BOUNDS.cache.entriesMax },
    },
  )
  const probe = createHomepageProbe({
    fetchPage: createGuardedFetch({ resolver: queryDns, connect, setTimer, userAgent }),
    setTimer,
    registrableOf: name => classifySuffix(name).registrable,
  })
  const homepageCache = new HomepageCache({
    ...{ probe, store: facts?.homepages ?? null, entriesMax: factsMax, clock, onError: onReadError },
  })
  return {
    deepProbe: createDeepProbe({ ageProbe, homepageCache, isUnavailable: isDnsUnavailable, onDefect, clock, setTimer }),
    ...createFactStoreWork(context, facts, stored?.trustedTime.now ?? (() => null), bootstrap),
  }
}

/** The built-in bootstrap file or the operator's, refreshed in the data directory. */
function createRdapBootstrap({ system, settings, log }: CheckContext): RefreshingBootstrap {
  const { fetchUrl, setTimer, clock, runInterval, files } = system
  const userAgent = formatUserAgent(settings)
  const operatorUrl = settings.MAILKIND_RDAP_BOOTSTRAP_URL
  const url = operatorUrl ?? RDAP_BOOTSTRAP_URL
  return createRefreshingBootstrap({
    url,
    isOperatorUrl: operatorUrl !== null,
    download: validators => download({ fetchUrl, setTimer, userAgent }, url, validators, RDAP_BOOTSTRAP_BOUNDS),
    folder: files.folder(settings.MAILKIND_DATA_DIR),
    clock,
    runInterval,
    onWarning: why =>
      log("warn", "the RDAP bootstrap is not fresh", {
        ...{ where: urlPlace(url), why },
        remedy: "Run `mailkind doctor --only rdap`. Let this host reach the URL, or set MAILKIND_RDAP_BOOTSTRAP_URL.",
      }),
  })
}

/** The background work of deep checks. */
function createFactStoreWork(
  { system: { runInterval }, log }: CheckContext,
  facts: DomainFacts | null,
  trustedNow: TrustedTime["now"],
  bootstrap: RefreshingBootstrap,
) {
  let isStopped = false
  // A slow store gets one write at a time.
  const writes = new SingleFlight<null, void>()
  const write = async (): Promise<void> =>
    await facts?.flush().catch(logError(log, "results of deep checks were not written"))
  const prune = async (): Promise<void> => {
    while (!isStopped && ((await facts?.prune(trustedNow())) ?? 0) > 0);
  }
  const intervals = createIntervals(runInterval, [
    [WRITE_MS, () => writes.run(null, write)],
    [PRUNE_MS, prune, logError(log, "old results of deep checks were not deleted")],
  ])
  let stopRefreshing = (): void => undefined
  return {
    start: () => {
      stopRefreshing = bootstrap.start()
      intervals.start()
    },
    stop: async () => {
      isStopped = true
      stopRefreshing()
      intervals.stop()
      await writes.get(null)
      await write()
    },
  }
}
