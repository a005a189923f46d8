/** Whether a text has at most `countMax` characters. JSON Schema counts code points (RFC 8259 §7), each of which is one or two UTF-16 units. */
export function hasAtMostCharacters(text: string, countMax: number): boolean {
  return text.length <= countMax || (text.length <= countMax * 2 && [...text].length <= countMax)
}
