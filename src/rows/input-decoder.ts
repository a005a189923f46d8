import { isAscii } from "node:buffer"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { splitFirst, withBeginning } from "./beginning.ts"
import { decideEncoding, isUtf16 } from "./file-format.ts"
import { GZIP_SIGNATURE } from "./file-signatures.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"

/** The bytes of the longest signature. So many are read before the format of a file is decided. */
const SIGNATURE_BYTES_MAX = 5

const CARRIAGE_RETURN = 13
const LINE_FEED = 10
const QUOTE = 34

/**
 * The text of a file as UTF-8 in which every line ends with a line feed: unpacks gzip, decodes `encoding` (null: the one that the file shows by
 * its mark, else UTF-8 if that is valid, else windows-1252), tells it once it is known, and turns carriage returns into line feeds if no line ends otherwise. Holds one chunk at a time,
 * and until the first line ends as much as a line may have. Calls `refuse`, which throws, with the rest of a sentence about a
 * file that cannot be read.
 */
export async function* decodeInput(
  parts: AsyncIterable<Uint8Array>,
  encoding: string | null,
  refuse: (says: string) => never,
  tell: (encoding: string) => void = () => undefined,
): AsyncGenerator<Uint8Array, undefined> {
  yield* unifyLineEnds(decodeText(gunzipIfPacked(parts, refuse), encoding, refuse, tell))
}

const hasSignature = (beginning: Uint8Array): boolean => beginning.length >= SIGNATURE_BYTES_MAX
const hasFirstLine = (beginning: Uint8Array): boolean =>
  beginning.length > LINE_BYTES_MAX || (beginning.includes(LINE_FEED) && firstLineEnd(beginning) !== null)

async function* gunzipIfPacked(
  parts: AsyncIterable<Uint8Array>,
  refuse: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  const split = await splitFirst(withBeginning(parts, hasSignature))
  if (split === null) return
  if (GZIP_SIGNATURE.every((byte, at) => split.first[at] === byte)) yield* gunzip(split.wholeFrom(split.first), refuse)
  else yield* split.wholeFrom(split.first)
}

async function* gunzip(
  parts: AsyncIterable<Uint8Array>,
  refuse: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  const unpacked = createGunzip()
  // Chunks are copied, because the stream reads ahead and the memory of a chunk is reused.
  const copies = (async function* () {
    for await (const part of parts) yield Buffer.from(part)
  })()
  // The same error comes out of `unpacked`.
  pipeline(Readable.from(copies, { highWaterMark: 1 }), unpacked).catch(() => undefined)
  try {
    yield* unpacked
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    if (code === "Z_BUF_ERROR") refuse("ends in the middle of its gzip data. Copy the file again")
    if (code.startsWith("Z_")) refuse("has damaged gzip data. Copy the file again")
    throw error
  }
}

/** In UTF-16 each line end and each character of a domain has a NUL. */
const showsUtf16 = (beginning: Uint8Array): boolean =>
  hasSignature(beginning) && (beginning.includes(0) || beginning.length > LINE_BYTES_MAX)

async function* decodeText(
  parts: AsyncIterable<Uint8Array>,
  encoding: string | null,
  refuse: (says: string) => never,
  tell: (encoding: string) => void,
): AsyncGenerator<Uint8Array, undefined> {
  const isEnough = encoding !== null && isUtf16(encoding) ? showsUtf16 : hasSignature
  const split = await splitFirst(withBeginning(parts, isEnough))
  if (split === null) return
  const name = decideEncoding(split.first, encoding, refuse)
  const all = split.wholeFrom(split.first)
  tell(name ?? ENCODING_DEFAULT)
  if (name === null) yield* decodeUnnamed(all, tell)
  else if (name === ENCODING_DEFAULT) yield* all
  else yield* transcode(all, name)
}

const ENCODING_DEFAULT = "utf-8"
const ENCODING_ELSE = "windows-1252"

const ASCII_MAX = 0x7f

/** How much from the first byte on that is no ASCII decides the encoding of a file that names none. */
const DECIDING_BYTES = 65_536

