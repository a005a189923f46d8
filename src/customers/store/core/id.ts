import { assert } from "../../../base/errors.ts"
import type { Random } from "../../../base/outside-world.ts"

/** What an id names. The kind is the id's prefix; no secret starts with one of them. */
type IdKind = "acc" | "act" | "fb" | "job" | "key" | "node" | "ses" | "inv"

/** 20 digits hold 119 bits: ids do not collide and cannot be guessed. */
const ID_LENGTH = 20

/** A new random id with the prefix of its kind: `acc_…`. */
export function newId(kind: IdKind, random: Random): string {
  return `${kind}_${randomBase62(random, ID_LENGTH)}`
}

/** The digits in ascending order of value: 0-9, A-Z, a-z, which is also their order in ASCII. */
export const BASE62_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The largest multiple of 62 in a byte. Bytes from here on are discarded, otherwise the first 8 digits would be more frequent. */
const UNBIASED_BELOW = 248

/** A draw discards one byte in 32; the chance that 16 draws do not suffice is negligible. */
const DRAWS_MAX = 16

/** A text of `length` digits, each equally likely: 5.95 bits a digit. Fails when the random source returns only unusable bytes. */
export function randomBase62(random: Random, length: number): string {
  let text = ""
  for (let draw = 0; draw < DRAWS_MAX && text.length < length; draw++)
    for (const byte of random(length)) if (byte < UNBIASED_BELOW) text += BASE62_DIGITS.charAt(byte % 62)
  assert(text.length >= length, "the random source gives usable bytes")
  return text.slice(0, length)
}

/** A whole number ≥ 0 in base 62, most significant digit first, padded with zeros to `length` digits. */
export function toBase62(value: number, length: number): string {
  let text = ""
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62))
    text = BASE62_DIGITS.charAt(rest % 62) + text
  return text
}

/** A source of bytes that are not random but derived from the text. A draw has at most 32 bytes. */
export function deterministicBytes(text: string): Random {
  let draw = 0
  return count => new Uint8Array(Bun.SHA256.hash(`${text} ${draw++}`).buffer).slice(0, count)
}
