/** A file of an archive: its path, and its content if it was wanted. */
export type TarFile = { readonly path: string; readonly content: Uint8Array | null }

/** The bounds of an archive. */
export type TarBounds = {
  /** Files and folders. */
  readonly entriesMax: number
  /** The bytes of all blocks. */
  readonly bytesMax: number
  /** The bytes of a content that is wanted. */
  readonly contentBytesMax: number
}

const BLOCK_BYTES = 512
const PATH_CHARACTERS_MAX = 512
const REGULAR_FILE = new Set(["0", "\0"])

/**
 * Reads the regular files of a tar archive (POSIX.1-2001 ustar) as its bytes come. Contents are skipped but those of the paths that `isWanted`. Calls
 * `refuse`, which throws, for an archive that is damaged or cut off, is beyond its bounds, or has a path that is absolute or leads outside.
 * Longer names of other formats are not read: such a file has the beginning of its name.
 */
export async function* tarFiles(
  parts: AsyncIterable<Uint8Array>,
  bounds: TarBounds,
  isWanted: (path: string) => boolean,
  refuse: (says: string) => never,
): AsyncGenerator<TarFile, undefined> {
  const reader = new BlockReader(parts, bounds.bytesMax, refuse)
  for (let count = 0; ; count++) {
    const header = await reader.take(BLOCK_BYTES)
    if (header.every(byte => byte === 0)) break
    if (count === bounds.entriesMax) refuse(`is an archive of more than ${bounds.entriesMax} files`)
    const { path, size, type } = readHeader(header, refuse)
    const isFile = REGULAR_FILE.has(type)
    const padded = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
    if (isFile && isWanted(path)) {
      if (size > bounds.contentBytesMax)
        refuse(`has a file of ${size} bytes in its archive, more than ${bounds.contentBytesMax}`)
      const content = await reader.take(padded)
      yield { path, content: content.subarray(0, size) }
      continue
    }
    await reader.skip(padded)
    if (isFile) yield { path, content: null }
  }
  // What follows the end is padding. It is read, so that whoever sends it is not cut off.
  await reader.drain()
}

type TarHeader = { readonly path: string; readonly size: number; readonly type: string }

function readHeader(header: Buffer, refuse: (says: string) => never): TarHeader {
  const text = (start: number, length: number): string => {
    const field = header.toString("utf8", start, start + length)
    const end = field.indexOf("\0")
    return end < 0 ? field : field.slice(0, end)
  }
  const octal = (start: number, length: number): number => {
    const digits = text(start, length).trim()
    return /^[0-7]{1,12}$/.test(digits) ? Number.parseInt(digits, 8) : refuse("is a damaged tar archive")
  }
  let sum = 8 * 32
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte
  if (octal(148, 8) !== sum) refuse("is a damaged tar archive")
  const prefix = text(257, 5) === "ustar" ? text(345, 155) : ""
  const path = prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`
  const isOutside = path.startsWith("/") || path.includes("\\") || path.split("/").includes("..")
  if (isOutside) refuse("has a path that leads outside of its archive")
  if (path.length > PATH_CHARACTERS_MAX) refuse(`has a path of more than ${PATH_CHARACTERS_MAX} characters`)
  return { path, size: octal(124, 12), type: String.fromCharCode(header[156] ?? 0) }
}

/** Takes a stream of bytes apart by length. */
class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #bytesMax: number
  readonly #refuse: (says: string) => never
  #rest: Uint8Array = new Uint8Array()
  #count = 0

  constructor(parts: AsyncIterable<Uint8Array>, bytesMax: number, refuse: (says: string) => never) {
    this.#chunks = parts[Symbol.asyncIterator]()
    this.#bytesMax = bytesMax
    this.#refuse = refuse
  }

  /** The next bytes. */
  async take(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    await this.#pass(length, piece => pieces.push(piece))
    return Buffer.concat(pieces)
  }

  async skip(length: number): Promise<void> {
    await this.#pass(length, () => undefined)
  }

  async drain(): Promise<void> {
    while ((await this.#next()) !== null);
  }

  async #pass(length: number, take: (piece: Uint8Array) => void): Promise<void> {
    for (let missing = length; missing > 0; ) {
      if (this.#rest.length === 0) this.#rest = (await this.#next()) ?? this.#refuse("is a tar archive that is cut off")
      const piece = this.#rest.subarray(0, missing)
      take(piece)
      missing -= piece.length
      this.#rest = this.#rest.subarray(piece.length)
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const next = await this.#chunks.next()
    if (next.done === true) return null
    this.#count += next.value.length
    return this.#count > this.#bytesMax ? this.#refuse(`unpacks to more than ${this.#bytesMax} bytes`) : next.value
  }
}