/** Decodes a file that names no encoding: as UTF-8 if that is valid, else as windows-1252. Up to its first other byte it is ASCII. */
async function* decodeUnnamed(
  parts: AsyncIterable<Uint8Array>,
  tell: (encoding: string) => void,
): AsyncGenerator<Uint8Array, undefined> {
  const all = parts[Symbol.asyncIterator]()
  const held: Uint8Array[] = []
  // From the first byte that is no ASCII.
  let bytes = 0
  let next = await all.next()
  for (; next.done !== true && bytes < DECIDING_BYTES; next = await all.next()) {
    if (held.length === 0 && isAscii(next.value)) yield next.value
    else {
      bytes += next.value.length - (held.length === 0 ? next.value.findIndex(byte => byte > ASCII_MAX) : 0)
      // A copy, because the memory of the chunk is reused.
      held.push(new Uint8Array(next.value))
    }
  }
  const decisive = Buffer.concat(held)
  const start = decisive.length - bytes
  const isElse = !isUtf8(decisive.subarray(start, start + DECIDING_BYTES), next.done !== true || bytes > DECIDING_BYTES)
  if (isElse) tell(ENCODING_ELSE)
  async function* rest(): AsyncGenerator<Uint8Array, undefined> {
    yield* held
    for (; next.done !== true; next = await all.next()) yield next.value
  }
  yield* isElse ? transcode(rest(), ENCODING_ELSE) : rest()
}

/** Whether bytes are UTF-8. `isCutOff`: the last character may be incomplete. */
function isUtf8(bytes: Uint8Array, isCutOff: boolean): boolean {
  try {
    new TextDecoder(ENCODING_DEFAULT, { fatal: true }).decode(bytes, { stream: isCutOff })
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** Bytes that are wrong in the encoding become U+FFFD. A mark at the beginning stays. */
async function* transcode(parts: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array, undefined> {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  for await (const part of parts) {
    const text = decoder.decode(part, { stream: true })
    if (text !== "") yield Buffer.from(text)
  }
  const rest = decoder.decode()
  if (rest !== "") yield Buffer.from(rest)
}

/**
 * Turns carriage returns into line feeds in a file whose first line ends by one, or which has no line feed in as many bytes as a line may have.
 * There a line feed after a carriage return is dropped.
 */
async function* unifyLineEnds(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const split = await splitFirst(withBeginning(parts, hasFirstLine))
  if (split === null) return
  const convert = lineEndConverter(split.first)
  if (convert === null) yield* split.wholeFrom(split.first)
  else for await (const part of split.wholeFrom(split.first)) yield convert(part)
}

/** What ends the first line, outside of quotes; null: nothing that came so far. */
function firstLineEnd(beginning: Uint8Array): "line feed" | "carriage return" | null {
  let isQuoted = false
  for (let at = 0; at < beginning.length; at++) {
    const byte = beginning[at]
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (byte === LINE_FEED && !isQuoted) return "line feed"
    else if (byte === CARRIAGE_RETURN && !isQuoted) {
      // Some programs write two of them before a line feed.
      const next = beginning[at + 1]
      if (next !== undefined && next !== LINE_FEED && next !== CARRIAGE_RETURN) return "carriage return"
    }
  }
  return null
}

function lineEndConverter(beginning: Uint8Array): ((part: Uint8Array) => Uint8Array) | null {
  const hasReturnsAlone = !beginning.includes(LINE_FEED) && beginning.includes(CARRIAGE_RETURN)
  if (!hasReturnsAlone && firstLineEnd(beginning) !== "carriage return") return null
  let isAfterReturn = false
  return part => {
    const converted = new Uint8Array(part.length)
    let length = 0
    for (const byte of part) {
      const isDropped = byte === LINE_FEED && isAfterReturn
      isAfterReturn = byte === CARRIAGE_RETURN
      if (!isDropped) converted[length++] = isAfterReturn ? LINE_FEED : byte
    }
    return converted.subarray(0, length)
  }
}
