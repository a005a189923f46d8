import { type Log, logError } from "../../base/log.ts"
import { createIntervals } from "../../base/time.ts"
import { classifySuffix } from "../../check/address/public-suffix.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../check/age/age-probe.ts"
import { createRefreshingBootstrap, type RefreshingBootstrap } from "../../check/age/bootstrap-refresh.ts"
import { createRdapLookup } from "../../check/age/rdap-lookup.ts"
import { createDeepProbe, type DeepProbe, OFFLINE_DEEP_PROBE } from "../../check/deep-evidence.ts"
import { DOWNLOAD_BOUNDS, download } from "../../check/fetch/download.ts"
import { createGuardedFetch } from "../../check/fetch/guarded-fetch.ts"
import { createPublicFetch } from "../../check/fetch/public-address.ts"
import { HomepageCache } from "../../check/homepage/homepage-cache.ts"
import { createHomepageProbe } from "../../check/homepage/homepage-probe.ts"
import type { Settings } from "../../config/settings.ts"
import { createDomainFacts, type DomainFacts } from "../../customers/evidence/domain-facts.ts"
import type { Store } from "../../customers/store/core/store.ts"
import type { System } from "../../system/system.ts"
import type { NetworkService } from "./network.ts"

/** Where the registries' servers are told (RFC 9224 §4), and how far its download may go. */
export const RDAP_BOOTSTRAP_URL = "https://data.iana.org/rdap/dns.json"
export const RDAP_BOOTSTRAP_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 1_048_576, timeoutMs: 30_000 }

/** How often what deep checks found is written, and what is too old is deleted. */
const WRITE_MS = 1000
const PRUNE_MS = 3_600_000

/** What deep checks ask, and the work that keeps what they found. */
export type DeepChecksService = {
  readonly deepChecks: DeepProbe
  /** Starts what is done in the background. */
  readonly start: () => void
  /** Ends it, and writes what is held. The store is still open. It never rejects. */
  readonly stop: () => Promise<void>
}

/** Builds deep checks. `store` null: what is found is kept in memory alone. Without DNS nothing deep is ever asked. */
export function createDeepChecksService(
  world: System,
  settings: Settings,
  { queryDns, isDnsUnavailable }: NetworkService,
  store: Store | null,
  log: Log,
  userAgent: string,
): DeepChecksService {
  if (queryDns === null) return { deepChecks: OFFLINE_DEEP_PROBE, start: () => undefined, stop: async () => undefined }
  const { fetchUrl, connect, setTimer, clock } = world
  const failed = (says: string) => logError(log, says)
  const facts = store === null ? null : createDomainFacts(store, clock)
  const bootstrap = createRdapBootstrap(world, settings, log, userAgent)
  const isOperatorUrl = settings.MAILKIND_RDAP_BOOTSTRAP_URL !== null
  const lookupRegistration = createRdapLookup(
    { fetchUrl, fetchPublicUrl: createPublicFetch(queryDns, fetchUrl), clock, setTimer, userAgent, isOperatorUrl },
    AGE_PROBE_BOUNDS.server,
  )
  const unread = failed("what was known of a domain was not read")
  const ageProbe = createAgeProbe(
    { lookupRegistration, bootstrap, store: facts?.ages ?? null, clock, onError: unread },
    AGE_PROBE_BOUNDS,
  )
  const probe = createHomepageProbe({
    fetchPage: createGuardedFetch({ resolver: queryDns, connect, setTimer, userAgent }),
    setTimer,
    registrableOf: name => classifySuffix(name).registrable,
  })
  const homepageCache = new HomepageCache({ probe, store: facts?.homepages ?? null, clock, onError: unread })
  return {
    deepChecks: createDeepProbe({ ageProbe, homepageCache, isUnavailable: isDnsUnavailable, clock, setTimer }),
    ...createFactStoreWork(world, facts, bootstrap, failed),
  }
}

/** The bootstrap that is built in or that the operator names, kept fresh in the data directory. */
function createRdapBootstrap(world: System, settings: Settings, log: Log, userAgent: string): RefreshingBootstrap {
  const { fetchUrl, setTimer, clock, runInterval, files } = world
  const own = settings.MAILKIND_RDAP_BOOTSTRAP_URL
  const url = own ?? RDAP_BOOTSTRAP_URL
  return createRefreshingBootstrap({
    url,
    isOperatorUrl: own !== null,
    download: known => download({ fetchUrl, setTimer, userAgent }, url, known, RDAP_BOOTSTRAP_BOUNDS),
    folder: files.folder(settings.MAILKIND_DATA_DIR),
    clock,
    runInterval,
    onWarning: says => log("warn", "the RDAP bootstrap", { why: says }),
  })
}

/** What is done in the background for deep checks. */
function createFactStoreWork(
  { runInterval }: System,
  facts: DomainFacts | null,
  bootstrap: RefreshingBootstrap,
  failed: (says: string) => (error: unknown) => void,
): Pick<DeepChecksService, "start" | "stop"> {
  let isOver = false
  // A store that is slow is written to by one at a time, however long that takes.
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => await facts?.flush().catch(failed("what deep checks found was not written"))
  const writeOnce = (): Promise<void> => {
    writing ??= write().finally(() => {
      writing = null
    })
    return writing
  }
  const prune = async (): Promise<void> => {
    while (!isOver && ((await facts?.prune()) ?? 0) > 0);
  }
  const repeated = createIntervals(runInterval, [
    [WRITE_MS, () => void writeOnce()],
    [PRUNE_MS, () => void prune().catch(failed("what deep checks found long ago was not deleted"))],
  ])
  let endFreshening = (): void => undefined
  return {
    start: () => {
      endFreshening = bootstrap.start()
      repeated.start()
    },
    stop: async () => {
      isOver = true
      endFreshening()
      repeated.stop()
      await writing
      await write()
    },
  }
}
