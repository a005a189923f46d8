/** The longest line in bytes. A longer one is `too_long`, and only its beginning is kept. */
export const LINE_BYTES_MAX = 65_536

/** How many bytes of a line that is too long are shown. */
const DISPLAYED_BYTES_MAX = 256

const LINE_FEED = 10

/** One line without its line feed. Bytes that are not UTF-8 are U+FFFD. */
export type InputLine = { readonly text: string /** `text` is only the beginning. */; readonly isTooLong: boolean }

/** The lines of whole rows. Each is copied out of the bytes, so that a row does not keep all of them in memory. */
export function splitLines(rows: Uint8Array): readonly InputLine[] {
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
  const lines: InputLine[] = []
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    lines.push(decodeLine(bytes, start, end))
    start = end + 1
  }
  if (start < bytes.length) lines.push(decodeLine(bytes, start, bytes.length))
  return lines
}

/** The line that these bytes are, without a line feed. */
export function decodeLine(bytes: Buffer, start: number, end: number): InputLine {
  const isTooLong = end - start > LINE_BYTES_MAX
  return { text: bytes.toString("utf8", start, isTooLong ? start + DISPLAYED_BYTES_MAX : end), isTooLong }
}
