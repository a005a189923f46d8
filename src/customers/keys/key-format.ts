import { timingSafeEqual } from "node:crypto"
import type { Random } from "../../base/outside-world.ts"
import { BASE62_DIGITS, randomBase62, toBase62 } from "../store/core/id.ts"

/** The kinds of key, and the prefix that tells them apart. */
export const KEY_KINDS = {
  secret: { prefix: "svc_live_", description: "For servers: all endpoints, full results." },
  publishable: { prefix: "svc_pub_", description: "For browsers: checks from allowed origins, reduced results." },
} as const satisfies Record<string, { readonly prefix: string; readonly description: string }>
export type KeyKind = keyof typeof KEY_KINDS

/** 190 bits: what makes a key a secret. */
const SECRET_DIGITS = 32

/** Base 62 digits that hold any CRC-32: 62⁶ > 2³². */
const CHECKSUM_DIGITS = 6

/** The length of the longest key. */
export const KEY_LENGTH_MAX =
  Math.max(...Object.values(KEY_KINDS).map(({ prefix }) => prefix.length)) + SECRET_DIGITS + CHECKSUM_DIGITS

/** What a text that was sent as a key is, by its form alone. */
export type ParsedKey =
  | { readonly kind: "malformed" }
  | { readonly kind: "bad_checksum" }
  | { readonly kind: "well_formed"; readonly keyKind: KeyKind }

// prefix "svc_live_" or "svc_pub_" | 32 digits from a secure random source | 6 digits: CRC-32 of all before, zeros in front
// Digits are base 62, most significant first: 0-9 A-Z a-z.

/** A new key. It is shown once and stored nowhere; only its `hashKey` is. */
export function generateKey(kind: KeyKind, random: Random): string {
  const text = KEY_KINDS[kind].prefix + randomBase62(random, SECRET_DIGITS)
  return text + keyChecksum(text)
}

/**
 * Tells a key from a typing error without asking anybody: any one changed character and any cut are found, any two swapped
 * neighbours before the checksum too (CRC-32 finds each burst of up to 32 bits). A text of another length is not read.
 */
export function parseKey(text: string): ParsedKey {
  const keyKind = keyKindOf(text)
  if (keyKind === null) return { kind: "malformed" }
  for (let at = KEY_KINDS[keyKind].prefix.length; at < text.length; at++)
    if (!BASE62_DIGITS.includes(text.charAt(at))) return { kind: "malformed" }
  const checksumAt = text.length - CHECKSUM_DIGITS
  if (keyChecksum(text.slice(0, checksumAt)) !== text.slice(checksumAt)) return { kind: "bad_checksum" }
  return { kind: "well_formed", keyKind }
}

/** Whether the text has the prefix and the length of a key; what follows the prefix is not read. */
export const hasKeyFormat = (text: string): boolean => keyKindOf(text) !== null

/** The SHA-256 of a key in hex: the only trace of it that is kept. */
export function hashKey(text: string): string {
  return Bun.SHA256.hash(text, "hex")
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function isEqualHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

/** A text without what may be a key or begin one, such as a name that somebody pasted a key into: the prefix stays. */
export function redactKeys(text: string): string {
  return text.replace(KEY_PATTERN, (_, prefix: string) => `${prefix}…`)
}

const KEY_PATTERN = new RegExp(
  `(${Object.values(KEY_KINDS)
    .map(({ prefix }) => prefix)
    .join("|")})[0-9A-Za-z]+`,
  "g",
)

function keyKindOf(text: string): KeyKind | null {
  const { secret, publishable } = KEY_KINDS
  if (hasFormat(text, secret.prefix)) return "secret"
  return hasFormat(text, publishable.prefix) ? "publishable" : null
}

function hasFormat(text: string, prefix: string): boolean {
  return text.length === prefix.length + SECRET_DIGITS + CHECKSUM_DIGITS && text.startsWith(prefix)
}

function keyChecksum(text: string): string {
  return toBase62(Bun.hash.crc32(text), CHECKSUM_DIGITS)
}
