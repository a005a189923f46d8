import { createHmac } from "node:crypto"
import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { LIMITS } from "../../contract/limits.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { Store } from "../store/core/store.ts"
import { type KeyKind, redactKeys } from "./key-format.ts"

/** Uses that are remembered in memory, so that they are not written again. */
const RECENT_USES_MIN = 20_000

/** After so long a use is written again, so that the row of a network in use is not deleted. */
const REWRITE_MS = DAY_MS

/**
 * Of how many requests of a key in a window the client is looked at: finding its address takes 1.4 µs, a tenth of a quick answer. A key
 * with up to 200 requests a second and process is watched exactly, a faster one by samples.
 */
const LOOKS_PER_WINDOW_MAX = 20
const WINDOW_MS = 100
const WATCHED_KEYS_MIN = 10_000

/** Uses that wait for the next flush. Further ones are recorded when they come again. */
const PENDING_USES_MAX = 5_000

/** Uses that one flush writes, each in a transaction of its own. */
const USES_PER_FLUSH_MAX = 100

const GRACE_MS = LIMITS.newNetworkGraceMinutes * 60_000
const RETENTION_MS = LIMITS.seenNetworkDays * DAY_MS

/** How many clients of a key were looked at in the current window. Written in place. */
type LookWindow = { startMs: number; count: number }

/** What the watch works with. */
export type NetworkWatchDeps = {
  readonly store: Store
  readonly clock: Clock
  /** The name of the network around a client, an IPv4 /24 or an IPv6 /48; null: the client has no address. */
  readonly networkOf: (client: string) => string | null
  /** The key under which networks are hashed, the same in every process on the store. Rejects when the store fails. */
  readonly hashKey: () => Promise<string>
}

/** One secret key used from one network. */
type NetworkUse = { readonly keyId: string; readonly network: string; readonly atMs: number }

/**
 * Notices when a secret key is used from a network for the first time, an IPv4 /24 or an IPv6 /48, and adds a mail to its owner to the
 * outbox. The first hour of a key causes no mail, and a key has at most one a day. A request only records; `flush` writes. Networks are
 * stored as keyed hashes, at most `LIMITS.seenNetworksPerKeyMax` a key: a key that is used from more of them causes no further mail.
 */
export class NetworkWatch {
  readonly #deps: NetworkWatchDeps
  /** When a use was recorded last, by key and client. */
  readonly #recent = new TwoGenerationCache<string, number>(RECENT_USES_MIN)
  readonly #pending = new Map<string, NetworkUse>()
  readonly #windows = new TwoGenerationCache<string, LookWindow>(WATCHED_KEYS_MIN)

  constructor(deps: NetworkWatchDeps) {
    this.#deps = deps
  }

  /** Whether the client of a request with this key is to be found and recorded now. */
  isDue(keyId: string): boolean {
    const nowMs = this.#deps.clock()
    const window = this.#windows.get(keyId)
    if (window === undefined) {
      this.#windows.set(keyId, { startMs: nowMs, count: 1 })
      return true
    }
    if (Math.abs(nowMs - window.startMs) >= WINDOW_MS) {
      window.startMs = nowMs
      window.count = 0
    }
    return ++window.count <= LOOKS_PER_WINDOW_MAX
  }

  /** Records that the key is used by this client: an IPv4 address or an IPv6 /64. A client without an address is ignored. */
  record(keyId: string, client: string): void {
    const use = `${keyId} ${client}`
    const nowMs = this.#deps.clock()
    const recordedAtMs = this.#recent.get(use)
    if (recordedAtMs !== undefined && Math.abs(nowMs - recordedAtMs) < REWRITE_MS) return
    if (this.#pending.size >= PENDING_USES_MAX) return
    this.#recent.set(use, nowMs)
    const network = this.#deps.networkOf(client)
    if (network !== null) this.#pending.set(`${keyId} ${network}`, { keyId, network, atMs: nowMs })
  }

  /** Writes a batch of uses and returns its size; zero when none was left. When the store fails it rejects, and the rest stays for the next call. */
  async flush(): Promise<number> {
    if (this.#pending.size === 0) return 0
    const { store } = this.#deps
    const hashKey = await this.#deps.hashKey()
    const batch = [...this.#pending].slice(0, USES_PER_FLUSH_MAX)
    for (const [name, use] of batch) {
      await store.transaction(inner => recordNetwork(inner, hashKey, use))
      if (this.#pending.get(name) === use) this.#pending.delete(name)
    }
    return batch.length
  }
}

/** Deletes networks that were not seen for long, at most `countMax`, and returns their count. */
export async function pruneNetworks(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM key_networks WHERE (key_id, network_hash) IN
     (SELECT key_id, network_hash FROM key_networks WHERE last_seen_at_ms < $1 LIMIT $2)`,
    [nowMs - RETENTION_MS, countMax],
  )
}

type WatchedKeyRow = {
  readonly id: string
  readonly account_id: string
  readonly kind: KeyKind
  readonly name: string
  readonly last4: string
  readonly networks_since_ms: number
  readonly network_mail_at_ms: number | null
}

async function recordNetwork(store: Store, hashKey: string, { keyId, network, atMs }: NetworkUse): Promise<void> {
  // It locks the row, so that of two processes one sees the network of the other. The first use starts the hour without mails.
  const key = await store.one<WatchedKeyRow>(
    `UPDATE keys SET networks_since_ms = COALESCE(networks_since_ms, $2) WHERE id = $1 AND kind = 'secret'
     RETURNING id, account_id, kind, name, last4, networks_since_ms, network_mail_at_ms`,
    [keyId, atMs],
  )
  if (key === null) return
  const hash = createHmac("sha256", hashKey).update(`${keyId} ${network}`).digest("hex")
  const isKnown =
    (await store.run(
      `UPDATE key_networks SET last_seen_at_ms = CASE WHEN last_seen_at_ms < $3 THEN $3 ELSE last_seen_at_ms END
       WHERE key_id = $1 AND network_hash = $2`,
      [keyId, hash, atMs],
    )) > 0
  if (isKnown || (await countNetworks(store, keyId)) >= LIMITS.seenNetworksPerKeyMax) return
  await store.run(
    "INSERT INTO key_networks (key_id, network_hash, first_seen_at_ms, last_seen_at_ms) VALUES ($1, $2, $3, $3)",
    [keyId, hash, atMs],
  )
  if (isWorthMail(key, atMs)) await notifyOwner(store, key, atMs)
}

async function countNetworks(store: Store, keyId: string): Promise<number> {
  const row = await store.one<{ seen: number }>("SELECT COUNT(*) AS seen FROM key_networks WHERE key_id = $1", [keyId])
  return row?.seen ?? 0
}

const isWorthMail = ({ networks_since_ms: sinceMs, network_mail_at_ms: mailAtMs }: WatchedKeyRow, atMs: number) =>
  atMs - sinceMs >= GRACE_MS && (mailAtMs === null || atMs - mailAtMs >= DAY_MS)

async function notifyOwner(store: Store, key: WatchedKeyRow, atMs: number): Promise<void> {
  await store.run("UPDATE keys SET network_mail_at_ms = $2 WHERE id = $1", [key.id, atMs])
  await enqueueNotice(store, atMs, {
    accountId: key.account_id,
    subject: `${key.id} ${atMs}`,
    kind: "key_new_network",
    params: { kind: key.kind, name: redactKeys(key.name), last4: key.last4, atMs },
  })
}
