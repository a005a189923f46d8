import type { OutsideAsked } from "./assemble-outside.ts"
import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import { standingOf } from "./check/address/public-suffix.ts"
import { type Deep, deepChecks, NEVER_DEEP } from "./check/deep.ts"
import { guardedFetch } from "./check/probes/guarded-fetch.ts"
import { HeldHomepages } from "./check/probes/held-homepages.ts"
import { homepageProbe } from "./check/probes/homepage.ts"
import { publicWeb } from "./check/probes/public-web.ts"
import { RDAP_BOUNDS, rdapProbe } from "./check/probes/rdap.ts"
import { rdapLookUp } from "./check/probes/rdap-look-up.ts"
import { type RefreshedBootstrap, refreshedBootstrap } from "./check/probes/rdap-refresh.ts"
import { DOWNLOAD_BOUNDS, download } from "./check/refresh/download.ts"
import type { Settings } from "./config/settings.ts"
import { type DomainFacts, domainFacts } from "./customers/domain-facts/domain-facts.ts"
import type { Store } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/** Where the registries' servers are told (RFC 9224 §4), and how far its download may go. */
export const BOOTSTRAP_URL = "https://data.iana.org/rdap/dns.json"
export const BOOTSTRAP_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 1_048_576, timeoutMs: 30_000 }

/** How often what deep checks found is written, and what is too old is deleted. */
const WRITE_MS = 1000
const PRUNE_MS = 3_600_000

/** What deep checks ask, and the work that keeps what they found. */
export type DeepAtWork = {
  readonly deep: Deep
  /** Starts what is done in the background. */
  readonly begin: () => void
  /** Ends it, and writes what is held. The store is still open. It never rejects. */
  readonly end: () => Promise<void>
}

/** Builds deep checks. `store` null: what is found is kept in memory alone. Without DNS nothing deep is ever asked. */
export function deepAtWork(
  world: World,
  settings: Settings,
  { ask, isDnsAway }: OutsideAsked,
  store: Store | null,
  log: Log,
  agent: string,
): DeepAtWork {
  if (ask === null) return { deep: NEVER_DEEP, begin: () => undefined, end: async () => undefined }
  const { web, connect, later, clock } = world
  const failed = (says: string) => failing(log, says)
  const facts = store === null ? null : domainFacts(store, clock)
  const bootstrap = bootstrapInUse(world, settings, log, agent)
  const isOwn = settings.MAILKIND_RDAP_BOOTSTRAP_URL !== null
  const lookUp = rdapLookUp({ web, elsewhere: publicWeb(ask, web), clock, later, agent, isOwn }, RDAP_BOUNDS.line)
  const unread = failed("what was known of a domain was not read")
  const ages = rdapProbe({ lookUp, bootstrap, shelf: facts?.ages ?? null, clock, failed: unread }, RDAP_BOUNDS)
  const probe = homepageProbe({
    visit: guardedFetch({ ask, connect, later, agent }),
    later,
    registrableOf: name => standingOf(name).registrable,
  })
  const homepages = new HeldHomepages({ probe, shelf: facts?.homepages ?? null, clock, failed: unread })
  return {
    deep: deepChecks({ ages, homepages, isAway: isDnsAway, clock, later }),
    ...keeping(world, facts, bootstrap, failed),
  }
}

/** The bootstrap that is built in or that the operator names, kept fresh in the data directory. */
function bootstrapInUse(world: World, settings: Settings, log: Log, agent: string): RefreshedBootstrap {
  const { web, later, clock, every, files } = world
  const own = settings.MAILKIND_RDAP_BOOTSTRAP_URL
  const url = own ?? BOOTSTRAP_URL
  return refreshedBootstrap({
    url,
    isOwn: own !== null,
    download: known => download({ web, later, agent }, url, known, BOOTSTRAP_BOUNDS),
    folder: files.folder(settings.MAILKIND_DATA_DIR),
    clock,
    every,
    complain: says => log("warn", "the RDAP bootstrap", { why: says }),
  })
}

/** What is done in the background for deep checks. */
function keeping(
  { every }: World,
  facts: DomainFacts | null,
  bootstrap: RefreshedBootstrap,
  failed: (says: string) => (error: unknown) => void,
): Pick<DeepAtWork, "begin" | "end"> {
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
  const repeated = repeating(every, [
    [WRITE_MS, () => void writeOnce()],
    [PRUNE_MS, () => void prune().catch(failed("what deep checks found long ago was not deleted"))],
  ])
  let endFreshening = (): void => undefined
  return {
    begin: () => {
      endFreshening = bootstrap.start()
      repeated.begin()
    },
    end: async () => {
      isOver = true
      endFreshening()
      repeated.end()
      await writing
      await write()
    },
  }
}
