import { isIPv4 } from "node:net"
import type { Clock } from "../../base/outside-world.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Strikes are counted for this long from the first one. */
const STRIKES_MS = LIMITS.strikeMinutes * MINUTE_MS
const BAN_MS = LIMITS.banHours * HOUR_MS
const BAN_MAX_MS = LIMITS.banHoursMax * HOUR_MS
const MEMORY_MS = LIMITS.banMemoryHours * HOUR_MS

/**
 * When the ban of a network ends, in milliseconds since the Unix epoch; null: not banned. A network is identified by its
 * keyed hash. A ban longer than the maximum comes from a clock that was ahead, and is ignored.
 */
export async function bannedUntilMs(store: Store, clock: Clock, networkHash: string): Promise<number | null> {
  const row = await store.one<{ banned_until_ms: number }>(
    "SELECT banned_until_ms FROM free_check_bans WHERE network_hash = $1",
    [networkHash],
  )
  return row !== null && isBanned(row.banned_until_ms, clock()) ? row.banned_until_ms : null
}

/**
 * Records a strike against a network. `LIMITS.strikesMax` strikes within `LIMITS.strikeMinutes` ban it for
 * `LIMITS.banHours`; each further ban within `LIMITS.banMemoryHours` of the end of the previous one is twice as long, up to
 * `LIMITS.banHoursMax`. Strikes during a ban do not count.
 */
export async function recordStrike(store: Store, clock: Clock, networkHash: string): Promise<void> {
  const now = clock()
  await store.transaction(async inside => {
    const before = (await inside.one<BanRow>(LOCK_NETWORK_ROW, [networkHash, now + STRIKES_MS])) ?? NO_STRIKES
    if (isBanned(before.banned_until_ms, now)) return
    const next = afterStrike(before, now)
    const forgetAtMs = Math.max(next.strikes_since_ms + STRIKES_MS, next.banned_until_ms + MEMORY_MS)
    await inside.run(
      `UPDATE free_check_bans SET strike_count = $2, strikes_since_ms = $3, ban_count = $4, banned_until_ms = $5,
         forget_at_ms = $6 WHERE network_hash = $1`,
      [networkHash, next.strike_count, next.strikes_since_ms, next.ban_count, next.banned_until_ms, forgetAtMs],
    )
  })
}

/** Reads and locks the row of a network, creating it if needed, so that the next strike sees this one. */
const LOCK_NETWORK_ROW = `INSERT INTO free_check_bans
    (network_hash, strike_count, strikes_since_ms, ban_count, banned_until_ms, forget_at_ms)
  VALUES ($1, 0, 0, 0, 0, $2)
  ON CONFLICT (network_hash) DO UPDATE SET strike_count = free_check_bans.strike_count
  RETURNING strike_count, strikes_since_ms, ban_count, banned_until_ms`

/** Deletes at most `countMax` networks whose strikes and bans have expired, and returns their count. */
export async function pruneBans(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_bans WHERE network_hash IN
       (SELECT network_hash FROM free_check_bans WHERE forget_at_ms <= $1 LIMIT $2)`,
    [nowMs, countMax],
  )
}

type BanRow = {
  readonly strike_count: number
  readonly strikes_since_ms: number
  readonly ban_count: number
  readonly banned_until_ms: number
}

const NO_STRIKES: BanRow = { strike_count: 0, strikes_since_ms: 0, ban_count: 0, banned_until_ms: 0 }

const isBanned = (untilMs: number, now: number): boolean => untilMs > now && untilMs - now <= BAN_MAX_MS

function afterStrike(before: BanRow, now: number): BanRow {
  const isRemembered = now < before.banned_until_ms + MEMORY_MS && before.banned_until_ms <= now
  const latest = isRemembered ? before : { ...before, ban_count: 0, banned_until_ms: 0 }
  // A clock that was set back starts a new count, too.
  const isSameSpell = now >= before.strikes_since_ms && now - before.strikes_since_ms < STRIKES_MS
  const count = isSameSpell ? before.strike_count + 1 : 1
  const since = isSameSpell ? before.strikes_since_ms : now
  if (count < LIMITS.strikesMax) return { ...latest, strike_count: count, strikes_since_ms: since }
  const lastsMs = Math.min(BAN_MS * 2 ** latest.ban_count, BAN_MAX_MS)
  return { strike_count: 0, strikes_since_ms: now, ban_count: latest.ban_count + 1, banned_until_ms: now + lastsMs }
}

/**
 * The network that is charged with a client's abuse: the /24 of an IPv4 address, the /64 of an IPv6 client as written by
 * `ClientResolver`. Anything else is a network of its own.
 */
export function clientNetwork(client: string): string {
  return isIPv4(client) ? client.split(".").slice(0, 3).join(".") : client
}
