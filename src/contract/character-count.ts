/** Whether the text has at most `countMax` characters as JSON Schema counts them: code points (RFC 8259 §7), each of one or two code units. */
export function hasAtMostCharacters(text: string, countMax: number): boolean {
  return text.length <= countMax || (text.length <= countMax * 2 && [...text].length <= countMax)
}
