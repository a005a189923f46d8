/** Whether the text contains a control character (C0, DEL or C1). */
export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 32 || (code >= 127 && code < 160)) return true
  }
  return false
}

/** Whether the UTF-8 form of the text has more than `bytesMax` bytes. */
export function exceedsUtf8Bytes(text: string, bytesMax: number): boolean {
  // A UTF-16 code unit takes one to three bytes, so most texts need no counting.
  if (text.length > bytesMax) return true
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax
}
