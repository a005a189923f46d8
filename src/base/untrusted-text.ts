/**
 * Characters that could steer who prints a text: controls (C0, DEL, C1), invisible format characters such as
 * bidirectional overrides, line and paragraph separators, and halves of surrogate pairs.
 */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A text from outside without its control, format and separator characters. */
export const stripControlCharacters = (text: string): string => text.replace(CONTROL_CHARACTERS, "")

/** A text from outside, cleaned, trimmed and cut to `charsMax` characters; null when it is no text or nothing is left. */
export function sanitizeText(value: unknown, charsMax: number): string | null {
  if (typeof value !== "string") return null
  const text = stripControlCharacters(value).trim()
  return [...text].slice(0, charsMax).join("").trim() || null
}

/** The member of a JSON object; undefined when it has none of the name, or is no object. */
export const ownMember = (json: unknown, name: string): unknown =>
  typeof json === "object" && json !== null ? Object.getOwnPropertyDescriptor(json, name)?.value : undefined
