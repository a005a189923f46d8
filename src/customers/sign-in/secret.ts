import { createHash } from "node:crypto"
import type { Random } from "../../base/clock.ts"
import { randomBase62 } from "../store/base62.ts"

/** 190 bits: nobody guesses one. */
const SECRET_DIGITS = 32

/** Whether a text has the form of a secret; what has not is never looked up. */
export const isSecret = (text: string): boolean => /^[0-9A-Za-z]{32}$/.test(text)

/** A new secret that a browser or a link brings back. */
export const newSecret = (random: Random): string => randomBase62(random, SECRET_DIGITS)

/** What is stored in place of a secret: its SHA-256 in hex. */
export const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex")
