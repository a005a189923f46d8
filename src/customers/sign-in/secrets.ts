import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { randomBase62 } from "../store/core/id.ts"

/** 190 bits, so a secret cannot be guessed. */
const SECRET_DIGITS = 32

/** Whether a text has the form of a secret; other texts are not looked up. */
export const isSecret = (text: string): boolean => /^[0-9A-Za-z]{32}$/.test(text)

/** A new secret for a cookie or a link. */
export const newSecret = (random: Random): string => randomBase62(random, SECRET_DIGITS)

/** The stored form of a secret: its SHA-256 in hex. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")

/**
 * The range of start times of things that last for `lifeMs` and have not ended. A start far in the future, from a clock that
 * was ahead, counts as ended: it must not last for years.
 */
export const validStartRange = (nowMs: number, lifeMs: number): readonly [number, number] => [
  nowMs - lifeMs,
  nowMs + lifeMs,
]

const CODES_COUNT = 10 ** LIMITS.signInCodeDigits

/** The largest multiple of `CODES` in 32 bits. Draws from here on are rejected; otherwise some codes would be likelier. */
const UNBIASED_BELOW = 2 ** 32 - (2 ** 32 % CODES_COUNT)

/** One draw in 4000 is rejected, so 8 rejections in a row do not happen. */
const DRAWS_MAX = 8

/** A new code of digits; all codes are equally likely. */
export function generateCode(random: Random): string {
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const bytes = random(4)
    const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
    if (drawn < UNBIASED_BELOW) return String(drawn % CODES_COUNT).padStart(LIMITS.signInCodeDigits, "0")
  }
  assert(false, "the random source gives usable draws")
}

const CODE_FORMAT = new RegExp(`^[0-9]{${LIMITS.signInCodeDigits}}$`)

/** How many characters of a text are read; a code with a space between all digits is shorter. */
const TYPED_LENGTH_MAX = 32

/**
 * Parses an entered code; null: the text is none. White space and hyphens between digits are ignored; full-width digits
 * (`１２３`), which some keyboards produce, are accepted.
 */
export function parseTypedCode(text: string): string | null {
  if (text.length > TYPED_LENGTH_MAX) return null
  const digits = text.normalize("NFKC").replace(/[\s\p{Pd}]/gu, "")
  return CODE_FORMAT.test(digits) ? digits : null
}

/*
 *     | nonce (12) | tag (16) | email as UTF-8, filled up with zeros to the longest one |   in base64
 */
const CIPHER = "aes-256-gcm"
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts an email under a secret from `newSecret`. Without the secret nothing is revealed, not even its length. */
export function sealEmail(email: string, secret: string, random: Random): string {
  const plain = Buffer.alloc(LIMITS.addressBytesMax)
  assert(plain.write(email) === Buffer.byteLength(email), "the email of an account is not too long")
  const nonce = random(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey(secret), nonce)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")
}

/** Decrypts an email. Throws when it was encrypted under another secret, or was altered. */
export function unsealEmail(sealed: string, secret: string): string {
  const bytes = Buffer.from(sealed, "base64")
  const decipher = createDecipheriv(CIPHER, sealingKey(secret), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  return plain.toString().replace(/\0+$/, "")
}

/** HKDF (RFC 5869): the stored hash of the secret reveals nothing about this key. */
const sealingKey = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, "", "mailkind: email of a sign-in", KEY_BYTES))
