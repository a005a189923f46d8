/** A message between this process and its workers: a JSON value, and bytes. */
export type Frame<M> = { readonly meta: M; readonly bytes: Uint8Array }

/*
 * A frame on a pipe, numbers little-endian:
 *
 *   0      4       8
 *   | meta | bytes | JSON of the meta | bytes |
 *     ^ their lengths
 */
const HEAD_BYTES = 8

/** The bytes of a frame. */
export function encodeFrame(meta: object, bytes: Uint8Array | string): Uint8Array {
  const [json, body] = [Buffer.from(JSON.stringify(meta)), typeof bytes === "string" ? Buffer.from(bytes) : bytes]
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(json.length, 0)
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, json, body])
}

/** Reads the frames of a pipe, whose chunks must keep their memory. What is left of a frame when the pipe ends is dropped. */
export async function* readFrames<M>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame<M>, undefined> {
  let parts: Uint8Array[] = []
  let length = 0
  let needed = HEAD_BYTES
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length < needed) continue
    let joined = parts.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat(parts)
    for (needed = neededBytes(joined); joined.length >= needed; needed = neededBytes(joined)) {
      yield decodeFrame(joined.subarray(0, needed))
      joined = joined.subarray(needed)
    }
    parts = [joined]
    length = joined.length
  }
}

/** How many bytes the first frame has, as far as that is known. */
const neededBytes = (bytes: Buffer): number =>
  bytes.length < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + bytes.readUInt32LE(0) + bytes.readUInt32LE(4)

function decodeFrame<M>(frame: Buffer): Frame<M> {
  const metaEnd = HEAD_BYTES + frame.readUInt32LE(0)
  return { meta: JSON.parse(frame.toString("utf8", HEAD_BYTES, metaEnd)), bytes: frame.subarray(metaEnd) } // written by this program
}
