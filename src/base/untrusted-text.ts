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

/** Makes text from outside safe for a terminal: control and format characters become `\\u…` escapes, which are those of JSON. */
export const escapeControls = (text: string): string => text.replace(/\p{Cc}|\p{Cf}/gu, escaped)

/** The same for lines of text: line feeds and tabs stay. */
export const escapeControlsOfLines = (text: string): string => text.replace(/(?![\n\t])\p{Cc}|\p{Cf}/gu, escaped)

const escaped = (character: string): string =>
  character
    .split("") // UTF-16 units
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")
