import { assert } from "../../base/assert.ts"
import type { Random } from "../../base/clock.ts"
import { LIMITS } from "../../contract/limits.ts"

const CODES = 10 ** LIMITS.signInCodeDigits

/** The largest multiple of `CODES` in 32 bits: what is drawn from here on is thrown away, else some codes would come more often. */
const FAIR_BELOW = 2 ** 32 - (2 ** 32 % CODES)

/** A draw is thrown away one time in 4000; that 8 in a row are has a chance of nil. */
const DRAWS_MAX = 8

/** A new code to type: digits, each code equally likely. */
export function newCode(random: Random): string {
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const bytes = random(4)
    const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
    if (drawn < FAIR_BELOW) return String(drawn % CODES).padStart(LIMITS.signInCodeDigits, "0")
  }
  assert(false, "the random source gives usable draws")
}

const CODE = new RegExp(`^[0-9]{${LIMITS.signInCodeDigits}}$`)

/** What is looked at of a text; a code with a space between any two digits is shorter. */
const TYPED_LENGTH_MAX = 32

/**
 * The code that somebody typed; null: the text is none. White space and hyphens between the digits are left out, and wide
 * digits (`１２３`), which some keyboards give, are digits.
 */
export function typedCode(text: string): string | null {
  if (text.length > TYPED_LENGTH_MAX) return null
  const digits = text.normalize("NFKC").replace(/[\s\p{Pd}]/gu, "")
  return CODE.test(digits) ? digits : null
}
