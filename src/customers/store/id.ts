import type { Random } from "../../base/clock.ts"
import { randomBase62 } from "./base62.ts"

/** What an id names; it is the id's prefix. No secret has one of these prefixes. */
export type IdKind = "acc" | "fb" | "key" | "node" | "ses"

/** 119 bits: two ids never meet, and none can be guessed. */
const ID_DIGITS = 20

/** A new id that bears its kind: `acc_…`. */
export function newId(kind: IdKind, random: Random): string {
  return `${kind}_${randomBase62(random, ID_DIGITS)}`
}
