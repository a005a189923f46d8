import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto"
import { assert } from "../../base/assert.ts"
import type { Random } from "../../base/clock.ts"
import { LIMITS } from "../../contract/limits.ts"

/*
 *     | nonce (12) | tag (16) | email as UTF-8, filled up with zeros to the longest one |   in base64
 */
const CIPHER = "aes-256-gcm"
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals an email under a secret of `newSecret`: who has not the secret learns nothing of it, not even its length. */
export function sealedEmail(email: string, secret: string, random: Random): string {
  const plain = Buffer.alloc(LIMITS.addressOctetsMax)
  assert(plain.write(email) === Buffer.byteLength(email), "the email of an account is not too long")
  const nonce = random(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyOf(secret), nonce)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")
}

/** The email that was sealed under this secret. Throws when it was sealed under another, or changed since. */
export function unsealedEmail(sealed: string, secret: string): string {
  const bytes = Buffer.from(sealed, "base64")
  const decipher = createDecipheriv(CIPHER, keyOf(secret), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  return plain.toString().replace(/\0+$/, "")
}

/** The stored hash of the secret tells nothing of this key (RFC 5869). */
const keyOf = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, "", "mailkind: email of a sign-in", KEY_BYTES))
