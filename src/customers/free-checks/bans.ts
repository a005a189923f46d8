import type { Clock } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Wrong things are counted for so long from the first of them on. */
const STRIKES_MS = LIMITS.strikeMinutes * MINUTE_MS
const BAN_MS = LIMITS.banHours * HOUR_MS
const BAN_MAX_MS = LIMITS.banHoursMax * HOUR_MS
const MEMORY_MS = LIMITS.banMemoryHours * HOUR_MS

/**
 * When the ban of a network is over, in milliseconds since the Unix epoch; null: it is not banned. A network is named by
 * its keyed hash. A ban that would last longer than any was made by a clock that was ahead, and does not hold.
 */
export async function bannedUntilMs(store: Store, clock: Clock, networkHash: string): Promise<number | null> {
  const row = await store.one<{ banned_until_ms: number }>(
    "SELECT banned_until_ms FROM free_check_bans WHERE network_hash = $1",
    [networkHash],
  )
  return row !== null && isBanned(row.banned_until_ms, clock()) ? row.banned_until_ms : null
}

/**
 * Notes that a network did something wrong. As many as `LIMITS.strikesMax` within `LIMITS.strikeMinutes` ban it: for
 * `LIMITS.banHours`, twice as long each time that it is banned again within `LIMITS.banMemoryHours` of the end of the ban
 * before, `LIMITS.banHoursMax` at most. What a network does while it is banned counts nothing.
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

/** Reads what is known of a network and takes its row, new or by a write that changes nothing: who strikes next counts on. */
const LOCK_NETWORK_ROW = `INSERT INTO free_check_bans
    (network_hash, strike_count, strikes_since_ms, ban_count, banned_until_ms, forget_at_ms)
  VALUES ($1, 0, 0, 0, 0, $2)
  ON CONFLICT (network_hash) DO UPDATE SET strike_count = free_check_bans.strike_count
  RETURNING strike_count, strikes_since_ms, ban_count, banned_until_ms`

/** Deletes at most `countMax` networks of which nothing is to be remembered any more, and gives their count. */
export async function pruneBans(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_bans WHERE network_hash IN
       (SELECT network_hash FROM free_check_bans WHERE forget_at_ms <= $1 LIMIT $2)`,
    [clock(), countMax],
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
  // A clock that was set back begins anew too.
  const isSameSpell = now >= before.strikes_since_ms && now - before.strikes_since_ms < STRIKES_MS
  const count = isSameSpell ? before.strike_count + 1 : 1
  const since = isSameSpell ? before.strikes_since_ms : now
  if (count < LIMITS.strikesMax) return { ...latest, strike_count: count, strikes_since_ms: since }
  const lastsMs = Math.min(BAN_MS * 2 ** latest.ban_count, BAN_MAX_MS)
  return { strike_count: 0, strikes_since_ms: now, ban_count: latest.ban_count + 1, banned_until_ms: now + lastsMs }
}

/**
 * The network that a client's abuse is held against: of an IPv4 address its /24, of an IPv6 /64, as `ClientResolver` writes
 * one, that /64. What is neither is a network of its own.
 */
export function clientNetwork(client: string): string {
  const octets = client.split(".")
  return octets.length === 4 ? octets.slice(0, 3).join(".") : client
}
