import { LRUCache } from "lru-cache"
import { boundedByCount } from "../../../base/lru-bounds.ts"
import type { Stopwatch } from "../../../base/outside-world.ts"

/** How many questions below a registrable domain have to time out, without a reply between them, until it is silent. */
export const SILENT_TIMEOUTS = 4
/** How long no question below a silent domain is sent (RFC 9520 §3.2 allows from one second to five minutes). */
export const SILENT_MS = 30_000
/** How long a domain is not silent whose own servers replied while names below it timed out. */
export const REPLYING_MS = 3_600_000
/** The most domains that are remembered, about 150 bytes each. */
const DOMAINS_MAX = 10_000

type SilentDomain = {
  readonly timeoutCount: number
  /** A question about the domain itself timed out, so that the silence is not that of a subdomain with servers of its own. */
  readonly hasOwnTimeout: boolean
  readonly silentUntilMs: number
  readonly replyingUntilMs: number
}

const UNKNOWN: SilentDomain = { timeoutCount: 0, hasOwnTimeout: false, silentUntilMs: 0, replyingUntilMs: 0 }

/** Remembers the domains whose own servers do not reply, so that nobody waits for them again and again. */
export class SilentDomains {
  readonly #stopwatch: Stopwatch
  readonly #domains = new LRUCache<string, SilentDomain>(boundedByCount(DOMAINS_MAX))

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
  }

  /** Whether a question below the registrable domain would time out. */
  isSilent(domain: string): boolean {
    if (this.#domains.size === 0) return false
    return this.#stopwatch() < (this.#domains.get(domain)?.silentUntilMs ?? 0)
  }

  /**
   * Counts a timeout of a question about `name`. A domain that was silent before is silent again with the first one. `doubtful`:
   * the domain is silent now, but only names below it timed out: whether its own servers reply must be asked.
   */
  recordTimeout(domain: string, name: string): "counted" | "doubtful" {
    const nowMs = this.#stopwatch()
    const before = this.#domains.get(domain) ?? UNKNOWN
    if (nowMs < before.replyingUntilMs) return "counted"
    const timeoutCount = before.timeoutCount + 1
    const hasOwnTimeout = before.hasOwnTimeout || name === domain
    const isSilent = timeoutCount >= SILENT_TIMEOUTS
    const silentUntilMs = isSilent ? nowMs + SILENT_MS : 0
    this.#domains.set(domain, { ...before, timeoutCount, hasOwnTimeout, silentUntilMs })
    return isSilent && !hasOwnTimeout ? "doubtful" : "counted"
  }

  /** A server replied to a question below the domain. */
  recordReply(domain: string): void {
    if (this.#domains.size === 0) return
    const before = this.#domains.get(domain)
    if (before === undefined) return
    if (this.#stopwatch() < before.replyingUntilMs) return
    this.#domains.delete(domain)
  }

  /** The domain's own servers replied while names below it timed out: for a while these say nothing about it. */
  recordOwnReply(domain: string): void {
    this.#domains.set(domain, { ...UNKNOWN, replyingUntilMs: this.#stopwatch() + REPLYING_MS })
  }

  /** The timeouts were not the domains' fault. */
  clear(): void {
    this.#domains.clear()
  }
}
