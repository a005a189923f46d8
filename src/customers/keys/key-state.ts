import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"

/** How long before its expiry a key is told to expire soon, and its owner gets a mail. */
export const EXPIRY_NOTICE_MS = LIMITS.keyExpiryNoticeDays * DAY_MS

/** The states of a key. A revoked key stays revoked; an expired one works again when its owner sets a later expiry. */
export const KEY_STATES = {
  active: { isUsable: true, label: "active", description: "Requests are accepted." },
  expiring: {
    isUsable: true,
    label: "expires soon",
    description: `Requests are accepted. The key expires within ${LIMITS.keyExpiryNoticeDays} days.`,
  },
  expired: { isUsable: false, label: "expired", description: "The key has expired. Requests are refused." },
  revoked: { isUsable: false, label: "revoked", description: "Requests are refused permanently." },
} as const satisfies Record<
  string,
  { readonly isUsable: boolean; readonly label: string; readonly description: string }
>
export type KeyState = keyof typeof KEY_STATES

/** What decides the state of a key. */
type KeyLife = { readonly revokedAtMs: number | null; readonly expiresAtMs: number | null }

/** The state of a key at an instant. */
export function keyState({ revokedAtMs, expiresAtMs }: KeyLife, nowMs: number): KeyState {
  if (revokedAtMs !== null) return "revoked"
  if (expiresAtMs === null) return "active"
  if (expiresAtMs <= nowMs) return "expired"
  return expiresAtMs - nowMs <= EXPIRY_NOTICE_MS ? "expiring" : "active"
}

/** Whether a key is let in at an instant. */
export const isUsableKey = (key: KeyLife, nowMs: number): boolean => KEY_STATES[keyState(key, nowMs)].isUsable
