import { isUtf8 } from "node:buffer"
import { createPause, type Pause } from "../../base/concurrency.ts"
import { type BodyReservations, readBytes } from "../request/body.ts"
import { FORM_PARTS_MAX, formBoundary, formParts, tooManyParts } from "../request/multipart.ts"
import { invalidInput } from "../response/problem.ts"

/** The fields of a form that a browser sent. */
export type SubmittedForm = {
  /** The field's text, trimmed. Empty when the field is missing. */
  readonly text: (name: string) => string
  /** The texts of a field that may be sent several times, as they were sent. */
  readonly all: (name: string) => readonly string[]
  /** The file of a field. Null when none was chosen. */
  readonly file: (name: string) => UploadedFile | null
}

/** An uploaded file. Its name and media type are what the browser claims. */
export type UploadedFile = {
  readonly name: string
  readonly mediaType: string
  /** Its content; null: it is not UTF-8. */
  readonly text: string | null
}

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART = /^\s*multipart\/form-data\s*;/i

/** Long bodies are read in slices. After so many of them other requests have their turn: they take two milliseconds at most. */
const SLICE_BYTES = 65_536
const SLICES_PER_TURN = 2

/**
 * Reads a form (`application/x-www-form-urlencoded`, or `multipart/form-data`, RFC 7578) of at most `bytesMax` bytes. Rejects
 * with `payload_too_large`, `overloaded`, or `invalid_input` for another media type, for bytes that are not UTF-8, for more than
 * `FORM_PARTS_MAX` fields and for malformed multipart bodies.
 */
export async function readForm(request: Request, bytesMax: number, bodies: BodyReservations): Promise<SubmittedForm> {
  const mediaType = request.headers.get("content-type") ?? ""
  const isMultipart = MULTIPART.test(mediaType)
  if (!isMultipart && !URLENCODED.test(mediaType)) throw malformedForm("The body is not a form.")
  const bytes = await readBytes(request, bytesMax, bodies)
  const pause = createPause(bodies.nextTick, SLICES_PER_TURN)
  if (!isMultipart) return toSubmittedForm(await parseUrlencoded(bytes, pause))
  const boundary = formBoundary(mediaType)
  if (boundary === null) throw malformedForm("The form's parts are malformed.")
  return toSubmittedForm(await parseMultipart(bytes, boundary, pause))
}

type FormField = { readonly name: string; readonly value: string | UploadedFile }

/** Bytes of a text that are not UTF-8 become U+FFFD. */
async function parseMultipart(bytes: Uint8Array, boundary: string, pause: Pause): Promise<readonly FormField[]> {
  const fields: FormField[] = []
  for await (const { name, fileName, mediaType, content } of formParts(slicesOf(bytes, pause), boundary)) {
    if (fileName === null) fields.push({ name, value: (await decodeSlices(content, false)) ?? "" })
    else fields.push({ name, value: { name: fileName, mediaType, text: await decodeSlices(content, true) } })
  }
  return fields
}

async function* slicesOf(bytes: Uint8Array, pause: Pause): AsyncGenerator<Uint8Array, undefined> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES)
    await pause()
  }
}

/** The text of UTF-8 in slices. Bytes that are no UTF-8 become U+FFFD, or the whole becomes null. */
async function decodeSlices(slices: AsyncIterable<Uint8Array>, isStrict: boolean): Promise<string | null> {
  const decoder = new TextDecoder("utf-8", { fatal: isStrict, ignoreBOM: !isStrict })
  const parts: string[] = []
  try {
    for await (const slice of slices) parts.push(decoder.decode(slice, { stream: true }))
    parts.push(decoder.decode())
  } catch (error) {
    if (isStrict && error instanceof TypeError) return null
    throw error
  }
  return parts.join("")
}

const [AMPERSAND, EQUALS] = [0x26, 0x3d]

/** The fields of `application/x-www-form-urlencoded` (URL Standard §5.1). Their number is found before anything is decoded. */
async function parseUrlencoded(bytes: Uint8Array, pause: Pause): Promise<readonly FormField[]> {
  if (!isUtf8(bytes)) throw malformedForm("The form is not UTF-8.")
  const pairs: Uint8Array[] = []
  for (let at = 0; at <= bytes.length; ) {
    if (pairs.length === FORM_PARTS_MAX) throw tooManyParts()
    const next = bytes.indexOf(AMPERSAND, at)
    const end = next < 0 ? bytes.length : next
    pairs.push(bytes.subarray(at, end))
    at = end + 1
  }
  const fields: FormField[] = []
  for (const pair of pairs.filter(({ length }) => length > 0)) {
    const equals = pair.indexOf(EQUALS)
    const nameEnd = equals < 0 ? pair.length : equals
    const decoded = (part: Uint8Array) => decodeSlices(unescapedSlices(part, pause), false)
    const name = (await decoded(pair.subarray(0, nameEnd))) ?? ""
    fields.push({ name, value: (await decoded(pair.subarray(nameEnd + 1))) ?? "" })
  }
  return fields
}

const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20]

/** The bytes with `+` as a space and escapes as the bytes that they stand for. */
async function* unescapedSlices(bytes: Uint8Array, pause: Pause): AsyncGenerator<Uint8Array, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const slice = new Uint8Array(Math.min(SLICE_BYTES, bytes.length - at))
    let length = 0
    while (at < bytes.length && length < slice.length) {
      const byte = bytes[at]
      const escaped = byte === PERCENT ? escapedByte(bytes, at) : null
      slice[length++] = escaped ?? (byte === PLUS ? SPACE : (byte ?? 0))
      at += escaped === null ? 1 : ESCAPE_BYTES
    }
    yield slice.subarray(0, length)
    await pause()
  }
}

const ESCAPE_BYTES = 3

/** The byte for which the escape at a place stands; null: it is no escape, and its sign stands for itself. */
function escapedByte(bytes: Uint8Array, at: number): number | null {
  const byte = hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2])
  return Number.isNaN(byte) ? null : byte
}

/** The value of a hexadecimal digit; `NaN`: it is none. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

function toSubmittedForm(fields: readonly FormField[]): SubmittedForm {
  const firstOf = (name: string) => fields.find(field => field.name === name)?.value
  return {
    text: name => {
      const value = firstOf(name)
      return typeof value === "string" ? value.trim() : ""
    },
    all: name => fields.flatMap(field => (field.name === name && typeof field.value === "string" ? [field.value] : [])),
    file: name => {
      const value = firstOf(name)
      // A browser sends an empty file without a name when none was chosen.
      if (value === undefined || typeof value === "string") return null
      return value.name === "" && value.text === "" ? null : value
    },
  }
}

const malformedForm = (detail: string) => invalidInput([{ pointer: "", detail }])
