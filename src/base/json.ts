/** What a JSON text says (RFC 8259); undefined: it is none. Throws where it is nested past the parser's stack. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (notJson) {
    if (notJson instanceof SyntaxError) return undefined
    throw notJson
  }
}
