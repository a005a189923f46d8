import { createCipheriv, createDecipheriv } from "node:crypto"
import type { Random } from "../base/outside-world.ts"
import type { JobFile } from "./job-files.ts"

/*
 * A file of a job is a sequence of segments, numbers little-endian:
 *
 *   0      4      8         20
 *   | meta | text | nonce   | meta and text, encrypted by AES-256-GCM | tag, 16 bytes |
 *     ^ their lengths
 *
 * The lengths, the name of the file and the place of the segment in it are authenticated too, so that a segment cannot be changed, moved or
 * put into another file. The nonce is random; a job has far fewer segments than its key may encrypt.
 */
const HEAD_BYTES = 20
const NONCE_BYTES = 12
const NONCE_AT = 8
const TAG_BYTES = 16
/** A longer segment was not written by us. */
const SEGMENT_BYTES_MAX = 256 * 1024 * 1024
const CIPHER = "aes-256-gcm"

/** What a segment holds: its text, and what is to be known about it. */
export type Segment = { readonly meta: Uint8Array; readonly text: Uint8Array }

/** A segment, and the bytes of the file where it begins and ends. */
export type PlacedSegment = Segment & { readonly start: number; readonly end: number }

/** Thrown when a segment is damaged, cut off or missing. */
export class DamagedSegment extends Error {
  override readonly name = "DamagedSegment"
}

/** A file with its name and the key of its job. */
export type SegmentFile = { readonly file: JobFile; readonly name: string; readonly key: Uint8Array }

/** Writes a segment at a byte of the file and gives where it ends. It is on the disk after the file was synced. */
export async function writeSegment(
  { file, name, key }: SegmentFile,
  at: number,
  { meta, text }: Segment,
  random: Random,
): Promise<number> {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(meta.length, 0)
  head.writeUInt32LE(text.length, 4)
  head.set(random(NONCE_BYTES), NONCE_AT)
  const cipher = createCipheriv(CIPHER, key, head.subarray(NONCE_AT))
  cipher.setAAD(authenticated(head, name, at))
  const bytes = Buffer.concat([head, cipher.update(meta), cipher.update(text), cipher.final(), cipher.getAuthTag()])
  await file.write(bytes, at)
  return at + bytes.length
}

const authenticated = (head: Uint8Array, name: string, at: number): Uint8Array =>
  Buffer.concat([head.subarray(0, NONCE_AT), Buffer.from(`${name} ${at}`)])

/** Reads the segments from a byte of the file on, up to its byte `to`. Throws a `DamagedSegment`. */
export async function* readSegments(
  { file, name, key }: SegmentFile,
  from: number,
  to: number,
): AsyncGenerator<PlacedSegment, undefined> {
  for (let at = from; at < to; ) {
    const { metaLength, length, head } = await readHead(file, at)
    const end = at + HEAD_BYTES + length + TAG_BYTES
    if (length > SEGMENT_BYTES_MAX || end > to) throw new DamagedSegment("a segment is longer than its file")
    const body = await file.read(at + HEAD_BYTES, length + TAG_BYTES)
    if (body.length < length + TAG_BYTES) throw new DamagedSegment("a segment is cut off")
    const plain = decrypt(key, head, authenticated(head, name, at), body)
    yield { start: at, end, meta: plain.subarray(0, metaLength), text: plain.subarray(metaLength) }
    at = end
  }
}

/** The lengths of a segment without its content: where it ends, and how long its text is. */
export async function readSegmentLengths(
  { file }: SegmentFile,
  at: number,
): Promise<{ readonly end: number; readonly textLength: number }> {
  const { metaLength, length } = await readHead(file, at)
  return { end: at + HEAD_BYTES + length + TAG_BYTES, textLength: length - metaLength }
}

async function readHead(file: JobFile, at: number) {
  const head = Buffer.from(await file.read(at, HEAD_BYTES))
  if (head.length < HEAD_BYTES) throw new DamagedSegment("a segment is missing")
  const metaLength = head.readUInt32LE(0)
  return { head, metaLength, length: metaLength + head.readUInt32LE(4) }
}

function decrypt(key: Uint8Array, head: Uint8Array, additional: Uint8Array, body: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(CIPHER, key, head.subarray(NONCE_AT))
  decipher.setAAD(additional)
  decipher.setAuthTag(body.subarray(body.length - TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(body.subarray(0, body.length - TAG_BYTES)), decipher.final()])
  } catch {
    throw new DamagedSegment("a segment was changed, or has another key")
  }
}
