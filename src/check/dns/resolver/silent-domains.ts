import { LRUCache } from "lru-cache"
import type { Stopwatch } from "../../../base/outside-world.ts"

/** How many questions below a registrable domain have to time out, without a reply between them, until it is silent. */
export const SILENT_TIMEOUTS = 4
/** How long no question below a silent domain is sent (RFC 9520 §3.2 allows from one second to five minutes). */
export const SILENT_MS = 30_000
/** The most domains that are remembered, about 150 bytes each. */
const DOMAINS_MAX = 10_000

type SilentDomain = { readonly timeoutCount: number; readonly silentUntilMs: number }

/** Remembers the domains whose own servers do not reply, so that nobody waits for them again and again. */
export class SilentDomains {
  readonly #stopwatch: Stopwatch
  readonly #domains = new LRUCache<string, SilentDomain>({ max: DOMAINS_MAX })

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
  }

  /** Whether a question below the registrable domain would time out. */
  isSilent(domain: string): boolean {
    return this.#stopwatch() < (this.#domains.get(domain)?.silentUntilMs ?? 0)
  }

  /** Counts a timeout. A domain that was silent before is silent again with the first one. */
  recordTimeout(domain: string): void {
    const timeoutCount = (this.#domains.get(domain)?.timeoutCount ?? 0) + 1
    const silentUntilMs = timeoutCount < SILENT_TIMEOUTS ? 0 : this.#stopwatch() + SILENT_MS
    this.#domains.set(domain, { timeoutCount, silentUntilMs })
  }

  /** The domain's servers replied. */
  recordReply(domain: string): void {
    if (this.#domains.size > 0) this.#domains.delete(domain)
  }

  /** The timeouts were not the domains' fault. */
  clear(): void {
    this.#domains.clear()
  }
}
