/** The members of an object as JSON, without the braces around them. */
export const jsonMembers = (members: object): string => JSON.stringify(members).slice(1, -1)

/** A member of a JSON object: its name, and the text of its value as it is written. */
export type JsonMember = { readonly name: string; readonly text: string }

/**
 * The members of an object in a valid JSON text, in its order: a name that is written twice is there twice, and a number of twenty digits
 * stays the same. Empty: the text is no object. Null: there are more than `membersMax`.
 */
export function writtenMembers(text: string): readonly JsonMember[]
export function writtenMembers(text: string, membersMax: number): readonly JsonMember[] | null
export function writtenMembers(text: string, membersMax = Number.POSITIVE_INFINITY): readonly JsonMember[] | null {
  const members: JsonMember[] = []
  if (!text.trimStart().startsWith("{")) return members
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    if (members.length === membersMax) return null
    const nameEnd = stringEnd(text, quote)
    const from = text.indexOf(":", nameEnd) + 1
    const to = valueEnd(text, from)
    members.push({ name: readName(text, quote, nameEnd), text: text.slice(from, to).trim() })
    if (text[to] !== ",") break
    quote = text.indexOf('"', to)
  }
  return members
}

/** The name that a JSON string in a text is. */
function readName(text: string, quote: number, end: number): string {
  const name = text.slice(quote + 1, end - 1)
  return name.includes("\\") ? JSON.parse(text.slice(quote, end)) : name
}

/** The index after the string that begins at a quote. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === BACKSLASH) at++
    else if (unit === QUOTE) return at + 1
  }
  return text.length
}

/** The index of the comma or bracket that ends the value from here on. */
function valueEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = stringEnd(text, at) - 1
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++
    else if (depth === 0 && (unit === COMMA || unit === CLOSE_BRACE)) return at
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--
  }
  return text.length
}

const [QUOTE, BACKSLASH, COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('"\\,{}[]')
