import { decodeUtf8 } from "../../base/text.ts"
import { type BodyReservations, readBytes } from "../request/body.ts"
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
  readonly bytes: () => Promise<Uint8Array>
}

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART = /^\s*multipart\/form-data\s*;/i

/**
 * Reads a form (`application/x-www-form-urlencoded`, or `multipart/form-data`, RFC 7578) of at most `bytesMax` bytes. Rejects
 * with `payload_too_large`, `overloaded`, or `invalid_input` for another media type, for bytes that are not UTF-8 and for
 * malformed multipart bodies.
 */
export async function readForm(request: Request, bytesMax: number, bodies: BodyReservations): Promise<SubmittedForm> {
  const mediaType = request.headers.get("content-type") ?? ""
  if (MULTIPART.test(mediaType))
    return toSubmittedForm(await parseMultipart(await readBytes(request, bytesMax, bodies), mediaType))
  if (!URLENCODED.test(mediaType)) throw malformedForm("The body is not a form.")
  const text = decodeUtf8(await readBytes(request, bytesMax, bodies))
  if (text === null) throw malformedForm("The form is not UTF-8.")
  return toSubmittedForm(new URLSearchParams(text))
}

/** Parses a complete multipart body, whose size was checked when it was read. Bytes that are not UTF-8 become U+FFFD. */
async function parseMultipart(bytes: Uint8Array, mediaType: string): Promise<FormData> {
  try {
    return await new Response(Buffer.from(bytes), { headers: { "Content-Type": mediaType } }).formData()
  } catch (malformed) {
    if (malformed instanceof TypeError) throw malformedForm("The form's parts are malformed.")
    throw malformed
  }
}

type FormFieldValue = string | File

type FormFields = {
  readonly get: (name: string) => FormFieldValue | null
  readonly getAll: (name: string) => readonly FormFieldValue[]
}

function toSubmittedForm(fields: FormFields): SubmittedForm {
  return {
    text: name => {
      const value = fields.get(name)
      return typeof value === "string" ? value.trim() : ""
    },
    all: name => fields.getAll(name).filter(value => typeof value === "string"),
    file: name => {
      const value = fields.get(name)
      // A browser sends an empty file without a name when none was chosen.
      if (value === null || typeof value === "string") return null
      // Bun leaves out an empty name, although its types say otherwise.
      const { name: fileName = "", size, type: mediaType } = value
      return fileName === "" && size === 0 ? null : { name: fileName, mediaType, bytes: () => value.bytes() }
    },
  }
}

const malformedForm = (detail: string) => invalidInput([{ pointer: "", detail }])
