/** The text without surrounding ASCII white space: tab, line feed, form feed, carriage return, space. */
export function trimAsciiSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--
  return end - start === text.length ? text : text.slice(start, end)
}

/** Whether a control character (C0, DEL, C1) stands anywhere in the text. */
export function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || (code >= 127 && code < 160)) return true
  }
  return false
}

/** Whether the UTF-8 form of the text has more than `octetsMax` octets. */
export function exceedsUtf8Bytes(text: string, octetsMax: number): boolean {
  // A code unit takes one to three octets, so most texts need no counting.
  if (text.length > octetsMax) return true
  return text.length * 3 > octetsMax && Buffer.byteLength(text) > octetsMax
}

function isAsciiSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13 && code !== 11)
}
