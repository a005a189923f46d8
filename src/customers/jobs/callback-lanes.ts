/** How many callbacks one process sends at the same time, one of each account. */
export const CALLBACK_LANES = {
  /** To receivers that answer soon, or of which nothing is known yet. */
  quickMax: 32,
  /** To receivers that do not, besides. */
  slowMax: 32,
  /** Begun at one host, in each lane. */
  perHostMax: 8,
  /** Who has not answered after so long is slow, and so is the account's next callback from the beginning. */
  quickMs: 2000,
  /** Accounts that are remembered as slow. */
  slowAccountsMax: 1000,
} as const

/** Whose callback it is, and which host gets it. */
type CallbackPlace = { readonly accountId: string; readonly host: string }

type Running = { readonly host: string; readonly startedAtMs: number; readonly isSlow: boolean }

/**
 * Which callbacks may begin. Slow receivers have a lane of their own, so that however many there are, they hold up each other and not
 * the receivers that answer. Times are of a stopwatch.
 */
export class CallbackLanes {
  readonly #running = new Map<string, Running>()
  readonly #slowAccounts = new Set<string>()

  /** Whether no callback at all may begin. */
  isFull(nowMs: number): boolean {
    const { quick, slow } = this.#counts(nowMs)
    return quick >= CALLBACK_LANES.quickMax && slow >= CALLBACK_LANES.slowMax
  }

  hasRoom({ accountId, host }: CallbackPlace, nowMs: number): boolean {
    if (this.#running.has(accountId)) return false
    const isSlow = this.#slowAccounts.has(accountId)
    const { quick, slow } = this.#counts(nowMs)
    if (isSlow ? slow >= CALLBACK_LANES.slowMax : quick >= CALLBACK_LANES.quickMax) return false
    const beside = this.#running.values().filter(each => each.host === host && isInSlowLane(each, nowMs) === isSlow)
    return [...beside].length < CALLBACK_LANES.perHostMax
  }

  begin({ accountId, host }: CallbackPlace, nowMs: number): void {
    this.#running.set(accountId, { host, startedAtMs: nowMs, isSlow: this.#slowAccounts.has(accountId) })
  }

  end(accountId: string, nowMs: number): void {
    const running = this.#running.get(accountId)
    if (running === undefined) return
    this.#running.delete(accountId)
    this.#slowAccounts.delete(accountId)
    if (nowMs - running.startedAtMs < CALLBACK_LANES.quickMs) return
    this.#slowAccounts.add(accountId)
    const [oldest] = this.#slowAccounts
    if (oldest !== undefined && this.#slowAccounts.size > CALLBACK_LANES.slowAccountsMax)
      this.#slowAccounts.delete(oldest)
  }

  /** What turns out to be slow moves to the lane of the slow while there is room. */
  #counts(nowMs: number): { readonly quick: number; readonly slow: number } {
    const found = [...this.#running.values()].filter(each => isInSlowLane(each, nowMs)).length
    const slow = Math.min(found, CALLBACK_LANES.slowMax)
    return { quick: this.#running.size - slow, slow }
  }
}

const isInSlowLane = ({ isSlow, startedAtMs }: Running, nowMs: number): boolean =>
  isSlow || nowMs - startedAtMs >= CALLBACK_LANES.quickMs
