import { timingSafeEqual } from "node:crypto"
import type { Random } from "../../base/outside-world.ts"
import { BASE62_DIGITS, randomBase62, toBase62 } from "../store/core/id.ts"

/** The kinds of key and their prefixes. */
export const KEY_KINDS = {
  secret: { prefix: "svc_live_", description: "For servers: all endpoints, full results." },
  publishable: { prefix: "svc_pub_", description: "For browsers: checks from allowed origins, reduced results." },
} as const satisfies Record<string, { readonly prefix: string; readonly description: string }>
export type KeyKind = keyof typeof KEY_KINDS

const KEY_PREFIXES = Object.values(KEY_KINDS).map(({ prefix }) => prefix)

/** Whether a text may have a key in it. */
export const hasKey = (text: string): boolean => KEY_PREFIXES.some(prefix => text.includes(prefix))

/** 190 random bits make a key a secret. */
const SECRET_DIGITS = 32

/** Base 62 digits that represent any CRC-32: 62⁶ > 2³². */
const CHECKSUM_DIGITS = 6

/** What a text is as a key, by its format alone. */
export type ParsedKey =
  | { readonly kind: "malformed" }
  | { readonly kind: "bad_checksum" }
  | { readonly kind: "well_formed"; readonly keyKind: KeyKind }

// Format: "svc_live_" or "svc_pub_" | 32 digits from a secure random source | 6 digits: CRC-32 of all before, padded with zeros.
// Digits are base 62, most significant first: 0-9 A-Z a-z.

/** A new key. Its text is displayed once and stored nowhere; only its `hashKey` is stored. */
export function generateKey(kind: KeyKind, random: Random): string {
  const text = KEY_KINDS[kind].prefix + randomBase62(random, SECRET_DIGITS)
  return text + keyChecksum(text)
}

/**
 * Detects mistyped keys without a look-up: the checksum finds every changed character, every cut, and every swap of neighbours before
 * the checksum (CRC-32 finds each burst of up to 32 bits). A text of another length is not read.
 */
export function parseKey(text: string): ParsedKey {
  const keyKind = keyKindOf(text)
  if (keyKind === null) return { kind: "malformed" }
  for (let index = KEY_KINDS[keyKind].prefix.length; index < text.length; index++)
    if (!BASE62_DIGITS.includes(text.charAt(index))) return { kind: "malformed" }
  const checksumIndex = text.length - CHECKSUM_DIGITS
  if (keyChecksum(text.slice(0, checksumIndex)) !== text.slice(checksumIndex)) return { kind: "bad_checksum" }
  return { kind: "well_formed", keyKind }
}

/** Whether the text has the prefix and the length of a key. What follows the prefix is not checked. */
export const hasKeyFormat = (text: string): boolean => keyKindOf(text) !== null

/** The SHA-256 of a key in hex, which is all that is stored of it. */
export function hashKey(text: string): string {
  return Bun.SHA256.hash(text, "hex")
}

/** Compares two hashes in constant time. */
export function isEqualHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

/** Replaces everything that may be a key, or the beginning of one, by its prefix and `…`, for example in a name. */
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
