import { LIMITS } from "../../contract/limits.ts"
import type { KeyKind } from "./key-form.ts"

/** What a key without a name is called. */
const DEFAULT_NAMES: { readonly [K in KeyKind]: string } = { secret: "Secret key", publishable: "Publishable key" }

/** Control characters, half characters, line ends, and what turns the direction of the text around it. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * The name to store: NFC, trimmed of spaces, at most `LIMITS.keyNameLengthMax` characters (code points). Null or blank
 * means the kind's default. Gives null when the name is too long or holds a control character.
 */
export function keyName(text: string | null, kind: KeyKind): string | null {
  if (text === null) return DEFAULT_NAMES[kind]
  // A code point has at most two code units: what is longer than that is not looked at.
  if (text.length > LIMITS.keyNameLengthMax * 4 || UNPRINTABLE.test(text)) return null
  const name = text.normalize("NFC").trim()
  if (name === "") return DEFAULT_NAMES[kind]
  return [...name].length > LIMITS.keyNameLengthMax ? null : name
}
