/**
 * Characters that can change how a text is displayed: controls (C0, DEL, C1), invisible format characters such as bidirectional
 * overrides, line and paragraph separators, and lone surrogates.
 */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The text without control, format and separator characters. */
export const stripControlCharacters = (text: string): string => text.replace(CONTROL_CHARACTERS, "")

/** An untrusted value as text: without control characters, trimmed, at most `charsMax` characters; null: it is no string, or nothing is left. */
export function sanitizeText(value: unknown, charsMax: number): string | null {
  if (typeof value !== "string") return null
  const text = stripControlCharacters(value).trim()
  return [...text].slice(0, charsMax).join("").trim() || null
}

/** Whether a JSON value is an object: neither an array nor null. */
export const isJsonObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The own member of a JSON object; undefined: it has none of this name, or is no object. */
export const ownMember = (json: unknown, name: string): unknown =>
  isJsonObject(json) && Object.hasOwn(json, name) ? json[name] : undefined

/** Makes text from outside safe for a terminal: control characters become `\\u…` escapes. */
export const escapeControls = (text: string): string =>
  text.replace(/\p{Cc}|\p{Cf}/gu, character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
