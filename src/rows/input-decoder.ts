import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { GZIP_SIGNATURE } from "./file-signatures.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"
import { decideEncoding, isUtf16 } from "./reading-plan.ts"

/** The bytes of the longest signature. So many are read before the format of a file is decided. */
const SIGNATURE_BYTES_MAX = 5

const CARRIAGE_RETURN = 13
const LINE_FEED = 10

/**
 * The text of a file as UTF-8 in which every line ends with a line feed: unpacks gzip, decodes `encoding` (null: UTF-16 if the
 * file shows it, else UTF-8), and turns carriage returns into line feeds if no line ends otherwise. Holds one chunk at a time,
 * and until the first line ends as much as a line may have. Calls `refuse`, which throws, with the rest of a sentence about a
 * file that cannot be read.
 */
export async function* decodeInput(
  parts: AsyncIterable<Uint8Array>,
  encoding: string | null,
  refuse: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  yield* unifyLineEnds(decodeText(gunzipIfPacked(parts, refuse), encoding, refuse))
}

/** Joins the first chunks until `isEnough`, or all of them. The other chunks stay as they are. */
async function* withBeginning(
  parts: AsyncIterable<Uint8Array>,
  isEnough: (beginning: Uint8Array) => boolean,
): AsyncGenerator<Uint8Array, undefined> {
  let beginning: Uint8Array | null = new Uint8Array()
  for await (const part of parts) {
    if (beginning === null) {
      yield part
      continue
    }
    // The first chunk is mostly enough, and is not copied then.
    beginning = beginning.length === 0 && isEnough(part) ? part : Buffer.concat([beginning, part])
    if (!isEnough(beginning)) continue
    yield beginning
    beginning = null
  }
  if (beginning !== null && beginning.length > 0) yield beginning
}

const hasSignature = (beginning: Uint8Array): boolean => beginning.length >= SIGNATURE_BYTES_MAX
const hasFirstLine = (beginning: Uint8Array): boolean =>
  beginning.includes(LINE_FEED) || beginning.length > LINE_BYTES_MAX

/** The first chunk of an iteration and those after it; null: there is none. */
async function splitFirst(parts: AsyncIterable<Uint8Array>) {
  const all = parts[Symbol.asyncIterator]()
  const first = await all.next()
  if (first.done === true) return null
  async function* whole(): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield first.value
      for (let next = await all.next(); next.done !== true; next = await all.next()) yield next.value
    } finally {
      await all.return?.(undefined)
    }
  }
  return { first: first.value as Uint8Array, whole: whole() }
}

async function* gunzipIfPacked(
  parts: AsyncIterable<Uint8Array>,
  refuse: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  const split = await splitFirst(withBeginning(parts, hasSignature))
  if (split === null) return
  if (GZIP_SIGNATURE.every((byte, at) => split.first[at] === byte)) yield* gunzip(split.whole, refuse)
  else yield* split.whole
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
): AsyncGenerator<Uint8Array, undefined> {
  const isEnough = encoding !== null && isUtf16(encoding) ? showsUtf16 : hasSignature
  const split = await splitFirst(withBeginning(parts, isEnough))
  if (split === null) return
  const name = decideEncoding(split.first, encoding, refuse)
  if (name !== "utf-8") {
    yield* transcode(split.whole, name)
    return
  }
  yield* split.whole
}

/** Bytes that are wrong in the encoding become U+FFFD. A mark at the beginning is dropped. */
async function* transcode(parts: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array, undefined> {
  const decoder = new TextDecoder(encoding)
  for await (const part of parts) {
    const text = decoder.decode(part, { stream: true })
    if (text !== "") yield Buffer.from(text)
  }
  const rest = decoder.decode()
  if (rest !== "") yield Buffer.from(rest)
}

/**
 * Turns carriage returns into line feeds in a file that has no line feed where its first line ends: not in as many bytes as a
 * line may have, or in the whole file. There a line feed after a carriage return is dropped.
 */
async function* unifyLineEnds(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const split = await splitFirst(withBeginning(parts, hasFirstLine))
  if (split === null) return
  const convert = lineEndConverter(split.first)
  if (convert === null) yield* split.whole
  else for await (const part of split.whole) yield convert(part)
}

function lineEndConverter(beginning: Uint8Array): ((part: Uint8Array) => Uint8Array) | null {
  if (beginning.includes(LINE_FEED) || !beginning.includes(CARRIAGE_RETURN)) return null
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
