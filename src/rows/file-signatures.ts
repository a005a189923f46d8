/** The first bytes of a file that is compressed with gzip. */
export const GZIP_SIGNATURE: readonly number[] = [0x1f, 0x8b]

/** Whether a file begins as a zip archive does, or as one without files. A spreadsheet is one. */
export const isZip = ([p, k, first, second]: Uint8Array): boolean =>
  p === 0x50 && k === 0x4b && ((first === 3 && second === 4) || (first === 5 && second === 6))

const ARCHIVE = "Unpack it first"

/** Files that are not text, by their first bytes, and what to do with them. */
const BINARY_FORMATS: readonly { readonly signature: readonly number[]; readonly message: string }[] = [
  {
    signature: [0x28, 0xb5, 0x2f, 0xfd],
    message: `is compressed with zstd. ${ARCHIVE}, for example with \`zstdcat FILE | mailkind classify -\``,
  },
  {
    signature: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
    message: `is compressed with xz. ${ARCHIVE}, for example with \`xzcat FILE | mailkind classify -\``,
  },
  {
    signature: [0x42, 0x5a, 0x68, 0x39, 0x31],
    message: `is compressed with bzip2. ${ARCHIVE}, for example with \`bzcat FILE | mailkind classify -\``,
  },
  { signature: [0x37, 0x7a, 0xbc, 0xaf, 0x27], message: `is a 7-Zip archive. ${ARCHIVE}` },
  {
    signature: [0x50, 0x4b, 0x03, 0x04],
    message: "is a zip archive or a spreadsheet. Unpack it first, or save the sheet as CSV",
  },
  { signature: [0xff, 0xfe, 0, 0], message: "is UTF-32. Save it as UTF-8" },
  { signature: [0, 0, 0xfe, 0xff], message: "is UTF-32. Save it as UTF-8" },
  {
    signature: [0xd0, 0xcf, 0x11, 0xe0],
    message: `is an old Office document, or one with a password. Save it as .xlsx without a password, or as CSV`,
  },
  { signature: [0x25, 0x50, 0x44, 0x46, 0x2d], message: "is a PDF document. Save its text as a file of lines" },
  { signature: [0x53, 0x51, 0x4c, 0x69, 0x74], message: "is an SQLite database. Export the table as CSV" },
]

/** Why a file with these first bytes cannot be read as text, as the rest of a sentence about it; null: it may be text. */
export const detectBinaryFormat = (beginning: Uint8Array): string | null =>
  BINARY_FORMATS.find(({ signature }) => signature.every((byte, at) => beginning[at] === byte))?.message ?? null

/** The encoding that a file shows by its mark, or by ASCII text, which has a NUL as every second byte in UTF-16; null: none. */
export function detectEncoding(beginning: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | null {
  const [a, b, c, d] = beginning
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8"
  if (a === 0xff && b === 0xfe) return "utf-16le"
  if (a === 0xfe && b === 0xff) return "utf-16be"
  if (beginning.length < 4) return null
  if (b === 0 && d === 0 && a !== 0 && c !== 0) return "utf-16le"
  return a === 0 && c === 0 && b !== 0 && d !== 0 ? "utf-16be" : null
}

/** How many bytes are looked at, and with fewer than how many nothing is said. */
const EXAMINED_BYTES = { min: 64, max: 8192 } as const

/** More than this share of control characters is not text. */
const CONTROL_SHARE_MAX = 0.1

/** Whether so many bytes of a beginning are control characters that it cannot be text. A file of few bytes is text. */
export function isMostlyControls(beginning: Uint8Array): boolean {
  const examined = beginning.subarray(0, EXAMINED_BYTES.max)
  if (examined.length < EXAMINED_BYTES.min) return false
  let count = 0
  // Tab, line feed, form feed, carriage return and escape occur in text.
  for (const byte of examined)
    if (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) count++
  return count > examined.length * CONTROL_SHARE_MAX
}
