const UTF_16 = "is UTF-16 and not UTF-8: convert it first, as with `iconv -f UTF-16 -t UTF-8`"

/** What a file is that begins so, and what makes text of it. */
const FOREIGN: readonly { readonly begins: readonly number[]; readonly says: string }[] = [
  {
    begins: [0x1f, 0x8b],
    says: "is compressed with gzip: unpack it first, as with `gunzip -c FILE | mailkind classify -`",
  },
  {
    begins: [0x28, 0xb5, 0x2f, 0xfd],
    says: "is compressed with zstd: unpack it first, as with `zstdcat FILE | mailkind classify -`",
  },
  {
    begins: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
    says: "is compressed with xz: unpack it first, as with `xzcat FILE | mailkind classify -`",
  },
  { begins: [0x50, 0x4b, 0x03, 0x04], says: "is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV" },
  { begins: [0xff, 0xfe], says: UTF_16 },
  { begins: [0xfe, 0xff], says: UTF_16 },
]

/** How many bytes tell at most. */
const TELLING_BYTES = 5

/** Why bytes that begin so hold no lines of text, as the rest of a sentence about the file; null: they may. */
export function foreignForm(beginning: Uint8Array): string | null {
  const [a, b, c, d] = beginning
  // Text of one byte a character has no NUL beside each of its first two; UTF-16 without its mark has.
  const isWide =
    beginning.length > 3 && ((a === 0 && c === 0 && b !== 0 && d !== 0) || (b === 0 && d === 0 && a !== 0 && c !== 0))
  if (isWide) return UTF_16
  return FOREIGN.find(({ begins }) => begins.every((byte, at) => beginning[at] === byte))?.says ?? null
}

/** The same parts, the first of them long enough to tell what they are; `foreign` is told why they hold no lines, and throws. */
export async function* partsOfText(
  parts: AsyncIterable<Uint8Array>,
  foreign: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  let beginning: Uint8Array | null = new Uint8Array()
  const told = (bytes: Uint8Array): Uint8Array => {
    const says = foreignForm(bytes)
    return says === null ? bytes : foreign(says)
  }
  for await (const part of parts) {
    if (beginning === null) {
      yield part
      continue
    }
    beginning = Buffer.concat([beginning, part])
    if (beginning.length < TELLING_BYTES) continue
    yield told(beginning)
    beginning = null
  }
  if (beginning !== null) yield told(beginning)
}
